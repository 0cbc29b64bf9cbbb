"""A suite on a live object: retain, settle, recall, reflect, and forget the bank, by the runner of ordinary runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from memeval.benchmarks import find
from memeval.evaluation.grades import cases_of, grade_items
from memeval.evaluation.judges import ChosenJudge, choose_judge
from memeval.evaluation.models import ModelOptions, models_for
from memeval.evaluation.plan import BenchmarkSession, choose_reader
from memeval.evaluation.provenance import harness
from memeval.evaluation.suite_metrics import metrics_of_rows
from memeval.evaluation.verdicts import check_key, judgments
from memeval.execution.contexts import TurnTexts
from memeval.execution.journal import utc_now
from memeval.execution.progress import Progress, Silent
from memeval.execution.readers import NATIVE, Reader
from memeval.execution.runner import ScenarioRunner
from memeval.execution.secrets import REDACTED, redact
from memeval.execution.work import ScenarioWork
from memeval.gateway.record import CallRecord
from memeval.grading.recall import DEPTHS, Hits, TextIndex
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey, RecallKey, ReflectKey
from memeval.records.errors import BadInput
from memeval.records.evalresult import EvalResult, Hit, QueryResult
from memeval.records.grade import Grade
from memeval.records.response import Response
from memeval.records.run import View
from memeval.records.scenario import Question, Recall, Reflect, Retain, Scenario, Step
from memeval.records.track import Limits
from memeval.storage import write_whole
from memeval.systems.errors import SystemFailure
from memeval.systems.live import LiveSystem
from memeval.systems.output import visible

SUITES = {name: f"astrocyte-{name}@1" for name in ("basic", "stress", "accuracy", "reflect")}
"""The suites that memeval ships, and the benchmarks that they are."""

BROUGHT = "astrocyte-suite@1"
"""The benchmark that a file of the caller's own is."""

TIERS = ("storage", "engine")

_BANK = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET = frozenset(
    {"accesskey", "accesstoken", "apikey", "apitoken", "auth", "authorization", "authtoken", "bearer", "cookie"}
    | {"credential", "credentials", "creds", "dsn", "key", "keys", "passphrase", "passwd", "password", "passwords"}
    | {"privatekey", "pwd", "secret", "secretkey", "secrets", "token"}
)
"""Words in the name of a setting that say that its value is a secret."""
_SECRET_TOKENS = frozenset({"access", "api", "auth", "refresh", "secret"})
"""Before "tokens", which else is a number of them."""


@dataclass(frozen=True)
class SuiteOptions:
    """How a suite is run on a live object."""

    protocol: str | None = None
    """The way of asking; ``None`` for searches and reflections where the object can do both."""
    judge: str = RulesJudge.name
    """Who gives verdicts on reflections: ``rules`` or ``openai:MODEL``."""
    judge_label: str | None = None
    """What a model judge at an endpoint that is not its maker's is called."""
    models: ModelOptions = field(default_factory=ModelOptions)
    """How the judge is reached."""
    results: Path = Path("results")
    """Where a model judge's replies are on record."""
    limits: Limits = field(default_factory=Limits)
    """What the object is allowed; of a live one, the sizes of its replies."""
    provider: str | None = None
    """What the system is called; ``None`` for its class."""
    provider_tier: str = "storage"
    """``storage`` or ``engine``."""
    config: Mapping[str, object] = field(default_factory=dict)
    """How the object is set up, as its maker knows; it is kept with the result, without what looks like a secret."""
    out: Path | None = None
    """A file that the result is written to, as JSON."""


