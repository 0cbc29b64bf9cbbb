"""Answers made elsewhere become a run here: brought together with an exam, graded by its protocol, and sealed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.benchmarks.base import Parameters
from memeval.evaluation.exchange.answers import UNKNOWN, ImportedAnswer, ImportedAnswers
from memeval.evaluation.exchange.formats import ExchangeFormat, QuestionData
from memeval.evaluation.exchange.reading import AnswerFile
from memeval.evaluation.grades import cases_of, grade_items
from memeval.evaluation.judges import ChosenJudge
from memeval.evaluation.models import CALLS, ModelOptions, models_for
from memeval.evaluation.plan import BenchmarkSession
from memeval.evaluation.provenance import harness
from memeval.evaluation.rows import Rows
from memeval.evaluation.run_folders import finished_runs, start, unfinished_runs
from memeval.evaluation.seal import seal
from memeval.evaluation.stopping import interruptible
from memeval.evaluation.verdicts import check_key, judgment_rows, judgments
from memeval.execution.journal import Journal, utc_now
from memeval.execution.progress import Progress, Silent
from memeval.execution.readers import reader_named
from memeval.execution.secrets import redact
from memeval.gateway.record import CallRecord
from memeval.keys import ItemKey
from memeval.records.base import SLUG, SLUG_LENGTH, digest_bytes, digest_of
from memeval.records.errors import BadInput
from memeval.records.imported import Claim, ClaimMetric, Imported
from memeval.records.journal import Plan
from memeval.records.log import LogLine
from memeval.records.response import Outcome, ReportedUsage, Response, RetrievedItem, Timings
from memeval.records.run import Inputs, Isolation, SystemIdentity, SystemKind
from memeval.records.track import Limits
from memeval.systems.controls.table import CONTROLS
from memeval.systems.output import visible

MOST_WORDS = 4
"""An id of more words is a sentence."""

LONGEST_NAME = 8
"""A system's name of more words is a text, which may be the data's; its slug stands for it."""

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Origin:
    """What the caller says of answers that were made elsewhere, beyond what is in the file."""

    slug: str | None = None
    """Their system's name in paths and URLs; ``None`` makes one of the name in the file."""
    source: str | None = None
    """Where they were published."""
    commit: str | None = None
    """The commit they were taken from."""
    licence: str | None = None
    """SPDX expression of their licence."""
    claimed: float | None = None
    """The claimed score, as a share: the composite where categories have weights of their own, else the accuracy.
    ``None`` for what the file says."""


@dataclass(frozen=True)
class ImportOptions:
    """How answers that were made elsewhere are graded and stored."""

    results: Path = Path("results")
    """Folder the run is stored under."""
    origin: Origin = field(default_factory=Origin)
    """Where the answers come from."""
    models: ModelOptions = field(default_factory=ModelOptions)
    """How a model judge is asked."""
    fresh: bool = False
    """Make another run, whatever is stored. Recorded judgments are not asked for again, even so."""


def exam_for(
    form: ExchangeFormat,
    file: Path,
    benchmark: str | None = None,
    data: Path | None = None,
    parameters: Parameters | None = None,
    protocol: str | None = None,
) -> BenchmarkSession:
    """Open the benchmark that a file of answers is about.

    Args:
        form: the file's format; where it brings questions with it, they are opened unless ``data`` names others.
        file: the file.
        benchmark: its id; ``None`` for the one that the format is of.
        data: a local copy of the benchmark's data.
        parameters: parameters of the benchmark.
        protocol: the way of grading; ``None`` for the benchmark's default.

    Raises:
        BadInput: the format is not of that benchmark, or the data cannot be opened.
    """
    form.read_by()
    chosen = find(benchmark or form.benchmarks[0])
    if chosen.info.id not in form.benchmarks:
        raise BadInput(
            f"'{form.name}' holds no answers to {chosen.info.id}.", remedy=f"It is of {', '.join(form.benchmarks)}."
        )
    if parameters is None and (data is None or form.data is not QuestionData.INSIDE):
        parameters = dict(form.parameters) or None
    if data is None and form.data is not None:
        data = file if form.data is QuestionData.INSIDE else file.parent
    return BenchmarkSession.open(chosen, data, parameters, protocol=protocol)


