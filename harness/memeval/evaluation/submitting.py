"""Checking a submission, for its author as for its pull request: from its files to a few items of a benchmark."""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from memeval.archive.conformance import store
from memeval.benchmarks import find
from memeval.conformance.suite import SUITE, check_system
from memeval.evaluation.models import ModelOptions, models_for
from memeval.evaluation.plan import Exam
from memeval.evaluation.provenance import memeval_version
from memeval.evaluation.running import RunOptions, lending, run_system
from memeval.evaluation.secret_scan import secrets_in
from memeval.execution.door import Instance
from memeval.execution.journal import utc_now
from memeval.gateway.endpoints import endpoint_for
from memeval.records.call import Caller
from memeval.records.conformance import CheckOutcome, Conformance, ConformanceCheck
from memeval.records.errors import MemevalError
from memeval.records.response import Outcome
from memeval.records.run import Isolation, Network
from memeval.records.submission import Submission
from memeval.records.submitting import Problem, Step, StepName, StepOutcome, SubmissionCheck
from memeval.records.track import Limits
from memeval.systems.child import Launch
from memeval.systems.environments import environment_for
from memeval.systems.folder import examined_files
from memeval.systems.messages import Hello
from memeval.systems.output import Log
from memeval.systems.process import SystemProcess
from memeval.systems.sandbox import Sandbox, SandboxMode, find_sandbox
from memeval.systems.source import SystemSource, examined_folder, greet

SMOKE_BENCHMARK = "beliefs@1"
SMOKE_SIZE = 20
"""What the smoke step runs: so many items, generated like the benchmark's own, in seconds and with no key."""

QUOTED_ERRORS = 3
"""How many failed items a report tells of."""

FIRST = "Not made: what is wrong above comes first."


