"""What a run would take in model calls, tokens, dollars and hours, said before anything is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from memeval.archive.runs import RunFolder
from memeval.evaluation.decoding import decoded_run
from memeval.evaluation.grades import is_done, last_attempts
from memeval.evaluation.models import RECORD, models_for
from memeval.evaluation.plan import BenchmarkSession
from memeval.evaluation.running import RunOptions, judge_for
from memeval.execution.model_reader import MAX_TOKENS as READER_ANSWER_TOKENS
from memeval.execution.model_reader import PREFIX, ModelReader
from memeval.gateway.budget import output_limits
from memeval.gateway.prices import price_list, price_of
from memeval.gateway.record import CallRecord
from memeval.judging.base import Case
from memeval.judging.model import MAX_TOKENS as JUDGE_TOKENS
from memeval.judging.model import ModelJudge
from memeval.keys import ItemKey
from memeval.records.base import canonical_json
from memeval.records.call import Caller, ModelRequest, Phase
from memeval.records.response import Outcome, Response, Timings
from memeval.records.scenario import Scenario
from memeval.systems.source import SystemSource
from memeval.tokens import count_tokens

ASSUMED_SECONDS = 1.0
"""Seconds a call where no stored run tells."""

ASSUMED_ANSWER = "word " * 100
"""What stands for an answer that is not known yet: about a hundred tokens."""

WRAPPING_TOKENS = 8
"""Tokens of a chat request beside its text."""


@dataclass(frozen=True)
class EstimatePart:
    """What one caller of models would take."""

    phase: Phase
    model: str
    calls: int
    """Calls at most."""
    recorded: int
    """How many of them are on record, and cost nothing."""
    prompt_tokens: int
    """Tokens of the calls that are not on record, at most."""
    completion_tokens: int
    """Tokens of their replies, at most."""
    usd: float | None
    """Dollars at most; ``None`` where the model has no known price."""
    seconds_per_call: float
    basis: str
    """Where the seconds come from."""
    concurrency: int
    """Calls in flight."""

    @property
    def hours(self) -> float:
        """Latency times calls over concurrency: the least that the calls take, however fast all else is."""
        return self.seconds_per_call * (self.calls - self.recorded) / self.concurrency / 3600


@dataclass(frozen=True)
class Estimate:
    """What a run would take."""

    system: str
    benchmark: str
    items: int
    questions: int
    parts: tuple[EstimatePart, ...]
    unknown: tuple[str, ...]
    """What nobody can know beforehand, as sentences."""
    prices: str | None
    """The dated price list; ``None`` where there is nothing to price."""


def estimate_run(source: SystemSource, benchmark_session: BenchmarkSession, options: RunOptions) -> Estimate:
    """Return what a run would take; nothing is run and nothing is asked.

    Calls and tokens are upper bounds, but for what the system's answers will be: where it has no stored run on the
    benchmark, they are taken to have a hundred tokens. Asking a judge again after a reply that is neither yes nor no
    comes on top, and is rare.

    Args:
        source: the system.
        benchmark_session: the benchmark with its data open.
        options: how it would be run.

    Raises:
        BadInput: something asked for is not there.
    """
    options = replace(options, models=options.models.on(benchmark_session))
    judge = judge_for(options)
    items = benchmark_session.selected(options.limit)
    latest = _latest(source, benchmark_session, options)
    before = None if latest is None else decoded_run(latest, benchmark_session)
    parts = []
    with models_for(options.results, options.models, on_disk=(options.results / RECORD).exists()) as models:
        if (options.reader or "").startswith(PREFIX):
            reader = ModelReader(
                str(options.reader), models.endpoint(Caller.READER), models.gateway, options.limits.reader_tokens
            )
            parts.append(_reading(benchmark_session, items, reader, options, before))
        if judge.model is not None:
            parts.append(_judging(benchmark_session, items, judge.model, options, before, models.shared))
    return Estimate(
        system=source.slug,
        benchmark=benchmark_session.benchmark.info.id,
        items=len(items),
        questions=sum(len(item.question_ids) for item in items),
        parts=tuple(parts),
        unknown=tuple(_unknown(source, before)),
        prices=price_list() if parts else None,
    )


def _judging(
    benchmark_session: BenchmarkSession,
    items: tuple[ItemKey, ...],
    judge: ModelJudge,
    options: RunOptions,
    before: RunFolder | None,
    record: CallRecord,
) -> EstimatePart:
    asked = {request.key: request for request in map(judge.request, _cases(benchmark_session, items, before))}
    fresh = [request for key, request in asked.items() if record.find(key) is None]
    return _part(Phase.JUDGE, judge.model, fresh, len(asked), options.models.judge_concurrency, before)


def _cases(benchmark_session: BenchmarkSession, items: tuple[ItemKey, ...], before: RunFolder | None) -> Iterator[Case]:
    """Yield what would be brought before a judge: the answers of the run before, and a stand-in where it has none."""
    last = {} if before is None else last_attempts(before.responses())
    for item in items:
        responses = (
            [last[question] for question in item.question_ids]
            if is_done(item, last) and all(last[question].outcome is Outcome.OK for question in item.question_ids)
            else [_stand_in(item, question) for question in item.question_ids]
        )
        yield from benchmark_session.graders[item.category].cases(
            item, benchmark_session.scenarios[item.scenario_id], responses
        )


def _stand_in(item: ItemKey, question_id: str) -> Response:
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
    before: RunFolder | None,
) -> EstimatePart:
    """Return what a model reader would take: every question once, with the whole history or all it may be sent."""
    requests = []
    held: tuple[str, str] | None = None
    for item in items:
        scenario = benchmark_session.scenarios[item.scenario_id]
        if held is None or held[0] != item.scenario_id:
            held = item.scenario_id, reader.bounded([_beginning(scenario, options.limits.reader_tokens)]).text
        requests += [
            reader.request(ask.question, ask.timestamp, held[1])
            for ask in scenario.questions()
            if ask.question_id in item.question_ids
        ]
    return _part(Phase.READ, reader.model, requests, len(requests), options.models.model_concurrency, before)


def _beginning(scenario: Scenario, tokens: int) -> str:
    """Return what is said in a history, as far as it can matter to a reader that is sent so many tokens of it."""
    turns: list[str] = []
    counted = 0
    for session in scenario.each_session():
        turns += (turn.content for turn in session.turns)
        counted += sum(count_tokens(turn.content) for turn in session.turns)
        if counted > 2 * tokens:  # lines that stand together are never half as many tokens as each alone
            break
    return "\n".join(turns)


def _part(
    phase: Phase,
    model: str,
    fresh: list[ModelRequest],
    calls: int,
    concurrency: int,
    before: RunFolder | None,
) -> EstimatePart:
    """Return what some calls would take; ``fresh`` are those of them that are not on record."""
    sent = sum(count_tokens(canonical_json(request.body)) + WRAPPING_TOKENS for request in fresh)
    usual = READER_ANSWER_TOKENS if phase is Phase.READ else JUDGE_TOKENS
    replied = sum(max(output_limits(request), default=usual) for request in fresh)
    seconds, basis = _seconds(phase, before)
    return EstimatePart(
        phase=phase,
        model=model,
        calls=calls,
        recorded=calls - len(fresh),
        prompt_tokens=sent,
        completion_tokens=replied,
        usd=price_of(model, sent, replied) if fresh else 0.0,
        seconds_per_call=seconds,
        basis=basis,
        concurrency=concurrency,
    )


def _seconds(phase: Phase, before: RunFolder | None) -> tuple[float, str]:
    """Return the seconds of a call and where they come from."""
    usage = None if before is None else before.run.usage.get(phase)
    if before is None or usage is None or usage.service is None:
        return ASSUMED_SECONDS, "assumed"
    return usage.service.p50, f"the median in {before.run.run_id}"


def _latest(source: SystemSource, benchmark_session: BenchmarkSession, options: RunOptions) -> RunFolder | None:
    """Return the system's latest run on the very data, a full one before any other; its rows must be here."""
    place = options.results / benchmark_session.benchmark.info.name / source.slug
    folders = [RunFolder(head.parent) for head in sorted(place.glob("*/run.json"))]
    fitting = [f for f in folders if f.run.track.data_digest == benchmark_session.dataset.digest and f.has_rows]
    return max(fitting, key=lambda f: (f.run.coverage.full, f.run.timing.started), default=None)


def _unknown(source: SystemSource, before: RunFolder | None) -> Iterator[str]:
    """Yield what nobody can know beforehand."""
    if not source.declared_models:
        return
    models = ", ".join(source.declared_models)
    own = [] if before is None else [u for p, u in before.run.usage.items() if p not in (Phase.READ, Phase.JUDGE)]
    if before is None or not own:
        yield f"The system's own calls to {models} are not known before it has run."
        return
    calls = sum(usage.calls for usage in own)
    known = all(usage.usd is not None for usage in own)
    money = f"${sum(usage.usd or 0.0 for usage in own):.4f}" if known else "an unknown sum"
    yield f"The system's own calls to {models} are not known; {before.run.run_id} made {calls}, for {money}."