def run_suite(
    system: object,
    suite: str | Path = "basic",
    bank_id: str = "eval-test",
    *,
    clean_after: bool = True,
    options: SuiteOptions | None = None,
    progress: Progress | None = None,
) -> EvalResult:
    """Run a suite on a live object; see :func:`memeval.api.run_suite`."""
    options, progress = options or SuiteOptions(), progress or Silent()
    if options.provider_tier not in TIERS:
        raise BadInput(f"there is no provider tier '{visible(options.provider_tier)}'.", remedy="storage or engine.")
    if not _BANK.fullmatch(bank_id):
        raise BadInput(
            f"'{visible(bank_id[:80])}' cannot be a bank.",
            remedy="Take up to 100 letters, digits, dots, colons, dashes and underscores.",
        )
    judge = choose_judge(options.judge, options.judge_label)
    happened: list[str] = []
    with closing(LiveSystem(system, options.limits, lambda line: None)) as live:
        benchmark_session = _benchmark_session(suite, live, options.protocol)
        reader = choose_reader(
            NATIVE, live.start().capabilities, _class_of(system), _no_reader, benchmark_session.protocol_info
        )
        banks = _Banks(live, bank_id)
        banks.check(benchmark_session.scenarios.values())
        started = utc_now()
        try:
            responses = list(_responses(live, benchmark_session, reader, banks, options, happened, progress))
        finally:
            notes = banks.forget() if clean_after else []
            for note in notes:
                progress.note(note)
    grades = _grades(benchmark_session, judge, responses, options, progress)
    result = EvalResult(
        suite=str(suite),
        provider=options.provider or _class_of(system),
        provider_tier=options.provider_tier,
        timestamp=started,
        metrics=metrics_of_rows(
            responses, grades, twins=_twins(benchmark_session.scenarios.values()), failed_retains=live.failed_retains
        ),
        per_query_results=tuple(_told(benchmark_session, banks, responses, grades)),
        config_snapshot=_snapshot(benchmark_session, judge, live, bank_id, options),
        notes=tuple(map(redact, dict.fromkeys((*happened, *notes)))),
    )
    if options.out is not None:
        write_whole(options.out, (result.model_dump_json(indent=2) + "\n").encode())
    return result


def _class_of(system: object) -> str:
    return type(system).__name__


def _no_reader(name: str) -> Reader:
    raise BadInput(f"a suite goes without the reader '{name}'.")


def _benchmark_session(suite: str | Path, live: LiveSystem, protocol: str | None) -> BenchmarkSession:
    """Open a suite by its name or its file, to be asked in the widest way that the object can take.

    Raises:
        BadInput: there is none.
    """
    path = Path(suite)
    if str(suite) in SUITES:
        benchmark, data = find(SUITES[str(suite)]), None
    elif path.suffix in (".yaml", ".yml"):
        benchmark, data = find(BROUGHT), path
    else:
        raise BadInput(
            f"there is no suite '{visible(str(suite))}'.",
            remedy=f"There are {', '.join(SUITES)}; a suite of your own is a file that ends in .yaml or .yml.",
        )
    if protocol is None:
        can = live.start().capabilities
        full = [each for each in benchmark.info.protocols if each.name == "full" and set(each.needs) <= set(can)]
        protocol = full[0].name if full else None
    return BenchmarkSession.open(benchmark, data, protocol=protocol)


class _Banks:
    """The banks that a suite is run in, all below the one that the caller names.

    Args:
        live: the object.
        base: the bank of texts and questions that name none.
    """

    def __init__(self, live: LiveSystem, base: str) -> None:
        self._live, self._base = live, base
        self._first: dict[str, str] = {}

    def name(self, bank: str | None) -> str:
        """Return the name that a suite's bank goes by."""
        return self._base if bank is None else f"{self._base}-{bank}"

    def moved(self, scenario: Scenario) -> Scenario:
        """Return a scenario in these banks."""
        return scenario.model_copy(update={"steps": tuple(map(self._moved, scenario.steps))})

    def _moved(self, step: Step) -> Step:
        if isinstance(step, Retain | Recall | Reflect):
            return step.model_copy(update={"bank": self.name(step.bank)})
        return step

    def check(self, scenarios: Iterable[Scenario]) -> None:
        """Refuse banks that cannot be told apart from what the object holds, or that hold something already.

        Raises:
            BadInput: that is so.
        """
        told = self._live.start()
        for method in ("retain", "recall", "reflect"):
            if told.can(method) and not self._live.knows_banks(method):
                raise BadInput(
                    f"'{method}' of {told.class_name} takes no bank, so the suite would mix with what it holds.",
                    remedy="Let it take 'bank' or 'bank_id', or run the adapter with memeval run, on an empty memory.",
                )
        for scenario in scenarios:
            for step in scenario.steps:
                if isinstance(step, Retain):
                    self._first.setdefault(self.name(step.bank), step.content)
        for bank in self._first:
            if self._holds(bank):
                raise BadInput(
                    f"the bank '{bank}' holds something already.",
                    remedy="Name another with bank_id, or forget it first: what it holds would be measured too.",
                )

    def _holds(self, bank: str) -> bool:
        """Return whether something comes up in a bank for the first text that the suite puts there."""
        if not self._live.start().can("recall"):
            return False
        try:
            return bool(self._live.recall(self._first[bank], 1, bank=bank).items)
        except SystemFailure:
            return False  # there is no such bank, in the words of this object

    def forget(self) -> list[str]:
        """Have all of the banks forgotten; return what stands in the way of it, a sentence each."""
        if not self._live.knows_banks("forget"):
            lacks = "its forget takes no bank" if self._live.start().can("forget") else "it has no forget"
            return [f"Nothing was forgotten: {lacks}. What was retained is still there, in: {', '.join(self._first)}."]
        notes = []
        for bank in self._first:
            try:
                self._live.forget(bank=bank)
            except SystemFailure as failure:
                notes.append(f"The bank '{bank}' was not forgotten: {failure}")
                continue
            if self._holds(bank):
                notes.append(f"The bank '{bank}' was to be forgotten, and still something of it comes up.")
        return notes


