"""Checking a submission, for its author as for its pull request: from its files to a few items of a benchmark."""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from memeval.benchmarks import find
from memeval.conformance.suite import CHECKS
from memeval.evaluation.conforming import check_conformance
from memeval.evaluation.lending import Prepared, Setup, lending, prepare
from memeval.evaluation.models import ModelOptions, models_for
from memeval.evaluation.plan import Exam
from memeval.evaluation.provenance import memeval_version
from memeval.evaluation.running import RunOptions, run_system
from memeval.evaluation.secret_scan import secrets_in
from memeval.execution.journal import utc_now
from memeval.execution.progress import Silent
from memeval.gateway.endpoints import endpoint_for
from memeval.records.base import Digest
from memeval.records.call import Caller
from memeval.records.conformance import CheckOutcome, ConformanceCheck
from memeval.records.errors import BadInput, MemevalError
from memeval.records.response import Outcome
from memeval.records.submission import Submission
from memeval.records.submitting import Problem, Step, StepName, StepOutcome, SubmissionCheck
from memeval.records.track import Limits
from memeval.systems.folder import LOCK_BYTES, LOCKS, TOTAL_BYTES, examined_files
from memeval.systems.source import MANIFEST, SystemSource, examined_folder, greet, variant_source

SMOKE_BENCHMARK = "beliefs@1"
SMOKE_SIZE = 6
"""What the smoke step runs: one item of each category, generated as the benchmark is, in seconds and with no key."""

QUOTED_ERRORS = 3
"""How many failed items a report tells of."""

QUOTED_LINES = 10
"""How many of the last lines that a system printed are told where it cannot be loaded."""

SCANNED_BYTES = TOTAL_BYTES + len(LOCKS) * LOCK_BYTES
"""How much is looked through for keys: as much as a submission may hold."""

FIRST_CHECK = CHECKS[0].name
"""The check of the conformance suite without which nothing else is worth a look."""

FIRST = "Not made: what is wrong above comes first."


@dataclass(frozen=True)
class CheckOptions:
    """How a submission is checked."""

    run: bool = True
    """Whether it is also installed and run."""
    results: Path | None = None
    """The results folder that the report of the conformance suite is kept in; ``None`` keeps none."""
    setup: Setup = field(default_factory=Setup)
    """How it is held and reached."""


def check_submission(
    folder: Path, options: CheckOptions | None = None, note: Callable[[str], None] = lambda sentence: None
) -> SubmissionCheck:
    """Check a submission; a step that cannot be made is skipped, with the reason.

    Args:
        folder: the folder with its ``submission.toml``, anywhere.
        options: how it is checked.
        note: is told what a person should know while it lasts.

    Returns:
        The report: all steps, and every problem with file, line and remedy.
    """
    options = options or CheckOptions()
    check = _Check(folder, options, note)
    check.make()
    source, prepared = check.source, check.prepared
    return SubmissionCheck(
        folder=str(folder),
        slug=source.slug if source else None,
        submission_digest=source.submission_digest if source else None,
        environment_digest=check.environment_digest,
        memeval=memeval_version(),
        sandbox=str(prepared.sandbox) if prepared and prepared.sandbox else None,
        at=utc_now(),
        steps=tuple(check.steps),
        conformance=check.conformance,
    )


class _Refused(Exception):
    """A step did not pass.

    Args:
        detail: why, in a sentence.
        problems: what has to be mended.
    """

    def __init__(self, detail: str, problems: Sequence[Problem]) -> None:
        super().__init__(detail)
        self.problems = tuple(problems)


class _Left(Exception):
    """A step cannot be made; the text says why."""


