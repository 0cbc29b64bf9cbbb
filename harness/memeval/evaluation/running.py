"""Running a system on a benchmark: resume, reuse or start; execute; grade; seal."""

from __future__ import annotations

import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from memeval.archive.runs import RunFolder
from memeval.evaluation.grades import is_done, last_attempts
from memeval.evaluation.plan import Exam, choose_reader
from memeval.evaluation.provenance import harness
from memeval.evaluation.seal import seal
from memeval.execution.journal import Journal, utc_now
from memeval.execution.progress import Progress, Silent
from memeval.execution.readers import NATIVE, Reader
from memeval.execution.scheduler import Scheduler
from memeval.execution.work import Finished
from memeval.judging.base import Judge
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey
from memeval.records.errors import BadInput
from memeval.records.journal import Plan
from memeval.records.log import LogLine
from memeval.records.response import Response
from memeval.records.run import Inputs, Isolation, SystemIdentity
from memeval.records.track import Limits
from memeval.systems.child import HASH_SEED
from memeval.systems.messages import Hello
from memeval.systems.output import visible
from memeval.systems.process import SystemProcess
from memeval.systems.source import SystemSource, candidates_warning, greet


@dataclass(frozen=True)
class RunOptions:
    """How a system is run."""

    results: Path = Path("results")
    """Folder the run is stored under."""
    protocol: str | None = None
    """Way of asking and grading; ``None`` for the benchmark's default."""
    tier: str | None = None
    """Choice of the data; ``None`` for the benchmark's default."""
    judge: str = "rules"
    """Who gives verdicts."""
    reader: str | None = None
    """Who answers; ``None`` for the system where it can."""
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


def judge_named(name: str) -> Judge:
    """Return the judge of that name.

    Raises:
        BadInput: there is none.
    """
    if name not in (RulesJudge.name, RulesJudge.name.partition("@")[0]):
        raise BadInput(f"there is no judge '{visible(name)}'.", remedy=f"There is: {RulesJudge.name}.")
    return RulesJudge()


def run_system(source: SystemSource, exam: Exam, options: RunOptions, progress: Progress | None = None) -> RunFolder:
    """Run a system on a benchmark, or return the finished run of the very same inputs.

    Args:
        source: the system.
        exam: the benchmark with its data open.
        options: how it is run.
        progress: is told how it goes.

    Returns:
        The sealed run.

    Raises:
        BadInput: something asked for is not there, the adapter cannot be loaded, or an unfinished run of this system
            was started with other inputs.
        KeyboardInterrupt: interrupted; what came to an end is on disk, and the same call resumes.
    """
    progress = progress or Silent()
    _check(options)
    system, hello = greet(source, options.limits, lambda line: None)
    with closing(system):
        if warning := candidates_warning(hello, source.launch):
            progress.note(warning)
        return _run(source, system, hello, exam, options, progress)


def _run(
    source: SystemSource, system: SystemProcess, hello: Hello, exam: Exam, options: RunOptions, progress: Progress
) -> RunFolder:
    """Find where the run goes on, execute what is open, and seal it; see :func:`run_system`."""
    judge = judge_named(options.judge)
    reader = choose_reader(options.reader, hello.capabilities, source.slug)
    inputs = _inputs(source, hello, exam, reader, judge, options)
    place = options.results / exam.benchmark.info.name / source.slug
    items = exam.selected(options.limit)
    folder, retried = _place(place, inputs, options, progress)
    if folder is not None and (folder / "run.json").exists():
        shutil.rmtree(folder / "journal", ignore_errors=True)  # left where the run was killed right after its head
        return RunFolder(folder)
    if folder is None:
        folder = _start(place, inputs, _identity(source, hello), exam, retried)
    with _interruptible(), Journal(folder) as journal:
        plan = Journal.plan(folder)
        again = frozenset(journal.responses) if options.retry_errors else frozenset()
        if plan.carries_over is not None:
            again = _carry_over(RunFolder(place / plan.carries_over), journal)
        open_items, attempts = _open_items(items, journal, again)
        done = len(items) - len(open_items)
        progress.start(f"{source.slug} on {exam.benchmark.info.id}", len(items), done)
        if done > 0:
            progress.note(f"{done} of {len(items)} items are on disk already; going on with the rest.")
            journal.log(LogLine(at=utc_now(), event="resumed", detail=f"{done} of {len(items)} items on disk"))
        try:
            Scheduler(
                system,
                _starter(source, options.limits),
                reader,
                options.limits.search_items,
                options.concurrency,
                journal,
                progress,
            ).run(exam.works(open_items, source.view, attempts))
        finally:
            progress.stop()
        return seal(folder, journal, plan, exam, items, judge, options.concurrency)