def import_file(
    file: AnswerFile,
    form: ExchangeFormat,
    benchmark_session: BenchmarkSession,
    judge: ChosenJudge,
    options: ImportOptions,
    progress: Progress | None = None,
) -> RunFolder:
    """Grade a file of answers and seal a run of it.

    Questions that the exam does not have are left out and listed; those without an answer leave the run partial.

    Args:
        file: the file.
        form: its format.
        benchmark_session: what the answers are graded by.
        judge: who gives verdicts.
        options: where from, and where to.
        progress: is told how it goes.

    Returns:
        The sealed run; the one of before where this very file was graded by this very judge already.

    Raises:
        BadInput: the file is not what it should be, or none of its answers is to a question of the exam.
        GatewayStopped: the judge's endpoint, its key or a budget stopped it; the same call goes on.
    """
    progress = progress or Silent()
    answers = _placed(form.read(file, benchmark_session), benchmark_session, options.origin)
    inputs = _inputs(answers, benchmark_session, judge, form)
    place = options.results / benchmark_session.benchmark.info.name / answers.slug
    done = [] if options.fresh else finished_runs(place, inputs)
    if done:
        same = done[-1].run.imported == answers.imported
        told = "" if same else " What is told of its origin differs; --fresh makes a run that says so."
        progress.note(f"{done[-1].path}: this very file, graded before by the very same judge; reused.{told}")
        return done[-1]
    items, responses = _rows(answers, benchmark_session)
    with (
        interruptible(),
        models_for(options.results, options.models, progress.note, on_disk=judge.model is not None) as models,
    ):
        cases = [] if judge.model is None else cases_of(benchmark_session, items, responses)
        check_key(judge, cases, models)
        folder = _folder(place, _plan(inputs, answers, benchmark_session, judge, form), options.fresh)
        with Journal(folder) as journal, CallRecord(journal.path / CALLS) as own:
            plan = Journal.plan(folder)
            models.open_run(plan.run_id, own)
            title = f"judging {answers.slug} by {judge.name}"
            recorded = judge.recorded(judgments(judge, cases, models, progress, title))
            rows = Rows(
                responses=responses,
                contexts=[],
                grades=grade_items(benchmark_session, items, responses, recorded),
                judgments=judgment_rows(recorded, own),
                prompts=judge.prompt_rows(benchmark_session.benchmark.info.id),
            )
            journal.log(LogLine(at=utc_now(), event="imported", detail=f"{len(responses)} answers of {form.name}"))
            return seal(folder, plan, rows, journal.log_lines, 1, benchmark_session)


def _placed(answers: ImportedAnswers, benchmark_session: BenchmarkSession, origin: Origin) -> ImportedAnswers:
    """Bring answers together with an exam: what is missing, what is unknown, and what the caller says of them."""
    slug = answers.slug if origin.slug is None else origin.slug
    if len(slug) > SLUG_LENGTH or not SLUG.fullmatch(slug):
        raise BadInput(
            f"'{visible(slug[:SLUG_LENGTH])}' is no slug.", remedy="Write words of a-z and 0-9 with dashes between."
        )
    if slug in CONTROLS:
        raise BadInput(f"'{slug}' is a control that memeval ships.", remedy="Give the answers another --slug.")
    told = {answer.question_id for answer in answers.answers}
    known = {question for key in benchmark_session.dataset.keys() for question in key.question_ids}  # noqa: SIM118
    planned = [question for key in benchmark_session.keys for question in key.question_ids]
    if told.isdisjoint(planned):
        raise BadInput(
            f"none of its {len(told)} answers is to a question of {benchmark_session.benchmark.info.id}.",
            where=answers.imported.file,
            remedy="Name the benchmark or the data that it answers, with --benchmark, --parameter or --data.",
        )
    if benchmark_session.protocol_info.search_items is not None and all(
        answer.sources is None for answer in answers.answers
    ):
        raise BadInput(
            f"the file does not say what was retrieved, and '{benchmark_session.protocol}' grades nothing else.",
            where=answers.imported.file,
            remedy="Name another --protocol.",
        )
    claims = answers.imported.claims
    if origin.claimed is not None:
        weighted = any(
            category.weight
            for category in benchmark_session.benchmark.table(benchmark_session.protocol, benchmark_session.tier)
        )
        metric = ClaimMetric.COMPOSITE if weighted else ClaimMetric.ACCURACY
        claims = (Claim(score=origin.claimed, metric=metric, items=len(told)), *claims)
    said = {"source": origin.source, "commit": origin.commit, "licence": origin.licence}
    imported = answers.imported.model_copy(
        update={
            **{name: value for name, value in said.items() if value is not None},
            "claims": claims,
            "missing": tuple(question for question in planned if question not in told),
            "unknown": tuple(
                _listed(question)
                for question in dict.fromkeys(answer.question_id for answer in answers.answers)
                if question not in known
            ),
        }
    )
    return replace(answers, slug=slug, imported=imported)


