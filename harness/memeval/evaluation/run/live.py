"""Runs a suite on a live object with the runner of ordinary runs: retain, settle, recall, reflect, forget."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from memeval.analysis.suite_metrics import metrics_of_rows
from memeval.benchmarks import all_benchmarks
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.judge.grades import cases_of, grade_items
from memeval.evaluation.judge.judges import ChosenJudge, choose_judge
from memeval.evaluation.run.models import models_for
from memeval.evaluation.run.provenance import harness
from memeval.evaluation.run.readers import choose_reader
from memeval.evaluation.run.verdicts import check_key, judgments
from memeval.execution.contexts import TurnTexts
from memeval.execution.journal import utc_now
from memeval.execution.progress import Progress
from memeval.execution.readers import NATIVE, NoReader
from memeval.execution.runner import ScenarioRunner
from memeval.execution.secrets import redact, redacted
from memeval.execution.steps import ScenarioWork
from memeval.gateway.record import CallRecord
from memeval.grading.recall import DEPTHS, Hits, TextIndex
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey, RecallKey, ReflectKey
from memeval.options import ModelOptions
from memeval.reading import Reader
from memeval.records.errors import BadInput
from memeval.records.evalresult import EvalResult, Hit, QueryResult
from memeval.records.grade import Grade
from memeval.records.response import Response
from memeval.records.run import View
from memeval.records.scenario import Forget, Question, Recall, Reflect, Retain, Scenario, Step
from memeval.records.track import Limits
from memeval.storage import write_whole
from memeval.systems.channel import visible
from memeval.systems.errors import SystemFailure
from memeval.systems.live import LiveSystem

TIERS = ("storage", "engine")

_BANK = re.compile(r"[A-Za-z0-9_.:-]{1,100}")


@dataclass(frozen=True)
class SuiteOptions:
    protocol: str | None = None
    """The protocol; ``None`` for searches and reflections if the object supports both."""
    judge: str = RulesJudge.name
    """The judge of reflections: ``rules`` or ``openai:MODEL``."""
    judge_label: str | None = None
    """Who serves the judge model, if not its maker."""
    models: ModelOptions = field(default_factory=ModelOptions)
    """Limits and budgets of the judge's calls."""
    results: Path = Path("results")
    """Folder with the recorded replies of a model judge."""
    limits: Limits = field(default_factory=Limits)
    """Limits of the object; only the sizes of replies apply."""
    provider: str | None = None
    """Name of the system; ``None`` for the name of its class."""
    provider_tier: str = "storage"
    """``storage`` or ``engine``."""
    config: Mapping[str, object] = field(default_factory=dict)
    """Settings of the object, stored with the result. Values that look like secrets are redacted."""
    out: Path | None = None
    """A JSON file for the result; ``None`` to write none."""


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
    options, progress = options or SuiteOptions(), progress or Progress()
    if options.provider_tier not in TIERS:
        raise BadInput(
            f"there is no provider tier '{visible(options.provider_tier)}'.", remedy="Use storage or engine."
        )
    if not _BANK.fullmatch(bank_id):
        raise BadInput(
            f"'{visible(bank_id[:80])}' is not a valid bank id.",
            remedy="Use up to 100 letters, digits, dots, colons, dashes and underscores.",
        )
    judge = choose_judge(options.judge, options.judge_label)
    events: list[str] = []
    with closing(LiveSystem(system, options.limits, lambda line: None)) as live:
        benchmark_session = _benchmark_session(suite, live, options.protocol)
        capabilities, protocol_info = live.start().capabilities, benchmark_session.protocol_info
        reader = choose_reader(NATIVE, capabilities, _class_of(system), lambda name: NoReader(), protocol_info)
        banks = _Banks(live, bank_id)
        banks.check(benchmark_session.scenarios.values())
        started = utc_now()
        try:
            responses = list(_responses(live, benchmark_session, reader, banks, options, events, progress))
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
        per_query_results=tuple(_query_results(benchmark_session, banks, responses, grades)),
        config_snapshot=_snapshot(benchmark_session, judge, live, bank_id, options),
        notes=tuple(map(redact, dict.fromkeys((*events, *notes)))),
    )
    if options.out is not None:
        write_whole(options.out, (result.model_dump_json(indent=2) + "\n").encode())
    return result


