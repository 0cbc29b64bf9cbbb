"""Estimates the model calls, tokens, dollars and hours of a run, without a model call."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.judge.grades import is_done
from memeval.evaluation.run.models import RECORD, models_for
from memeval.evaluation.run.running import settled
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.execution.model_reader import MAX_TOKENS as READER_ANSWER_TOKENS
from memeval.execution.model_reader import PREFIXES, ModelReader
from memeval.gateway.budget import output_limits, price_list, price_of
from memeval.gateway.record import CallRecord
from memeval.gateway.replies import is_usable
from memeval.grading.base import last_attempts
from memeval.grading.scoring import counting, layout_of
from memeval.judging.base import Case
from memeval.judging.model import MAX_TOKENS as JUDGE_TOKENS
from memeval.judging.model import ModelJudge
from memeval.keys import ItemKey
from memeval.local import is_local
from memeval.options import RunOptions
from memeval.records.base import canonical_json
from memeval.records.call import Caller, ModelRequest, Phase
from memeval.records.response import Outcome, Response, Timings
from memeval.records.scenario import Scenario
from memeval.statistics.detectable import ASSUMED, Clustering, detectable
from memeval.systems.source import SystemSource
from memeval.tokens import count_tokens

ASSUMED_SECONDS = 1.0
"""Seconds per call if there is no stored run."""

LOCAL_TOKENS_PER_SECOND = 57
"""Tokens of prompts that a model of 1.5 billion weights computes per second here, on two quiet processors."""

LOCAL_ANSWER_TOKENS_PER_SECOND = 8
"""Tokens of answers that it writes per second."""

ASSUMED_ANSWER = "word " * 100
"""Placeholder for an unknown answer: about a hundred tokens."""

WRAPPING_TOKENS = 8
"""Overhead of a chat request in tokens."""


@dataclass(frozen=True)
class EstimatePart:
    phase: Phase
    model: str
    calls: int
    """Upper bound."""
    recorded: int
    """Calls that are already recorded, and cost nothing."""
    prompt_tokens: int
    """Upper bound, without recorded calls."""
    completion_tokens: int
    """Upper bound, without recorded calls."""
    usd: float | None
    """Upper bound in US dollars; ``None`` if the model has no known price."""
    seconds_per_call: float
    basis: str
    concurrency: int

    @property
    def hours(self) -> float:
        """Lower bound: latency times calls divided by concurrency."""
        return self.seconds_per_call * (self.calls - self.recorded) / self.concurrency / 3600


@dataclass(frozen=True)
class Estimate:
    system: str
    benchmark: str
    items: int
    questions: int
    parts: tuple[EstimatePart, ...]
    unknown: tuple[str, ...]
    """Costs that cannot be estimated, as sentences."""
    prices: str | None
    """The dated price list; ``None`` if there are no model calls."""
    clusters: int
    """Number of clusters of the items of the tier."""
    detectable: float | None
    """Minimum detectable difference of two composites on the tier, if systems disagree as much as
    :data:`memeval.statistics.detectable.ASSUMED`; ``None`` if no difference can be shown."""


def estimate_run(source: SystemSource, benchmark_session: BenchmarkSession, options: RunOptions) -> Estimate:
    """Estimate a run, without running it and without a model call.

    Calls and tokens are upper bounds, with two exceptions. If the system has no stored run on the benchmark, an answer
    counts as a hundred tokens. The rare second request after an unparsable judge reply is not included. Raises
    ``BadInput`` if an option names nothing that exists.
    """
    options, judge = settled(options, benchmark_session)
    items = benchmark_session.selected(options.limit)
    latest = _latest(source, benchmark_session, options)
    earlier = None if latest is None else decoded_run(latest, benchmark_session)
    parts, reader_name = [], options.reader or ""
    with models_for(options.results, options.models, on_disk=(options.results / RECORD).exists()) as models:
        if reader_name.startswith(PREFIXES):
            endpoint = models.endpoint(Caller.READER, reader_name)
            reader = ModelReader(reader_name, endpoint, models.gateway, options.limits.reader_tokens)
            parts.append(_reading(benchmark_session, items, reader, options, earlier))
        if judge.model is not None:
            parts.append(_judging(benchmark_session, items, judge.model, options, earlier, models.shared))
    return Estimate(
        system=source.slug,
        benchmark=benchmark_session.benchmark.info.id,
        items=len(items),
        questions=sum(len(item.question_ids) for item in items),
        parts=tuple(parts),
        unknown=tuple(_unknown(source, earlier)),
        prices=price_list() if parts else None,
        clusters=len({key.cluster for key in benchmark_session.keys}),
        detectable=_detectable(benchmark_session),
    )


def _detectable(benchmark_session: BenchmarkSession) -> float | None:
    """Return the minimum detectable difference of two complete runs; ``None`` without a composite as well."""
    keys = benchmark_session.keys
    plan = benchmark_session.benchmark.plan(keys, benchmark_session.protocol, benchmark_session.tier)
    clusters = {each.name: [key.cluster for key in keys if key.category == each.name] for each in plan}
    counted = counting(plan)
    if not counted or not all(clusters[each.name] for each in counted):
        return None
    return detectable(Clustering.of_layout(layout_of(plan, clusters)), ASSUMED)


def _judging(
    benchmark_session: BenchmarkSession,
    items: tuple[ItemKey, ...],
    judge: ModelJudge,
    options: RunOptions,
    earlier: RunFolder | None,
    record: CallRecord,
) -> EstimatePart:
    requests = {request.key: request for request in map(judge.request, _cases(benchmark_session, items, earlier))}
    fresh = [request for key, request in requests.items() if not ((call := record.find(key)) and is_usable(call))]
    return _part(Phase.JUDGE, judge.model, fresh, len(requests), options.models.judge_concurrency, earlier)


def _cases(
    benchmark_session: BenchmarkSession, items: tuple[ItemKey, ...], earlier: RunFolder | None
) -> Iterator[Case]:
    last = {} if earlier is None else last_attempts(earlier.responses())
    for item in items:
        responses = (
            [last[question] for question in item.question_ids]
            if is_done(item, last) and all(last[question].outcome is Outcome.OK for question in item.question_ids)
            else [_placeholder(item, question) for question in item.question_ids]
        )
        yield from benchmark_session.graders[item.category].cases(
            item, benchmark_session.scenarios[item.scenario_id], responses
        )


def _placeholder(item: ItemKey, question_id: str) -> Response:
    return Response(
        item_id=item.item_id,
        scenario_id=item.scenario_id,
        question_id=question_id,
        outcome=Outcome.OK,
        answer=f"{ASSUMED_ANSWER}({item.item_id})",
        timings=Timings(started=""),
    )


def _reading(
    benchmark_session: BenchmarkSession,
    items: tuple[ItemKey, ...],
    reader: ModelReader,
    options: RunOptions,
    earlier: RunFolder | None,
) -> EstimatePart:
    requests = []
    for scenario_id, same in groupby(items, key=lambda item: item.scenario_id):
        scenario, wanted = benchmark_session.scenarios[scenario_id], {each for key in same for each in key.question_ids}
        context = reader.bounded([_beginning(scenario, options.limits.reader_tokens)]).text
        requests += [
            reader.request(ask.question, ask.timestamp, context)
            for ask in scenario.questions()
            if ask.question_id in wanted
        ]
    return _part(Phase.READ, reader.model, requests, len(requests), options.models.model_concurrency, earlier)


def _beginning(scenario: Scenario, tokens: int) -> str:
    """Return the beginning of a history: more text than a reader with this token limit receives."""
    turns: list[str] = []
    counted = 0
    for session in scenario.each_session():
        turns += (turn.content for turn in session.turns)
        counted += sum(count_tokens(turn.content) for turn in session.turns)
        if counted > 2 * tokens:  # joined lines have at least half as many tokens as the separate lines
            break
    return "\n".join(turns)


def _part(
    phase: Phase, model: str, fresh: list[ModelRequest], calls: int, concurrency: int, earlier: RunFolder | None
) -> EstimatePart:
    """Return the estimate for calls; ``fresh`` are the requests that are not recorded yet."""
    prompt_tokens = sum(count_tokens(canonical_json(request.body)) + WRAPPING_TOKENS for request in fresh)
    default_limit = READER_ANSWER_TOKENS if phase is Phase.READ else JUDGE_TOKENS
    completion_tokens = sum(max(output_limits(request), default=default_limit) for request in fresh)
    seconds, basis = _seconds(phase, earlier)
    if fresh and is_local(fresh[0].endpoint):
        concurrency = 1
        usage = None if earlier is None else earlier.run.usage.get(phase)
        if usage is None or model not in usage.models:
            at_most = prompt_tokens / LOCAL_TOKENS_PER_SECOND + completion_tokens / LOCAL_ANSWER_TOKENS_PER_SECOND
            seconds, basis = at_most / len(fresh), "at most, on two quiet processors"
    return EstimatePart(
        phase=phase,
        model=model,
        calls=calls,
        recorded=calls - len(fresh),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        usd=price_of(model, prompt_tokens, completion_tokens) if fresh else 0.0,
        seconds_per_call=seconds,
        basis=basis,
        concurrency=concurrency,
    )


def _seconds(phase: Phase, earlier: RunFolder | None) -> tuple[float, str]:
    usage = None if earlier is None else earlier.run.usage.get(phase)
    if earlier is None or usage is None or usage.service is None:
        return ASSUMED_SECONDS, "assumed"
    return usage.service.p50, f"median of run {earlier.run.run_id}"


def _latest(source: SystemSource, benchmark_session: BenchmarkSession, options: RunOptions) -> RunFolder | None:
    """Return the system's latest run on the same data that has its rows; a full run comes first."""
    system_folder = options.results / benchmark_session.benchmark.info.name / source.slug
    folders = [RunFolder(head.parent) for head in sorted(system_folder.glob("*/run.json"))]
    candidates = [f for f in folders if f.run.track.data_digest == benchmark_session.dataset.digest and f.has_rows]
    return max(candidates, key=lambda f: (f.run.coverage.full, f.run.timing.started), default=None)


def _unknown(source: SystemSource, earlier: RunFolder | None) -> Iterator[str]:
    if not source.declared_models:
        return
    models = ", ".join(source.declared_models)
    own = [] if earlier is None else [u for p, u in earlier.run.usage.items() if p not in (Phase.READ, Phase.JUDGE)]
    if earlier is None or not own:
        yield f"The system's own calls to {models} are unknown before its first run."
        return
    calls = sum(usage.calls for usage in own)
    known = all(usage.usd is not None for usage in own)
    money = f"${sum(usage.usd or 0.0 for usage in own):.4f}" if known else "an unknown price"
    yield f"The system's own calls to {models} are unknown. Run {earlier.run.run_id} made {calls}, for {money}."