class _Notes(Silent):
    """Hands on what a person should know, and nothing else."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note

    def note(self, sentence: str) -> None:
        """See :class:`Progress`."""
        self._note(sentence)


class _Check:
    """One check as it goes."""

    def __init__(self, folder: Path, options: CheckOptions, note: Callable[[str], None]) -> None:
        self._folder = folder
        self._options = options
        self._notes = _Notes(note)
        self.steps: list[Step] = []
        self.source: SystemSource | None = None
        self.prepared: Prepared | None = None
        self.environment_digest: Digest | None = None
        self.conformance: tuple[ConformanceCheck, ...] = ()

    def make(self) -> None:
        """Make all steps."""
        read = self._step(StepName.READ, self._read)
        self._step(StepName.SECRETS, self._secrets)
        why = FIRST if self._options.run else "Not asked for."
        later = [StepName.INSTALL, StepName.CONFORMANCE, StepName.SMOKE]
        if self.source is not None and read is StepOutcome.PASSED and self._options.run:
            source = self.source
            lacking = _lacking(source)
            installed = self._step(StepName.INSTALL, lambda: self._install(source, lacking))
            why, later = lacking or FIRST, later[1:]
            if installed is StepOutcome.PASSED and lacking is None:
                self._step(StepName.CONFORMANCE, lambda: self._conform(source))
                if self._finds_nothing():
                    why, later = "Not made: nothing that it was told was found again; that comes first.", later[-1:]
                else:
                    self._step(StepName.SMOKE, lambda: self._smoke(source))
                    return
        for name in later:
            self._step(name, lambda: _leave(why))

    def _step(self, name: StepName, make: Callable[[], str]) -> StepOutcome:
        """Make a step, and put down how it ended."""
        began = time.monotonic()
        problems: tuple[Problem, ...] = ()
        try:
            outcome, detail = StepOutcome.PASSED, make()
        except _Left as left:
            outcome, detail = StepOutcome.SKIPPED, str(left)
        except _Refused as refused:
            outcome, detail, problems = StepOutcome.FAILED, str(refused), refused.problems
        except MemevalError as error:
            outcome, detail, problems = StepOutcome.FAILED, "It could not be done.", (_problem(error),)
        self.steps.append(
            Step(name=name, outcome=outcome, detail=detail, seconds=time.monotonic() - began, problems=problems)
        )
        return outcome

    def _read(self) -> str:
        self.source, faults = examined_folder(self._folder)
        if faults:
            count = len(faults)
            raise _Refused(f"{count} thing{'s' if count > 1 else ''} to mend.", [_problem(fault) for fault in faults])
        submission = _submission(self.source)
        return f"{submission.name} {submission.version}, kind {submission.kind}."

    def _secrets(self) -> str:
        if self.source is None and not (self._folder / MANIFEST).is_file():
            raise _Left(FIRST)
        files, faults = examined_files(self._folder)
        if sum(path.stat().st_size for path in files.values()) > SCANNED_BYTES:
            raise _Left("More files than are looked at; see above.")
        found = list(secrets_in(files))
        if found:
            raise _Refused("Something looks like a key.", found)
        if faults:
            raise _Left("Some files cannot be looked at; see above.")
        return f"{len(files)} files, and nothing in them looks like a key."

    def _install(self, source: SystemSource, lacking: str | None) -> str:
        self.prepared = prepare(_without_hosts(source) if lacking else source, self._options.setup, self._notes.note)
        if lacking:
            return "Installed, and not started."
        with (
            models_for(Path(), ModelOptions(), self._notes.note, on_disk=False) as models,
            lending(self.prepared, Limits(), models) as new_instance,
        ):
            printed: deque[str] = deque(maxlen=QUOTED_LINES)
            first = new_instance(printed.append)
            with closing(first.process):
                try:
                    hello = greet(self.prepared.source, first.process)
                except BadInput as error:
                    raise _Refused("It does not start.", _of_start(error, printed)) from None
        self.environment_digest = self.prepared.environment_digest(hello)
        sandbox = self.prepared.sandbox
        held = f"in {sandbox}" if sandbox else "without a sandbox: FILES REACHABLE"
        varied = "".join(f" So does {name}." for name in self._start_variants(source))
        return f"It answers ({', '.join(hello.capabilities)}), {held}.{varied}"

    def _start_variants(self, source: SystemSource) -> list[str]:
        """Start each variant once, and return what they are called: one may have parameters that nothing takes.

        Those that need a key which is not here are left out.
        """
        lacking = {name: _lacking(variant_source(source, name)) for name in _submission(source).variants}
        for name, sentence in lacking.items():
            if sentence is not None:
                self._notes.note(f"The variant '{name}' is not started: {sentence.removeprefix('Not made: ')}")
        names = [name for name, sentence in lacking.items() if sentence is None]
        for name in names:
            varied = prepare(variant_source(source, name), self._options.setup, self._notes.note)
            printed: deque[str] = deque(maxlen=QUOTED_LINES)
            with (
                models_for(Path(), ModelOptions(), self._notes.note, on_disk=False) as models,
                lending(varied, Limits(), models) as new_instance,
                closing(new_instance(printed.append).process) as process,
            ):
                try:
                    greet(varied.source, process)
                except BadInput as error:
                    raise _Refused(f"The variant '{name}' does not start.", _of_start(error, printed)) from None
        return names

    def _conform(self, source: SystemSource) -> str:
        with tempfile.TemporaryDirectory(prefix="memeval-check-") as nowhere:
            results = self._options.results or Path(nowhere)
            report = check_conformance(source, results, self._notes, setup=self._options.setup)
        self.conformance = report.checks
        tally = Counter(each.outcome for each in report.checks)
        failed = [each for each in report.checks if each.outcome is CheckOutcome.FAILED]
        shown = ", ".join(each.name for each in failed if not each.mandatory)
        words = ", ".join(f"{tally[outcome]} {outcome}" for outcome in CheckOutcome if tally[outcome])
        detail = words + (f"; shown beside the scores: {shown}." if shown else ".")
        if not report.holds:
            raise _Refused(detail, [_of_check(each) for each in failed if each.mandatory])
        return detail

    def _finds_nothing(self) -> bool:
        """Whether it failed the first check of all: each question might then take all the time that it may."""
        return any(each.name == FIRST_CHECK and each.outcome is CheckOutcome.FAILED for each in self.conformance)

    def _smoke(self, source: SystemSource) -> str:
        exam = Exam.open(find(SMOKE_BENCHMARK), None, {"size": SMOKE_SIZE})
        with tempfile.TemporaryDirectory(prefix="memeval-check-") as results:
            options = RunOptions(Path(results), setup=self._options.setup, conformance=False, concurrency=2)
            run = run_system(source, exam, options, self._notes)
            rows = list(run.responses())
        errors = [row.error or row.outcome for row in rows if row.outcome.is_error]
        remedy = "Find the cause in what the system printed: memeval run shows it."
        if errors:
            problems = [Problem(sentence=error, remedy=remedy) for error in dict.fromkeys(errors)]
            raise _Refused(f"{len(errors)} of {len(rows)} questions failed.", problems[:QUOTED_ERRORS])
        if all(row.outcome is Outcome.EMPTY for row in rows):
            sentence = f"all {len(rows)} answers are blank."
            raise _Refused("It answered nothing.", [Problem(sentence=sentence, remedy="Let query return a text.")])
        return f"{SMOKE_BENCHMARK} in small: {len(rows)} questions, no error."


def _lacking(source: SystemSource) -> str | None:
    """Return a sentence where a system needs keys that are not here; it can be installed, and not run."""
    submission = _submission(source)
    missing = [host.key for host in submission.hosts if host.key is not None and not os.environ.get(host.key)]
    if missing:
        return f"Not made: it needs a key, and {missing[0]} is not set."
    if submission.declared_models and not endpoint_for(Caller.SYSTEM, needs_key=False).key:
        return "Not made: it needs models, and there is no key to reach them with. Set OPENAI_API_KEY."
    return None


def _without_hosts(source: SystemSource) -> SystemSource:
    """Return a system as one that reaches no host, so that it can be installed without their keys."""
    return replace(source, submission=_submission(source).model_copy(update={"hosts": ()}))


def _submission(source: SystemSource | None) -> Submission:
    """Return what a system that lies in a folder says of itself."""
    assert source is not None and source.submission is not None  # noqa: S101
    return source.submission


def _leave(why: str) -> str:
    raise _Left(why)


def _problem(error: MemevalError) -> Problem:
    return Problem(where=error.where, sentence=error.problem, remedy=error.remedy)


def _of_start(error: BadInput, printed: Iterable[str]) -> list[Problem]:
    """Return why a system cannot be loaded, and the end of its log, in which the cause often stands."""
    remedy = error.remedy or "It has to start by itself, in a clean environment that holds its own packages."
    told = (line.removeprefix(error.problem).strip() for line in printed)
    return [
        Problem(where=error.where, sentence=error.problem, remedy=remedy),
        *(Problem(sentence=f"Its log says: {line}") for line in told if line),
    ]


def _of_check(check: ConformanceCheck) -> Problem:
    return Problem(sentence=f"{check.name}: {check.detail}", remedy=check.remedy)
