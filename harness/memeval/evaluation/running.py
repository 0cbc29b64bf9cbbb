"""Running a system on a benchmark: resume, reuse or start; execute; judge; seal."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.evaluation.decoding import decoded_run
from memeval.evaluation.disk_space import disk_space_warning
from memeval.evaluation.grades import cases_of, grade_items, is_done, last_attempts
from memeval.evaluation.judges import ChosenJudge, choose_judge, judge_of
from memeval.evaluation.models import CALLS, ModelOptions, Models, models_for
from memeval.evaluation.plan import BenchmarkSession, choose_reader, protocols_for
from memeval.evaluation.provenance import harness
from memeval.evaluation.rows import Rows
from memeval.evaluation.run_folders import find_run_folder, start
from memeval.evaluation.runtime import (
    ExchangeBuffer,
    NewInstance,
    PreparedSystem,
    SystemSetup,
    prepare,
    system_instances,
)
from memeval.evaluation.seal import in_plan_order, seal, used_contexts
from memeval.evaluation.stopping import interruptible
from memeval.evaluation.verdicts import call_rows, judgment_rows, judgments
from memeval.execution.early_stop import EarlyStop
from memeval.execution.journal import Journal, utc_now
from memeval.execution.model_access import SystemInstance
from memeval.execution.model_reader import PREFIX, SEED, ModelReader
from memeval.execution.progress import Progress, Silent
from memeval.execution.readers import Reader
from memeval.execution.scheduler import Scheduler
from memeval.execution.work import FinishedItems
from memeval.gateway.record import CallRecord
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey
from memeval.records.call import Caller
from memeval.records.errors import BadInput, NotApplicable
from memeval.records.journal import Plan
from memeval.records.log import LogLine
from memeval.records.prompt import Prompt
from memeval.records.response import Response
from memeval.records.run import Inputs, SystemKind
from memeval.records.track import Limits
from memeval.systems.child import HASH_SEED
from memeval.systems.messages import AdapterInfo
from memeval.systems.source import SystemSource, start_system


@dataclass(frozen=True)
class RunOptions:
    """How a system is run."""

    results: Path = Path("results")
    """Folder the run is stored under."""
    protocol: str | None = None
    """Way of asking and grading; ``None`` for the benchmark's default. Decides how the benchmark is opened."""
    tier: str | None = None
    """Choice of the data; ``None`` for the benchmark's default. Decides how the benchmark is opened."""
    errata: Path | None = None
    """A file of errata for corrected scores; ``None`` for memeval's own. Decides how the benchmark is opened."""
    judge: str | None = None
    """Who gives verdicts: ``rules`` or ``openai:MODEL``; ``None`` for the rule set, or the replayed run's judge."""
    judge_label: str | None = None
    """What a model judge at an endpoint that is not its maker's is called."""
    prompts: Path | None = None
    """A folder with other prompts for a model judge."""
    reader: str | None = None
    """Who answers: ``native``, ``extractive`` or ``openai:MODEL``; ``None`` for the system where it can, or
    for the replayed run's reader."""
    models: ModelOptions = field(default_factory=ModelOptions)
    """How models are used."""
    setup: SystemSetup = field(default_factory=SystemSetup)
    """How the system is held and reached."""
    conformance: bool = True
    """Whether a submission that can cost money must have kept to the contract before it is run."""
    limits: Limits = field(default_factory=Limits)
    """What the system is allowed, per call."""
    limit: int | None = None
    """Run only so many items, taken from the categories in turn; such a run is partial."""
    concurrency: int = 4
    """Scenarios in flight."""
    fresh: bool = False
    """Start another run, whatever is stored."""
    retry_errors: bool = False
    """Try failed items again; both attempts stay on record."""
    keep_going: bool = False
    """Run all items, even where the first ones all fail with the same error."""