def _listed(unknown: str) -> str:
    """Return how an id or a column's name is listed: by its digest where it is a sentence, which may be the data's."""
    return digest_bytes(unknown.encode()) if len(_WORD.findall(unknown)) > MOST_WORDS else visible(unknown)


def _inputs(
    answers: ImportedAnswers, benchmark_session: BenchmarkSession, judge: ChosenJudge, form: ExchangeFormat
) -> Inputs:
    fixed = benchmark_session.protocol_info.reader
    track = benchmark_session.track(reader=None if fixed is None else reader_named(fixed), limits=Limits())
    return Inputs.of(judge.on(track), _system(answers, form), None)


def _system(answers: ImportedAnswers, form: ExchangeFormat) -> SystemIdentity:
    return SystemIdentity(
        slug=answers.slug,
        name=answers.system if len(_WORD.findall(answers.system)) <= LONGEST_NAME else answers.slug,
        version=answers.version,
        kind=SystemKind.IMPORTED,
        adapter_class=f"none: answers in the format {form.name}",
        submission_digest=answers.imported.digest,
        environment_digest=digest_of(form.name),
        parameters={} if answers.column is None else {"answers": _listed(answers.column)},
    )


def _plan(
    inputs: Inputs,
    answers: ImportedAnswers,
    benchmark_session: BenchmarkSession,
    judge: ChosenJudge,
    form: ExchangeFormat,
) -> Plan:
    return Plan(
        run_id="",
        started="",
        inputs=inputs,
        system=_system(answers, form),
        redistribution=benchmark_session.benchmark.info.redistribution,
        isolation=Isolation.ELSEWHERE,
        harness=harness(),
        seeds=judge.seeds,
        imported=answers.imported,
    )


def _folder(place: Path, plan: Plan, fresh: bool) -> Path:
    """Return the folder of the interrupted import to go on with, or of a new one."""
    interrupted = [
        folder
        for folder, other in unfinished_runs(place).items()
        if other.imported == plan.imported and other.inputs.fingerprint == plan.inputs.fingerprint
    ]
    return interrupted[-1] if interrupted and not fresh else start(place, plan)


def _rows(answers: ImportedAnswers, benchmark_session: BenchmarkSession) -> tuple[list[ItemKey], list[Response]]:
    """Return the items of which every question is answered, in plan order, and their responses."""
    told = {answer.question_id: answer for answer in answers.answers}
    items = [key for key in benchmark_session.keys if all(question in told for question in key.question_ids)]
    return items, [
        _response(told[question], key, benchmark_session, answers.imported)
        for key in items
        for question in key.question_ids
    ]


def _response(
    answer: ImportedAnswer, key: ItemKey, benchmark_session: BenchmarkSession, imported: Imported
) -> Response:
    outcome = Outcome.OK if answer.text.strip() else Outcome.EMPTY
    return Response(
        item_id=key.item_id,
        scenario_id=key.scenario_id,
        question_id=answer.question_id,
        outcome=Outcome.ADAPTER_ERROR if answer.error is not None else outcome,
        answer="" if answer.error is not None else answer.text,
        error=None if answer.error is None else redact(answer.error),
        items=None if answer.sources is None else tuple(_items(answer.sources, key, benchmark_session)),
        reported_tokens=answer.reported_tokens,
        usage=_usage(answer),
        timings=Timings(started=imported.made_at or "", ask_seconds=answer.seconds),
    )


def _items(sources: Sequence[str], key: ItemKey, benchmark_session: BenchmarkSession) -> Iterator[RetrievedItem]:
    """Yield what was retrieved, by memeval's ordinals; what the benchmark does not have stays unknown."""
    ordinals = benchmark_session.dataset.ordinals(key.scenario_id)
    for source in sources:
        yield RetrievedItem(source_ids=(ordinals.get(source, UNKNOWN + source),))


def _usage(answer: ImportedAnswer) -> ReportedUsage | None:
    told = (answer.prompt_tokens, answer.completion_tokens, answer.cost_usd)
    if told == (None, None, None):
        return None
    return ReportedUsage(
        prompt_tokens=answer.prompt_tokens, completion_tokens=answer.completion_tokens, cost_usd=answer.cost_usd
    )