@dataclass(frozen=True)
class CheckOptions:
    """How a submission is checked."""

    run: bool = True
    """Whether it is also installed and run."""
    results: Path | None = None
    """The results folder that the report of the conformance suite is kept in; ``None`` keeps none."""
    sandbox: SandboxMode = SandboxMode.AUTO
    """Whether it runs in a sandbox."""


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
    source, hello = check.source, check.hello
    return SubmissionCheck(
        folder=str(folder),
        slug=source.slug if source else None,
        submission_digest=source.submission_digest if source else None,
        environment_digest=hello.environment_digest if hello else None,
        memeval=memeval_version(),
        sandbox=None if check.sandbox is None or hello is None else str(check.sandbox),
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


class _Check:
    """One check as it goes."""

    def __init__(self, folder: Path, options: CheckOptions, note: Callable[[str], None]) -> None:
        self._folder = folder
        self._options = options
        self._note = note
        self.steps: list[Step] = []
        self.source: SystemSource | None = None
        self.sandbox: Sandbox | None = None
        self.hello: Hello | None = None
        self.conformance: tuple[ConformanceCheck, ...] = ()

    def make(self) -> None:
        """Make all steps."""
        self._step(StepName.READ, self._read)
        self._step(StepName.SECRETS, self._secrets)
        runnable = self.source if self.steps[0].outcome is StepOutcome.PASSED else None
        if runnable is None or not self._options.run:
            why = FIRST if self._options.run else "Not asked for."
            for name in (StepName.INSTALL, StepName.CONFORMANCE, StepName.SMOKE):
                self._step(name, lambda: _leave(why))
            return
        lacking = _lacking(runnable)
        with ExitStack() as stack:

            def install() -> str:
                self.sandbox = find_sandbox(self._options.sandbox, self._note)
                return self._install(stack, runnable)

            installed = self._step(StepName.INSTALL, install)
            why = lacking or FIRST
            ready = installed is StepOutcome.PASSED and not lacking
            self._step(StepName.CONFORMANCE, self._conform if ready else lambda: _leave(why))
        self._step(StepName.SMOKE, (lambda: self._smoke(runnable)) if ready else lambda: _leave(why))

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
        files, faults = examined_files(self._folder) if self._folder.is_dir() else ({}, [])
        found = list(secrets_in(files))
        if found:
            raise _Refused("Something looks like a key.", found)
        if faults:
            raise _Left("Some files cannot be looked at; see above.")
        return f"{len(files)} files, and nothing in them looks like a key."

    def _install(self, stack: ExitStack, source: SystemSource) -> str:
        self.source, self._new_instance = stack.enter_context(_lent(source, self.sandbox, self._note))
        first = self._new_instance(lambda line: None)
        with closing(first.process):
            self.hello = greet(self.source, first.process)
        held = f"in {self.sandbox}" if self.sandbox else "without a sandbox: FILES REACHABLE"
        return f"It is there ({', '.join(self.hello.capabilities)}), {held}."

    def _conform(self) -> str:
        source, submission, hello = self._runnable()
        self.conformance = check_system(
            self._new_instance, seed=source.submission_digest, deterministic=submission.deterministic
        )
        report = Conformance(
            slug=source.slug,
            version=source.version,
            submission_digest=source.submission_digest,
            environment_digest=hello.environment_digest,
            suite=SUITE,
            isolation=Isolation.SANDBOXED if self.sandbox else Isolation.FILES_REACHABLE,
            network=_network(submission, self.sandbox),
            at=utc_now(),
            checks=self.conformance,
        )
        if self._options.results is not None:
            store(self._options.results, report)
        failed = [each for each in self.conformance if each.outcome is CheckOutcome.FAILED]
        refused = [_of_check(each) for each in failed if each.mandatory]
        tally = Counter(each.outcome for each in self.conformance)
        others = ", ".join(each.name for each in failed if not each.mandatory)
        words = [f"{tally[outcome]} {outcome}" for outcome in CheckOutcome if tally[outcome]]
        detail = ", ".join(words) + (f"; what does not hold is shown beside the scores: {others}." if others else ".")
        if not report.holds:
            raise _Refused(detail, refused)
        return detail

    def _smoke(self, source: SystemSource) -> str:
        exam = Exam.open(find(SMOKE_BENCHMARK), None, {"size": SMOKE_SIZE})
        with tempfile.TemporaryDirectory(prefix="memeval-check-") as results:
            run = run_system(source, exam, RunOptions(results=Path(results), concurrency=2))
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

    def _runnable(self) -> tuple[SystemSource, Submission, Hello]:
        """Return what there is once a system has answered."""
        assert self.source is not None and self.hello is not None  # noqa: S101
        return self.source, _submission(self.source), self.hello


@contextmanager
def _lent(
    source: SystemSource, sandbox: Sandbox | None, note: Callable[[str], None]
) -> Iterator[tuple[SystemSource, Callable[[Log], Instance]]]:
    """Yield a system with its environment built, and what makes its instances."""
    prepared = replace(source, launch=_in_environment(source.launch, note))
    with models_for(Path(), ModelOptions(), note, on_disk=False) as models, lending(prepared, Limits(), models) as made:
        if source.declared_models:
            yield prepared, made
        else:
            yield prepared, lambda log: Instance(SystemProcess(prepared.launch, Limits(), log, sandbox=sandbox))


def _in_environment(launch: Launch, note: Callable[[str], None]) -> Launch:
    folder = launch.folder
    environment = None if folder is None else environment_for(folder, launch.file, note=note)
    if environment is None:
        return launch
    if environment.python is not None and not launch.program and launch.file.parent == folder:
        launch = replace(launch, interpreter=environment.python, own_interpreter=False)
    return replace(
        launch,
        path=environment.path,
        shown=(*launch.shown, *environment.shown),
        variables={**launch.variables, **environment.variables},
    )


def _lacking(source: SystemSource) -> str | None:
    """Return a sentence where a system needs keys that are not here; it can be installed, and not run."""
    submission = _submission(source)
    missing = [host.key for host in submission.hosts if host.key is not None and not os.environ.get(host.key)]
    if missing:
        return f"Not made: it needs a key, and {missing[0]} is not set."
    if submission.declared_models and not endpoint_for(Caller.SYSTEM).key:
        return "Not made: it needs models, and there is no key to reach them with. Set OPENAI_API_KEY."
    return None


def _network(submission: Submission, sandbox: Sandbox | None) -> Network:
    if sandbox is None:
        return Network.OPEN
    if submission.hosts:
        return Network.DECLARED
    return Network.GATEWAY if submission.declared_models else Network.NONE


def _submission(source: SystemSource | None) -> Submission:
    """Return what a system that lies in a folder says of itself."""
    assert source is not None and source.submission is not None  # noqa: S101
    return source.submission


def _leave(why: str) -> str:
    raise _Left(why)


def _problem(error: MemevalError) -> Problem:
    return Problem(where=error.where, sentence=error.problem, remedy=error.remedy)


def _of_check(check: ConformanceCheck) -> Problem:
    return Problem(sentence=f"{check.name}: {check.detail}", remedy=check.remedy)