def run_system(
    source: SystemSource, benchmark_session: BenchmarkSession, options: RunOptions, progress: Progress | None = None
) -> RunFolder:
    """Run a system on a benchmark, or return the finished run of the very same inputs.

    Args:
        source: the system.
        benchmark_session: the benchmark with its data open.
        options: how it is run.
        progress: is told how it goes.

    Returns:
        The sealed run.

    Raises:
        BadInput: something asked for is not there, the adapter cannot be loaded, or an unfinished run of this system
            was started with other inputs.
        StoppedEarly: the first items all failed with the same error; the same call with ``retry_errors`` resumes.
        GatewayStopped: a model's endpoint, its key or a budget stopped the run; the same call resumes.
        KeyboardInterrupt: interrupted; what came to an end is on disk, and the same call resumes.
    """
    progress = progress or Silent()
    options = replace(options, models=options.models.on(benchmark_session))
    judge = judge_for(options)
    if lack := disk_space_warning(benchmark_session.dataset.history_bytes, options.concurrency):
        progress.note(lack)
    prepared = prepare(source, options.setup, progress.note, hidden=(options.results,))
    if options.models.replay is not None and prepared.hosts:
        raise BadInput(
            f"'{source.slug}' reaches hosts of its own, and what they replied is not on record.",
            remedy="Run it again without --replay.",
        )
    asks = judge.model is not None or bool(source.declared_models) or (options.reader or "").startswith(PREFIX)
    traffic = ExchangeBuffer()
    with models_for(options.results, options.models, progress.note, on_disk=asks) as models:
        setting = _Setting(prepared, benchmark_session, options, judge, models, progress, traffic)
        with system_instances(prepared, options.limits, models, traffic) as new_instance:
            first = new_instance(lambda line: None)
            with closing(first.process):
                hello = start_system(prepared.source, first.process)
                _check_conformance(setting, hello)
                return _run(setting, hello, first, new_instance)


@dataclass(frozen=True)
class _Setting:
    """What a run is made of."""

    prepared: PreparedSystem
    benchmark_session: BenchmarkSession
    options: RunOptions
    judge: ChosenJudge
    models: Models
    progress: Progress
    traffic: ExchangeBuffer

    @property
    def source(self) -> SystemSource:
        """The system."""
        return self.prepared.source


def judge_for(options: RunOptions) -> ChosenJudge:
    """Refuse what cannot be, and return who judges.

    Raises:
        BadInput: a number is too small, or there is no such judge.
    """
    for name, value in (("--limit", options.limit), ("--concurrency", options.concurrency)):
        if value is not None and value < 1:
            raise BadInput(f"{name} is {value}.", remedy="Give a number of at least 1.")
    replay = options.models.replay
    if replay is not None and options.judge is None:
        return judge_of(replay.run.track, replay.prompts())
    return choose_judge(options.judge or RulesJudge.name, options.judge_label, options.prompts)


def _check_conformance(setting: _Setting, hello: AdapterInfo) -> None:
    """Refuse a submission that could cost money and whose numbers would mean nothing."""
    options, prepared = setting.options, setting.prepared
    is_submission = prepared.source.kind is SystemKind.SUBMISSION
    if options.conformance and is_submission and prepared.pays and options.models.replay is None:
        from memeval.evaluation.conforming import require_conformance

        require_conformance(prepared, hello, options.results, setting.progress, options.models, options.limits)