def _class_of(system: object) -> str:
    return type(system).__name__


def _benchmark_session(suite: str | Path, live: LiveSystem, protocol: str | None) -> BenchmarkSession:
    """Open a suite by its name or its file, by default with the fullest protocol that the object supports.

    Raises ``BadInput`` if the suite does not exist.
    """
    path = Path(suite)
    suites = [each for each in all_benchmarks() if each.info.suite is not None]
    data = path if path.suffix in (".yaml", ".yml") else None
    if data is None:
        benchmark = next((each for each in suites if each.info.suite == str(suite) and not each.info.brought), None)
    else:
        benchmark = next((each for each in suites if each.info.brought), None)
    if benchmark is None:
        names = ", ".join(str(each.info.suite) for each in suites if not each.info.brought)
        raise BadInput(
            f"there is no suite '{visible(str(suite))}'.", remedy=f"Use {names}, or the path of a .yaml or .yml file."
        )
    if protocol is None:
        capabilities, protocols = set(live.start().capabilities), benchmark.info.protocols
        supports_full = any(each.name == "full" and capabilities.issuperset(each.needs) for each in protocols)
        protocol = "full" if supports_full else None
    return BenchmarkSession.open(benchmark, data, protocol=protocol)


class _Banks:
    """The banks of a suite; their names begin with the bank that the caller names.

    ``base``: the bank of texts and questions without a bank.
    """

    def __init__(self, live: LiveSystem, base: str) -> None:
        self._live, self._base = live, base
        self._first_texts: dict[str, str] = {}

    def name(self, bank: str | None) -> str:
        return self._base if bank is None else f"{self._base}-{bank}"

    def renamed(self, scenario: Scenario) -> Scenario:
        return scenario.model_copy(update={"steps": tuple(map(self._renamed, scenario.steps))})

    def _renamed(self, step: Step) -> Step:
        if isinstance(step, Retain | Recall | Reflect | Forget):
            return step.model_copy(update={"bank": self.name(step.bank)})
        return step

    def check(self, scenarios: Iterable[Scenario]) -> None:
        """Check that the object has banks, and that the suite's banks are empty.

        Raises ``BadInput`` if a method accepts no bank, or a bank is not empty.
        """
        info = self._live.start()
        for method in ("retain", "recall", "reflect"):
            if info.can(method) and not self._live.knows_banks(method):
                raise BadInput(
                    f"'{method}' of {info.class_name} accepts no bank, so the suite would mix with stored texts.",
                    remedy="Add a parameter 'bank' or 'bank_id', or use memeval run with an empty memory.",
                )
        for scenario in scenarios:
            for step in scenario.steps:
                if isinstance(step, Retain):
                    self._first_texts.setdefault(self.name(step.bank), step.content)
        for bank in self._first_texts:
            if self._is_not_empty(bank):
                raise BadInput(
                    f"the bank '{bank}' is not empty.", remedy="Choose another bank_id, or forget the bank first."
                )

    def _is_not_empty(self, bank: str) -> bool:
        """Return whether a search for the suite's first text in a bank finds anything."""
        if not self._live.start().can("recall"):
            return False
        try:
            return bool(self._live.recall(self._first_texts[bank], 1, bank=bank).items)
        except SystemFailure:
            return False  # the object has no such bank

    def forget(self) -> list[str]:
        """Forget all banks; return a sentence for each failure."""
        if not self._live.knows_banks("forget"):
            reason = "'forget' accepts no bank" if self._live.start().can("forget") else "there is no 'forget'"
            return [f"No bank was forgotten: {reason}. The suite's texts remain in: {', '.join(self._first_texts)}."]
        notes = []
        for bank in self._first_texts:
            try:
                self._live.forget(bank=bank)
            except SystemFailure as failure:
                notes.append(f"The bank '{bank}' was not forgotten: {failure}")
                continue
            if self._is_not_empty(bank):
                notes.append(f"The bank '{bank}' was forgotten, but a search still finds its texts.")
        return notes