def _responses(
    live: LiveSystem,
    benchmark_session: BenchmarkSession,
    reader: Reader | None,
    banks: _Banks,
    options: SuiteOptions,
    happened: list[str],
    progress: Progress,
) -> Iterator[Response]:
    """Yield the responses to a suite, as its items come to an end."""
    limits = benchmark_session.track(reader=reader, limits=options.limits).limits
    runner = ScenarioRunner(live, reader, limits.search_items, lambda _, told, __: happened.append(told), lambda: False)
    progress.start(
        f"{live.start().class_name} on {benchmark_session.benchmark.info.id}", len(benchmark_session.keys), 0
    )
    try:
        for work in benchmark_session.works(benchmark_session.keys, View.ALL, {}):
            moved = ScenarioWork(banks.moved(work.scenario), work.items, work.attempt)
            for finished in runner.run(moved):
                progress.advance(len(finished.items), sum(row.outcome.is_error for row in finished.responses))
                yield from finished.responses
    finally:
        progress.stop()


def _grades(
    benchmark_session: BenchmarkSession,
    judge: ChosenJudge,
    responses: Sequence[Response],
    options: SuiteOptions,
    progress: Progress,
) -> list[Grade]:
    """Have the responses graded, by a model judge where one is chosen; its replies are on record."""
    if judge.model is None:
        return grade_items(benchmark_session, benchmark_session.keys, responses, judge.recorded({}))
    cases = cases_of(benchmark_session, benchmark_session.keys, responses)
    with models_for(options.results, options.models, progress.note) as models:
        check_key(judge, cases, models)
        models.open_run(f"suite-{utc_now()}", CallRecord(None))
        title = f"judging {benchmark_session.benchmark.info.id}"
        recorded = judge.recorded(judgments(judge, cases, models, progress, title))
    return grade_items(benchmark_session, benchmark_session.keys, responses, recorded)


def _twins(scenarios: Iterable[Scenario]) -> list[tuple[str, str]]:
    """Return the searches and reflections that ask the same in the same bank."""
    asked = [question for scenario in scenarios for question in scenario.questions()]
    searched = {(each.bank, each.question): each.question_id for each in asked if isinstance(each, Recall)}
    reflected = [each for each in asked if isinstance(each, Reflect) and (each.bank, each.question) in searched]
    return [(searched[each.bank, each.question], each.question_id) for each in reflected]


def _told(
    benchmark_session: BenchmarkSession, banks: _Banks, responses: Sequence[Response], grades: Sequence[Grade]
) -> Iterator[QueryResult]:
    """Yield every question with what came of it, in the order it was asked."""
    given = {row.question_id: row for row in responses}
    graded = {grade.item_id: grade for grade in grades}
    for scenario in benchmark_session.scenarios.values():
        shelf, texts = TextIndex(scenario), TurnTexts(scenario)
        asked = {question.question_id: question for question in scenario.questions()}
        for key in benchmark_session.keys:
            if key.scenario_id == scenario.scenario_id and key.item_id in graded:
                question, row = asked[key.question_ids[0]], given[key.question_ids[0]]
                hits = tuple(_hits(shelf, texts, banks, question, row))
                yield _query_result(key, question, row, graded[key.item_id], shelf, hits)