def _run(setting: _Setting, hello: AdapterInfo, first: SystemInstance, new_instance: NewInstance) -> RunFolder:
    """Find where the run goes on, execute what is open, have it judged, and seal it; see :func:`run_system`."""
    source, benchmark_session, options, progress = (
        setting.source,
        setting.benchmark_session,
        setting.options,
        setting.progress,
    )
    reader = _reader(setting, hello)
    inputs = _inputs(setting, hello, reader)
    place = options.results / benchmark_session.benchmark.info.name / source.slug
    items = benchmark_session.selected(options.limit)
    folder, retried = None, None
    if not options.fresh:
        folder, retried = find_run_folder(
            place,
            inputs,
            replayed=options.models.replay is not None,
            retry_errors=options.retry_errors,
            progress=progress,
        )
    if folder is not None and (folder / "run.json").exists():
        shutil.rmtree(folder / "journal", ignore_errors=True)  # left where the run was killed right after its head
        return RunFolder(folder)
    setting.models.check_keys(_callers(setting.judge, reader))
    if folder is None:
        folder = start(place, _plan(setting, inputs, hello, reader, retried))
    with interruptible(), Journal(folder) as journal, CallRecord(journal.path / CALLS) as own:
        plan = Journal.plan(folder)
        setting.models.open_run(plan.run_id, own)
        setting.traffic.store_in(journal.exchanged)
        again = frozenset(journal.responses) if options.retry_errors else frozenset()
        if plan.carries_over is not None:
            retried = decoded_run(RunFolder(place / plan.carries_over), benchmark_session)
            again = _carry_over(retried, journal)
        open_items, attempts = _open_items(items, journal, again)
        done = len(items) - len(open_items)
        for note in benchmark_session.dataset.notes:
            progress.note(note)
            journal.log(LogLine(at=utc_now(), event="data", detail=note))
        progress.start(f"{source.slug} on {benchmark_session.benchmark.info.id}", len(items), done)
        if done > 0:
            progress.note(f"{done} of {len(items)} items are on disk already; going on with the rest.")
            journal.log(LogLine(at=utc_now(), event="resumed", detail=f"{done} of {len(items)} items on disk"))
        try:
            Scheduler(
                first,
                new_instance,
                reader,
                plan.inputs.track.limits.search_items,
                options.concurrency,
                journal,
                progress,
                check=setting.models.gateway.check,
                spent=setting.models.spent,
                watch=_early_stop(setting, items, open_items, journal),
            ).run(benchmark_session.works(open_items, source.view, attempts))
        finally:
            progress.stop()
            journal.log(*setting.models.lines())
        rows = _judged(setting, items, journal, own, reader, retried)
        return seal(folder, plan, rows, journal.log_lines, options.concurrency, benchmark_session)


def _early_stop(
    setting: _Setting, items: Sequence[ItemKey], open_items: Sequence[ItemKey], journal: Journal
) -> Callable[[Sequence[FinishedItems]], None]:
    """Return what stops a run whose first items all fail alike; nothing does where that is meant to be."""
    source = setting.source
    if setting.options.keep_going or source.kind is SystemKind.CONTROL:
        return lambda finished: None
    tried = {item.item_id for item in open_items}
    earlier = [row for row in last_attempts(journal.responses.values()).values() if row.item_id not in tried]
    return EarlyStop(len(items), earlier, f"{source.slug} on {setting.benchmark_session.benchmark.info.id}").watch


def _reader(setting: _Setting, hello: AdapterInfo) -> Reader | None:
    """Return who answers; a replayed run has the reader it had, unless another is asked for."""
    replay, asked = setting.options.models.replay, setting.options.reader
    if replay is not None and asked is None:
        asked = replay.run.track.reader

    def model_reader(name: str) -> ModelReader:
        endpoint = setting.models.endpoint(Caller.READER)
        return ModelReader(name, endpoint, setting.models.gateway, setting.options.limits.reader_tokens)

    protocol, slug = setting.benchmark_session.protocol_info, setting.source.slug
    try:
        return choose_reader(asked, hello.capabilities, slug, model_reader, protocol)
    except NotApplicable as lacking:
        info = setting.benchmark_session.benchmark.info
        others = protocols_for(hello.capabilities, info)
        if not others or protocol.name in others:  # then it is the reader asked for that it cannot take
            raise
        raise NotApplicable(
            lacking.problem, remedy=f"{slug} can take {info.id} under --protocol {' or '.join(others)}."
        ) from None


def _callers(judge: ChosenJudge, reader: Reader | None) -> list[Caller]:
    """Return who will call models."""
    asking = [] if judge.model is None else [Caller.JUDGE]
    return [*asking, Caller.READER] if isinstance(reader, ModelReader) else asking


