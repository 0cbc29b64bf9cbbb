"""The one loop over systems and benchmarks: makes the runs of a plan, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.benchmarks.base import Parameters
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import run_system
from memeval.execution.progress import Progress, Silent
from memeval.options import RunOptions
from memeval.records.errors import CheckFailed, MemevalError, NotApplicable
from memeval.systems.source import SystemSource, find_system


@dataclass(frozen=True)
class PlannedRun:
    """A system on a benchmark."""

    system: SystemSource | str
    """The system, or its name as in ``memeval run SYSTEM``, which is looked up when it runs."""
    benchmark: str
    """The benchmark's id."""
    protocol: str | None = None
    """The protocol; ``None`` for that of the options."""
    tier: str | None = None
    """The tier; ``None`` for that of the options."""
    reader: str | None = None
    """The reader; ``None`` for that of the options."""
    data: Path | None = None
    """The user's own copy of the benchmark's data."""
    parameters: Parameters | None = field(default=None, hash=False)
    """Parameters of a generated benchmark."""
    named: bool = True
    """Whether the caller named both, not a group of systems or of benchmarks. Then it is a failure if the system does
    not support the benchmark."""

    @property
    def slug(self) -> str:
        """The system's slug, or how the caller named it."""
        return self.system if isinstance(self.system, str) else self.system.slug

    @property
    def track(self) -> tuple[str, str | None, str | None]:
        """Benchmark, protocol and tier."""
        return self.benchmark, self.protocol, self.tier

    def __str__(self) -> str:
        reader = f"reader {self.reader}" if self.reader else None
        return f"{self.slug} on {', '.join(part for part in (*self.track, reader) if part)}"


class RunState(StrEnum):
    """The state of a planned run; its values are part of JSON output."""

    DONE = "done"
    LEFT_OUT = "left out"
    """Skipped before the run: the benchmark's data is not on this machine, or it runs only by name."""
    NOT_APPLICABLE = "not applicable"
    """Skipped: the system lacks a method that the benchmark needs."""
    FAILED = "failed"


@dataclass(frozen=True)
class RunOutcome:
    """What happened to a planned run."""

    planned: PlannedRun
    state: RunState
    folders: tuple[RunFolder, ...] = ()
    """The sealed runs, one for each repetition."""
    error: MemevalError | None = None
    """Why there is no run, with the remedy."""
    short: str | None = None
    """Why it was skipped, in a few words; ``None`` to show the error's message."""


def execute(
    plan: Sequence[PlannedRun],
    options: RunOptions,
    progress: Progress | None = None,
    *,
    repeat: int = 1,
    debug: bool = False,
) -> Iterator[RunOutcome]:
    """Make the runs of a plan, and yield what happened to each. A run that fails does not stop the others.

    A finished run is reused, and an interrupted run resumes. Runs on the same data that follow each other share it.

    Args:
        plan: the runs, in order.
        options: what the plan does not name.
        repeat: number of runs of each; each after the first is a new run.
        debug: raise an error that is no :class:`MemevalError`.

    Raises:
        KeyboardInterrupt: interrupted. The same call resumes.
    """
    progress, opened = progress or Silent(), _Opened(options)
    for number, planned in enumerate(plan, 1):
        if len(plan) > 1:
            progress.note(f"{number}/{len(plan)} {planned}")
        outcome = _outcome(planned, opened, options, progress, repeat, debug)
        if outcome.error is not None and len(plan) > 1:
            progress.note(f"{outcome.state}: {outcome.error}")
        yield outcome


def _outcome(
    planned: PlannedRun, opened: _Opened, options: RunOptions, progress: Progress, repeat: int, debug: bool
) -> RunOutcome:
    try:
        session = opened.session(planned)
        source = find_system(planned.system) if isinstance(planned.system, str) else planned.system
        options = replace(options, reader=planned.reader or options.reader)
        folders = [
            run_system(source, session, replace(options, fresh=options.fresh or repetition > 0), progress)
            for repetition in range(repeat)
        ]
        return RunOutcome(planned, RunState.DONE, tuple(folders))
    except NotApplicable as error:
        option = f" (--benchmark {planned.benchmark} --protocol {error.protocols[0]})" if error.protocols else "."
        short = f"{error.problem.removesuffix('.')}{option}"
        return RunOutcome(planned, RunState.NOT_APPLICABLE, error=error, short=short)
    except MemevalError as error:
        return RunOutcome(planned, RunState.FAILED, error=error)
    except Exception as error:
        if debug:
            raise
        failed = CheckFailed(
            f"unexpected {type(error).__name__}: {error}.",
            remedy=f"Run again with --benchmark {planned.benchmark} --debug, and report the traceback.",
        )
        return RunOutcome(planned, RunState.FAILED, error=failed)


class _Opened:
    """The data of the latest run, which the next one may share."""

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._key: tuple[object, ...] | None = None
        self._found: BenchmarkSession | MemevalError | None = None

    def session(self, planned: PlannedRun) -> BenchmarkSession:
        """Return the benchmark of a run with its data open.

        Raises:
            BadInput: the data is missing or damaged, or the benchmark, protocol or tier does not exist.
        """
        key = (planned.track, planned.data, planned.parameters)
        if self._found is None or key != self._key:
            self._found = None  # the data of the run before is no longer needed
            try:
                self._found = self._open(planned)
            except MemevalError as error:
                self._found = error
            self._key = key
        if isinstance(self._found, MemevalError):
            raise self._found
        return self._found

    def _open(self, planned: PlannedRun) -> BenchmarkSession:
        return BenchmarkSession.open(
            find(planned.benchmark),
            planned.data,
            planned.parameters,
            protocol=planned.protocol or self._options.protocol,
            tier=planned.tier or self._options.tier,
            errata=self._options.errata,
        )