def _responses(
    live: LiveSystem,
    benchmark_session: BenchmarkSession,
    reader: Reader | None,
    banks: _Banks,
    options: SuiteOptions,
    events: list[str],
    progress: Progress,
) -> Iterator[Response]:
    limits = benchmark_session.track(reader=reader, limits=options.limits).limits
    runner = ScenarioRunner(live, reader, limits.search_items, lambda _, detail, __: events.append(detail))
    title = f"{live.start().class_name} on {benchmark_session.benchmark.info.id}"
    with progress.stage(title, len(benchmark_session.keys)):
        for work in benchmark_session.works(benchmark_session.keys, View.ALL, {}):
            renamed = ScenarioWork(banks.renamed(work.scenario), work.items, work.attempt)
            for finished in runner.run(renamed):
                progress.advance(len(finished.items), sum(row.outcome.is_error for row in finished.responses))
                yield from finished.responses


def _grades(
    benchmark_session: BenchmarkSession,
    judge: ChosenJudge,
    responses: Sequence[Response],
    options: SuiteOptions,
    progress: Progress,
) -> list[Grade]:
    """Grade the responses; the replies of a model judge are recorded."""
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
    questions = [question for scenario in scenarios for question in scenario.questions()]
    searched = {(each.bank, each.question): each.question_id for each in questions if isinstance(each, Recall)}
    reflected = [each for each in questions if isinstance(each, Reflect) and (each.bank, each.question) in searched]
    return [(searched[each.bank, each.question], each.question_id) for each in reflected]


def _query_results(
    benchmark_session: BenchmarkSession, banks: _Banks, responses: Sequence[Response], grades: Sequence[Grade]
) -> Iterator[QueryResult]:
    response_of = {row.question_id: row for row in responses}
    grade_of = {grade.item_id: grade for grade in grades}
    for scenario in benchmark_session.scenarios.values():
        index, texts = TextIndex(scenario), TurnTexts(scenario)
        asked = {question.question_id: question for question in scenario.questions()}
        for key in benchmark_session.keys:
            if key.scenario_id == scenario.scenario_id and key.item_id in grade_of:
                question, row = asked[key.question_ids[0]], response_of[key.question_ids[0]]
                hits = tuple(_hits(index, texts, banks, question, row))
                yield _query_result(key, question, row, grade_of[key.item_id], index, hits)


def _hits(index: TextIndex, texts: TurnTexts, banks: _Banks, asked: Question, row: Response) -> Iterator[Hit]:
    if not isinstance(asked, Recall):
        return
    for position, item in enumerate(row.items or ()):
        name = index.named(position, item, asked)[0]
        text = index.texts.get(name)
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
    key: ItemKey, asked: Question, row: Response, grade: Grade, index: TextIndex, hits: tuple[Hit, ...]
) -> QueryResult:
    expected = [index.texts[name] for name in key.evidence or ()]
    points = [point.text for point in key.key.points] if isinstance(key.key, ReflectKey) else []
    found = 0
    if isinstance(asked, Recall) and isinstance(key.key, RecallKey):
        ranking, gold = Hits(index, asked, key.key, row.items or ()).ranking(key.evidence or ())
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
    """Return all settings that affect the figures, without secrets."""
    track = judge.on(benchmark_session.track(reader=None, limits=options.limits))
    info = live.start()
    return {
        "track": track.data(),
        "track_id": track.id,
        "bank_id": bank_id,
        "system": {"class": info.class_name, "capabilities": list(info.capabilities), "python": info.python},
        "harness": harness().data(),
        "config": redacted(dict(options.config)),
    }