def _inputs(setting: _Setting, hello: AdapterInfo, reader: Reader | None) -> Inputs:
    options = setting.options
    track = setting.benchmark_session.track(reader=reader, limits=options.limits)
    return Inputs.of(setting.judge.on(track), setting.prepared.identity(hello), options.limit)


def _plan(
    setting: _Setting, inputs: Inputs, hello: AdapterInfo, reader: Reader | None, retried: RunFolder | None
) -> Plan:
    reads = isinstance(reader, ModelReader)
    return Plan(
        run_id="",
        started="",
        inputs=inputs,
        system=setting.prepared.identity(hello),
        redistribution=setting.benchmark_session.benchmark.info.redistribution,
        isolation=setting.prepared.isolation,
        network=setting.prepared.network,
        sandbox=None if setting.prepared.sandbox is None else str(setting.prepared.sandbox),
        harness=harness(),
        seeds={"PYTHONHASHSEED": HASH_SEED} | setting.judge.seeds | ({"reader": SEED} if reads else {}),
        carries_over=retried.run.run_id if retried else None,
        replayed=setting.options.models.replay is not None,
    )


def _judged(
    setting: _Setting,
    items: Sequence[ItemKey],
    journal: Journal,
    own: CallRecord,
    reader: Reader | None,
    retried: RunFolder | None,
) -> Rows:
    """Have the responses judged, and return all rows of the run."""
    judge, benchmark_session, progress = setting.judge, setting.benchmark_session, setting.progress
    responses = in_plan_order(items, journal.responses.values())
    title = f"judging {setting.source.slug} on {benchmark_session.benchmark.info.id}"
    cases = [] if judge.model is None else cases_of(benchmark_session, items, responses)
    recorded = judge.recorded(judgments(judge, cases, setting.models, progress, title))
    grades = grade_items(benchmark_session, items, responses, recorded)
    prompts = judge.prompt_rows(benchmark_session.benchmark.info.id)
    if isinstance(reader, ModelReader):
        prompts += [Prompt(name=name, text=text) for name, text in reader.texts.items()]
    return Rows(
        responses=responses,
        contexts=used_contexts(responses, journal.contexts),
        grades=grades,
        judgments=judgment_rows(recorded, own),
        calls=call_rows(benchmark_session, responses, setting.models, own, retried),
        prompts=prompts,
        traffic=journal.exchanges,
    )


def _carry_over(kept: RunFolder, journal: Journal) -> frozenset[tuple[str, int]]:
    """Put the rows of a finished run, as far as they are missing, into the journal of the one that starts from them.

    Returns:
        Question and attempt of all these rows.
    """
    rows = {(row.question_id, row.attempt): row for row in kept.responses()}
    missing = tuple(row for key, row in rows.items() if key not in journal.responses)
    if missing:
        journal.write([FinishedItems((), missing, tuple(kept.contexts()))])
        journal.log(LogLine(at=utc_now(), event="carried over", detail=f"the rows of {kept.run.run_id}"))
    return frozenset(rows)


def _open_items(
    items: Sequence[ItemKey], journal: Journal, again: frozenset[tuple[str, int]]
) -> tuple[list[ItemKey], dict[str, int]]:
    """Return the items that are still to be done, and which attempt each is.

    Args:
        items: the planned items, in plan order.
        journal: what is on disk.
        again: question and attempt of the rows that are tried again where they failed.
    """
    last = last_attempts(journal.responses.values())
    open_items, attempts = [], {}
    for item in items:
        rows: list[Response] = [last[question] for question in item.question_ids if question in last]
        if not is_done(item, last):
            open_items.append(item)
            attempts[item.item_id] = max((row.attempt for row in rows), default=1)
        elif any(row.outcome.is_error and (row.question_id, row.attempt) in again for row in rows):
            open_items.append(item)
            attempts[item.item_id] = max(row.attempt for row in rows) + 1
    return open_items, attempts