def _hits(shelf: TextIndex, texts: TurnTexts, banks: _Banks, asked: Question, row: Response) -> Iterator[Hit]:
    """Yield what a search brought up, with what was retained beside it."""
    if not isinstance(asked, Recall):
        return
    for place, item in enumerate(row.items or ()):
        name = shelf.named(place, item, asked)[0]
        text = shelf.texts.get(name)
        yield Hit(
            text=texts.text(item),
            score=item.score,
            fact_type=text.fact_type if text else None,
            metadata=dict(text.metadata) if text else {},
            tags=(text.tags or ()) if text else (),
            occurred_at=(text.occurred_at or None) if text else None,
            source=item.source_ids[0] if item.source_ids else None,
            memory_id=text.source_id if text else None,
            bank_id=banks.name(text.bank) if text else None,
        )


def _query_result(
    key: ItemKey, asked: Question, row: Response, grade: Grade, shelf: TextIndex, hits: tuple[Hit, ...]
) -> QueryResult:
    expected = [shelf.texts[name] for name in key.evidence or ()]
    points = [point.text for point in key.key.points] if isinstance(key.key, ReflectKey) else []
    found = 0
    if isinstance(asked, Recall) and isinstance(key.key, RecallKey):
        ranking, gold = Hits(shelf, asked, key.key, row.items or ()).ranking(key.evidence or ())
        found = len(gold.intersection(ranking))
    seconds = row.timings.search_seconds if isinstance(asked, Recall) else row.timings.ask_seconds
    return QueryResult(
        id=key.item_id,
        category=key.category,
        query=asked.question,
        expected=(*(text.content for text in expected), *points),
        expected_ids=tuple(text.source_id for text in expected),
        actual=hits,
        hit_ids=tuple(dict.fromkeys(hit.memory_id for hit in hits if hit.memory_id)),
        answer=row.answer if isinstance(asked, Reflect) else None,
        relevant_found=found,
        precision=grade.metrics.get("precision"),
        reciprocal_rank=grade.metrics.get("mrr"),
        ndcg=grade.metrics.get("ndcg"),
        recall_at_k={str(depth): grade.metrics.get(f"recall@{depth}") for depth in DEPTHS},
        latency_ms=None if seconds is None else seconds * 1000,
        state=grade.state.value,
        reason=grade.reason,
    )


def _snapshot(
    benchmark_session: BenchmarkSession, judge: ChosenJudge, live: LiveSystem, bank_id: str, options: SuiteOptions
) -> dict[str, object]:
    """Return all that decided the figures, without what looks like a secret."""
    track = judge.on(benchmark_session.track(reader=None, limits=options.limits))
    told = live.start()
    return {
        "track": track.data(),
        "track_id": track.id,
        "bank_id": bank_id,
        "system": {"class": told.class_name, "capabilities": list(told.capabilities), "python": told.python},
        "harness": harness().data(),
        "config": redacted(dict(options.config)),
    }


def redacted(value: object) -> object:
    """Return plain data without what looks like a secret, by the names it stands under and by its shape."""
    match value:
        case Mapping():
            return {str(name): _redacted_under(str(name), each) for name, each in value.items()}
        case list() | tuple() | set():
            return [redacted(each) for each in value]
        case bool() | int() | float() | None:
            return value
        case _:
            return redact(str(value))


def _redacted_under(name: str, value: object) -> object:
    """Return what stands under a name; a number, such as a limit of tokens, is no secret."""
    tells = names_a_secret(name) and value and not isinstance(value, bool | int | float | Mapping)
    return REDACTED if tells else redacted(value)


def names_a_secret(name: str) -> bool:
    """Whether the name of a setting says that its value is a secret: by its whole words, ``apiKey`` being two."""
    words = [word.lower() for word in _WORD.findall(name)]
    tokens = any(before in _SECRET_TOKENS for before, word in pairwise(words) if word == "tokens")
    return tokens or not _SECRET.isdisjoint(words)