def _check(options: RunOptions) -> None:
    judge_named(options.judge)
    for name, value in (("--limit", options.limit), ("--concurrency", options.concurrency)):
        if value is not None and value < 1:
            raise BadInput(f"{name} is {value}.", remedy="Give a number of at least 1.")


def _starter(source: SystemSource, limits: Limits) -> Callable[[Callable[[str], None]], SystemProcess]:
    return lambda log: SystemProcess(source.launch, limits, log)


def _start(place: Path, inputs: Inputs, system: SystemIdentity, exam: Exam, retried: RunFolder | None) -> Path:
    """Make the folder of a new run; a run's id holds its start to the second, so twins wait for the next one."""
    while True:
        started = datetime.now(UTC)
        run_id = f"{started:%Y%m%dT%H%M%SZ}-{inputs.fingerprint[:8]}"
        plan = Plan(
            run_id=run_id,
            started=started.isoformat(timespec="milliseconds"),
            inputs=inputs,
            system=system,
            redistribution=exam.benchmark.info.redistribution,
            isolation=Isolation.FILES_REACHABLE,
            harness=harness(),
            seeds={"PYTHONHASHSEED": HASH_SEED},
            carries_over=retried.run.run_id if retried else None,
        )
        if Journal.start(place / run_id, plan):
            return place / run_id
        time.sleep(1.0 - started.microsecond / 1e6)


def _inputs(
    source: SystemSource, hello: Hello, exam: Exam, reader: Reader | None, judge: Judge, options: RunOptions
) -> Inputs:
    return Inputs(
        track=exam.track(
            reader=NATIVE if reader is None else reader.name,
            judge=judge.name,
            limits=options.limits,
            protocol=options.protocol,
            tier=options.tier,
        ),
        submission_digest=source.submission_digest,
        environment_digest=hello.environment_digest,
        parameters=dict(source.parameters),
        declared_models=source.declared_models,
        view=source.view,
        limit=options.limit,
    )


def _identity(source: SystemSource, hello: Hello) -> SystemIdentity:
    return SystemIdentity(
        slug=source.slug,
        name=source.name,
        version=source.version,
        kind=source.kind,
        adapter_class=hello.class_name,
        submission_digest=source.submission_digest,
        environment_digest=hello.environment_digest,
        view=source.view,
        capabilities=hello.capabilities,
        declared_models=source.declared_models,
        parameters=dict(source.parameters),
    )


def _place(
    place: Path, inputs: Inputs, options: RunOptions, progress: Progress
) -> tuple[Path | None, RunFolder | None]:
    """Find where a run goes on.

    Returns:
        The folder of the finished run to reuse or the unfinished run to resume, ``None`` to start another; and, where
        that tries the failed items of a finished run again, the finished run.
    """
    if options.fresh:
        return None, None
    finished = [
        folder
        for folder in (RunFolder(head.parent) for head in sorted(place.glob("*/run.json")))
        if folder.run.fingerprint == inputs.fingerprint
    ]
    unfinished = [
        plan.parent.parent
        for plan in sorted(place.glob("*/journal/plan.json"))
        if not (plan.parent.parent / "run.json").exists()
    ]
    same = [folder for folder in unfinished if Journal.plan(folder).inputs.fingerprint == inputs.fingerprint]
    if same:
        return same[-1], None
    if finished:
        if options.retry_errors and finished[-1].run.scores.overall.errors:
            return None, finished[-1]
        progress.note(f"{finished[-1].path}: finished before with the very same inputs; reused.")
        return finished[-1].path, None
    if unfinished:
        parts = ", ".join(differing(Journal.plan(unfinished[-1]).inputs, inputs))
        raise BadInput(
            f"an unfinished run is here that was started with other inputs; what differs: {parts}.",
            where=unfinished[-1],
            remedy="Restore them to resume it, or start another run with --fresh.",
        )
    return None, None


def differing(one: Inputs, other: Inputs) -> list[str]:
    """Return the names of the parts in which the inputs of two runs differ, such as ``track.judge``."""
    return [
        *(
            f"track.{name}"
            for name in type(one.track).model_fields
            if getattr(one.track, name) != getattr(other.track, name)
        ),
        *(name for name in Inputs.model_fields if name != "track" and getattr(one, name) != getattr(other, name)),
    ]


def _carry_over(kept: RunFolder, journal: Journal) -> frozenset[tuple[str, int]]:
    """Put the rows of a finished run, as far as they are missing, into the journal of the one that starts from them.

    Returns:
        Question and attempt of all these rows.
    """
    rows = {(row.question_id, row.attempt): row for row in kept.responses()}
    missing = tuple(row for key, row in rows.items() if key not in journal.responses)
    if missing:
        journal.write([Finished((), missing, tuple(kept.contexts()))])
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


@contextmanager
def _interruptible() -> Iterator[None]:
    """Treat a request to terminate like Ctrl-C while a run lasts: end processes, store what is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
