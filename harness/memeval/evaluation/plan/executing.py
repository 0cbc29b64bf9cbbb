"""Chooses the systems and benchmarks of a plan, and makes its runs in one loop, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.benchmarks import all_benchmarks, find
from memeval.benchmarks.base import Benchmark, Parameters
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import run_system
from memeval.execution.progress import Progress
from memeval.options import RunOptions
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import CheckFailed, MemevalError, NotApplicable
from memeval.systems.controls import controls_of
from memeval.systems.manifest import MANIFEST
from memeval.systems.source import SUBMISSIONS, SystemSource, find_system, folder_source

CONTROLS, ALL_SUBMISSIONS = "controls", "submissions"
"""Names of groups of systems."""


def offline_submissions() -> list[SystemSource]:
    """Return the submissions that declare no model and no host: they need no key and no network.

    Raises ``BadInput`` if a submission is not valid.
    """
    found = [folder_source(manifest.parent) for manifest in sorted(SUBMISSIONS.glob(f"*/{MANIFEST}"))]
    return [each for each in found if each.submission and not (each.declared_models or each.submission.hosts)]


def systems_named(name: str, info: BenchmarkInfo) -> list[SystemSource]:
    """Return the systems of a group for a benchmark, or the one system with the name.

    Raises ``BadInput`` if there is no such system, or it is invalid.
    """
    if name == CONTROLS:
        return [find_system(slug) for slug in controls_of(info.id)]
    return offline_submissions() if name == ALL_SUBMISSIONS else [find_system(name)]


def readers_for(
    source: SystemSource, info: BenchmarkInfo, protocol: str | None, named: Sequence[str]
) -> Iterator[str | None]:
    """Yield the readers of a system under a protocol: the named ones, or else its own; ``None`` for the default."""
    fixed = next(each.reader for each in info.protocols if protocol in (None, each.name))
    if fixed is not None:
        yield None
    elif named:
        yield from named
    elif source.control is not None:
        yield from source.control.readers
    else:
        yield None


def left_out(tier: str | None = None, protocol: str | None = None) -> dict[str, tuple[str, str]]:
    """Return the benchmarks that run only by name: by id, the reason in a few words and as sentences."""
    reasons = {each.info.id: _reason(each, tier, protocol) for each in all_benchmarks()}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def runnable(tier: str | None = None) -> list[str]:
    """Return the ids of the benchmarks that are not left out, in catalogue order; see :func:`left_out`."""
    skipped = left_out(tier)
    return [each.info.id for each in all_benchmarks() if each.info.id not in skipped]


def _reason(benchmark: Benchmark, tier: str | None, protocol: str | None) -> tuple[str, str] | None:
    info = benchmark.info
    if info.brought:
        command = f"--benchmark {info.id} --data FILE"
        return f"needs your own file ({command})", f"Its data is your own file. Run it with {command}."
    if info.by_name_only:
        return f"takes long (--benchmark {info.id})", f"It takes long. Run it with --benchmark {info.id}."
    for kind, wanted, known in (
        ("tier", tier, [each.name for each in info.tiers]),
        ("protocol", protocol, [each.name for each in info.protocols]),
    ):
        if wanted is not None and wanted not in known:
            return f"no {kind} '{wanted}'", f"It has no {kind} '{wanted}'. It has: {', '.join(known)}."
    if benchmark.available():
        return None
    command = f"memeval data pull {info.name}" if info.sources else f"memeval data list {info.name}"
    return f"no data ({command})", f"Its data is not on this machine. {benchmark.remedy()}"


@dataclass(frozen=True)
class PlannedRun:
    system: SystemSource | str
    """The system, or its name as in ``memeval run SYSTEM``, which is looked up when it runs."""
    benchmark: str
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
        return self.system if isinstance(self.system, str) else self.system.slug

    @property
    def track(self) -> tuple[str, str | None, str | None]:
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
    planned: PlannedRun
    state: RunState
    folders: tuple[RunFolder, ...] = ()
    """The sealed runs, one for each repetition."""
    error: MemevalError | None = None
    """Why there is no run, with the remedy."""
    short: str | None = None
    """Why it was skipped, in a few words; ``None`` to show the error's message."""


def run_plan(
    plan: Sequence[PlannedRun],
    options: RunOptions,
    progress: Progress | None = None,
    *,
    repeat: int = 1,
    debug: bool = False,
) -> Iterator[RunOutcome]:
    """Make the runs of a plan, and yield what happened to each. A run that fails does not stop the others.

    A finished run is reused, and an interrupted run resumes. Runs on the same data that follow each other share it.
    ``options``: what the plan does not name. ``repeat``: number of runs of each; each after the first is a new run.
    ``debug``: raise an error that is no :class:`MemevalError`. Raises ``KeyboardInterrupt`` if interrupted. The same
    call resumes.
    """
    progress, opened = progress or Progress(), _Opened(options)
    for number, planned in enumerate(plan, 1):
        if len(plan) > 1:
            progress.note(f"{number}/{len(plan)} {planned}")
        outcome = _run_planned(planned, opened, options, progress, repeat, debug)
        if outcome.error is not None and len(plan) > 1:
            progress.note(f"{outcome.state}: {outcome.error}")
        yield outcome


def _run_planned(
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
    """The data of the last run, which the next run on the same data shares."""

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._key: tuple[object, ...] | None = None
        self._session: BenchmarkSession | None = None

    def session(self, planned: PlannedRun) -> BenchmarkSession:
        """Return the benchmark of a run with its data open.

        Raises ``BadInput`` if the data is missing or damaged, or the benchmark, protocol or tier does not exist.
        """
        key = (planned.track, planned.data, planned.parameters)
        if self._session is None or key != self._key:
            self._session = None  # the data of the run before is no longer needed
            self._session = BenchmarkSession.open(
                find(planned.benchmark),
                planned.data,
                planned.parameters,
                protocol=planned.protocol or self._options.protocol,
                tier=planned.tier or self._options.tier,
                errata=self._options.errata,
            )
            self._key = key
        return self._session
