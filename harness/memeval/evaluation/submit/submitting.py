"""Checks a submission: its files, its installation, its conformance, and a few items of a benchmark."""

import logging
import os
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from memeval.benchmarks import quick_benchmark
from memeval.benchmarks.session import BenchmarkSession
from memeval.conformance.suite import CHECKS
from memeval.evaluation.run.conforming import check_conformance
from memeval.evaluation.run.models import models_for
from memeval.evaluation.run.provenance import memeval_version
from memeval.evaluation.run.running import run_system
from memeval.evaluation.run.runtime import system_instances
from memeval.execution.journal import utc_now
from memeval.execution.preparation import PreparedSystem, prepare
from memeval.execution.progress import Progress
from memeval.execution.secrets import redact
from memeval.gateway.endpoints import endpoint_for
from memeval.local import is_local
from memeval.options import CheckOptions, ModelOptions, RunOptions
from memeval.records.base import Digest
from memeval.records.call import Caller
from memeval.records.conformance import (
    CheckOutcome,
    ConformanceCheck,
    Problem,
    Step,
    StepName,
    StepOutcome,
    SubmissionCheck,
)
from memeval.records.errors import BadInput, MemevalError
from memeval.records.response import Outcome
from memeval.records.submission import Submission
from memeval.records.track import Limits
from memeval.systems.folder import LOCK_BYTES, LOCKS, TOTAL_BYTES, examined_files
from memeval.systems.manifest import MANIFEST
from memeval.systems.messages import AdapterInfo
from memeval.systems.source import SystemSource, examined_folder, start_system, variant_source

QUOTED_ERRORS = 3
"""Number of different errors of the smoke step in a report."""

QUOTED_LINES = 10
"""Number of output lines in a report if a system does not start."""

SCANNED_BYTES = TOTAL_BYTES + len(LOCKS) * LOCK_BYTES
"""Maximum bytes to scan for secrets: the maximum size of a submission."""

FIRST_CHECK = CHECKS[0].name
"""The smoke step needs this conformance check to pass."""

FIX_FIRST = "Skipped: fix the errors above."


def check_submission(
    folder: Path, options: CheckOptions | None = None, note: Callable[[str], None] = lambda sentence: None
) -> SubmissionCheck:
    """Check a submission; a step that cannot run is skipped, with the reason.

    Returns the report: all steps, and every problem with file, line and remedy.
    """
    options = options or CheckOptions()
    check = _Check(folder, options, note)
    check.run()
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
    """A step failed."""

    def __init__(self, detail: str, problems: Sequence[Problem]) -> None:
        super().__init__(detail)
        self.problems = tuple(problems)


class _Skipped(Exception):
    """A step cannot run; the text says why."""


class _Notes(Progress):
    """Passes messages on, and no progress."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note

    def note(self, sentence: str) -> None:
        self._note(sentence)


class _Check:
    def __init__(self, folder: Path, options: CheckOptions, note: Callable[[str], None]) -> None:
        self._folder = folder
        self._options = options
        self._notes = _Notes(note)
        self.steps: list[Step] = []
        self.source: SystemSource | None = None
        self.prepared: PreparedSystem | None = None
        self.environment_digest: Digest | None = None
        self.conformance: tuple[ConformanceCheck, ...] = ()

    def run(self) -> None:
        read = self._step(StepName.READ, self._read)
        self._step(StepName.SECRETS, self._secrets)
        reason = FIX_FIRST if self._options.run else "Skipped: --no-run."
        later = [StepName.INSTALL, StepName.CONFORMANCE, StepName.SMOKE]
        if self.source is not None and read is StepOutcome.PASSED and self._options.run:
            source = self.source
            missing_key = _missing_key(source)
            installed = self._step(StepName.INSTALL, lambda: self._install(source, missing_key))
            reason, later = missing_key or FIX_FIRST, later[1:]
            if installed is StepOutcome.PASSED and missing_key is None:
                self._step(StepName.CONFORMANCE, lambda: self._conform(source))
                failed = (each.name for each in self.conformance if each.outcome is CheckOutcome.FAILED)
                if FIRST_CHECK in failed:  # each question could run until its time limit
                    reason = f"Skipped: fix {FIRST_CHECK} first."
                    later = later[-1:]
                else:
                    self._step(StepName.SMOKE, lambda: self._smoke(source))
                    return
        for name in later:
            self._step(name, lambda: _skip(reason))

    def _step(self, name: StepName, make: Callable[[], str]) -> StepOutcome:
        began = time.monotonic()
        problems: tuple[Problem, ...] = ()
        try:
            outcome, detail = StepOutcome.PASSED, make()
        except _Skipped as skipped:
            outcome, detail = StepOutcome.SKIPPED, str(skipped)
        except _Refused as refused:
            outcome, detail, problems = StepOutcome.FAILED, str(refused), refused.problems
        except MemevalError as error:
            outcome, detail, problems = StepOutcome.FAILED, "This step could not run.", (_problem(error),)
        self.steps.append(
            Step(name=name, outcome=outcome, detail=detail, seconds=time.monotonic() - began, problems=problems)
        )
        return outcome

    def _read(self) -> str:
        self.source, faults = examined_folder(self._folder)
        if (self._folder / MANIFEST).is_file() and not any(self._folder.glob("README*")):
            remedy = "Write how the system handles dates, both speakers and background indexing, and what it cannot do."
            faults = [*faults, BadInput("there is no README.md.", where=self._folder, remedy=remedy)]
        if faults:
            count = len(faults)
            raise _Refused(f"{count} problem{'s' if count > 1 else ''}.", [_problem(fault) for fault in faults])
        submission = _submission(self.source)
        return f"{submission.name} {submission.version}, kind {submission.kind}."

    def _secrets(self) -> str:
        if self.source is None and not (self._folder / MANIFEST).is_file():
            raise _Skipped(FIX_FIRST)
        files, faults = examined_files(self._folder)
        if sum(path.stat().st_size for path in files.values()) > SCANNED_BYTES:
            raise _Skipped("Skipped: the submission is too large to scan.")
        found = list(secrets_in(files))
        if found:
            raise _Refused("The files seem to contain a secret.", found)
        if faults:
            raise _Skipped("Skipped: some files cannot be scanned. Fix the errors above.")
        return f"{len(files)} files, no secrets found."

    def _install(self, source: SystemSource, missing_key: str | None) -> str:
        if missing_key:
            source = replace(source, submission=_submission(source).model_copy(update={"hosts": ()}))
        self.prepared = prepare(source, self._options.setup, self._notes.note)
        if missing_key:
            return "Installed, not started."
        adapter = self._start(self.prepared, "The system does not start.")
        self.environment_digest = self.prepared.environment_digest(adapter)
        sandbox = self.prepared.sandbox
        sandbox_note = f"Sandbox: {sandbox}." if sandbox else "NOT SANDBOXED: it can read your files."
        variants = self._start_variants(source)
        variants_note = f" Variants started: {', '.join(variants)}." if variants else ""
        return f"Started. Methods found: {', '.join(adapter.capabilities)}. {sandbox_note}{variants_note}"

    def _start_variants(self, source: SystemSource) -> list[str]:
        """Start each variant once, to check its parameters; return the names.

        Skips the variants whose key is missing.
        """
        missing_keys = {name: _missing_key(variant_source(source, name)) for name in _submission(source).variants}
        for name, sentence in missing_keys.items():
            if sentence is not None:
                self._notes.note(f"The variant '{name}' is not started: {sentence.removeprefix('Skipped: ')}")
        names = [name for name, sentence in missing_keys.items() if sentence is None]
        for name in names:
            prepared = prepare(variant_source(source, name), self._options.setup, self._notes.note)
            self._start(prepared, f"The variant '{name}' does not start.")
        return names

    def _start(self, prepared: PreparedSystem, refusal: str) -> AdapterInfo:
        printed: deque[str] = deque(maxlen=QUOTED_LINES)
        with (
            models_for(Path(), ModelOptions(), self._notes.note, on_disk=False) as models,
            system_instances(prepared, Limits(), models) as new_instance,
            closing(new_instance(printed.append).process) as process,
        ):
            try:
                return start_system(prepared.source, process)
            except BadInput as error:
                raise _Refused(refusal, _start_problems(error, printed)) from None

    def _conform(self, source: SystemSource) -> str:
        with tempfile.TemporaryDirectory(prefix="memeval-check-") as temporary:
            results = self._options.results or Path(temporary)
            report = check_conformance(source, results, self._notes, setup=self._options.setup)
        self.conformance = report.checks
        tally = Counter(each.outcome for each in report.checks)
        failed = [each for each in report.checks if each.outcome is CheckOutcome.FAILED]
        counts = ", ".join(f"{tally[outcome]} {outcome}" for outcome in CheckOutcome if tally[outcome])
        detail = f"{counts}."
        if failed and report.holds:
            detail += " The failed checks are not required. The site shows them beside the scores."
        if not report.holds:
            needed = (each for each in failed if each.mandatory)
            problems = [Problem(sentence=f"{each.name}: {each.detail}", remedy=each.remedy) for each in needed]
            raise _Refused(detail, problems)
        return detail

    def _smoke(self, source: SystemSource) -> str:
        benchmark = quick_benchmark()
        benchmark_session = BenchmarkSession.open(benchmark, None, benchmark.info.quick)
        with tempfile.TemporaryDirectory(prefix="memeval-check-") as results:
            options = RunOptions(Path(results), setup=self._options.setup, skip_conformance=True, concurrency=2)
            run = run_system(source, benchmark_session, options, self._notes)
            rows = list(run.responses())
        errors = [row.error or row.outcome for row in rows if row.outcome.is_error]
        if errors:
            problems = [Problem(sentence=error) for error in dict.fromkeys(errors)]
            raise _Refused(f"{len(errors)} of {len(rows)} questions failed.", problems[:QUOTED_ERRORS])
        if all(row.outcome is Outcome.EMPTY for row in rows):
            blank = Problem(sentence=f"all {len(rows)} answers are blank.", remedy="Return the answer from query.")
            raise _Refused("No answers.", [blank])
        return f"{len(rows)} questions of {benchmark.info.id}, no errors."


def _missing_key(source: SystemSource) -> str | None:
    submission = _submission(source)
    missing = [host for host in submission.hosts if host.key is not None and not os.environ.get(host.key)]
    if missing:
        return f"Skipped: {missing[0].key} is not set. Set it to the key for {missing[0].host}."
    needs_key = not all(map(is_local, submission.declared_models))
    if needs_key and not endpoint_for(Caller.SYSTEM, needs_key=False).key:
        return "Skipped: there is no key for the declared models. Set OPENAI_API_KEY."
    return None


def _submission(source: SystemSource | None) -> Submission:
    assert source is not None and source.submission is not None  # noqa: S101
    return source.submission


def _skip(reason: str) -> str:
    raise _Skipped(reason)


def _problem(error: MemevalError) -> Problem:
    return Problem(where=error.where, sentence=error.problem, remedy=error.remedy)


def _start_problems(error: BadInput, printed: Iterable[str]) -> list[Problem]:
    """Return the reason why a system does not start, and its last lines of output."""
    problem = _problem(error)
    if problem.remedy is None and str(problem.where).endswith(".py"):
        problem = problem.model_copy(update={"remedy": "Fix this error, then check again."})
    first_sentence = error.problem.partition(". ")[0].removesuffix(".") + "."
    lines = (line.removeprefix(first_sentence).strip() for line in printed)
    return [problem, *(Problem(sentence=f"Output: {line}") for line in lines if line)]


PLUGINS = (
    *("ArtifactoryDetector", "AWSKeyDetector", "AzureStorageKeyDetector", "BasicAuthDetector", "CloudantDetector"),
    *("DiscordBotTokenDetector", "GitHubTokenDetector", "GitLabTokenDetector", "IbmCloudIamDetector"),
    *("JwtTokenDetector", "MailchimpDetector", "NpmDetector", "OpenAIDetector", "PrivateKeyDetector"),
    *("PypiTokenDetector", "SendGridDetector", "SlackDetector", "SquareOAuthDetector", "StripeDetector"),
    *("TelegramBotTokenDetector", "TwilioKeyDetector"),
)
"""Detectors of keys with a known form. Detectors by variable name or randomness would also find digests."""

ENTROPY = {"name": "Base64HighEntropyString", "limit": 4.7}
"""Detector of keys without a known form: long random texts in quotes. Hexadecimal digests stay below the limit."""

LINE_LENGTH = 20_000
"""Maximum characters of a line: some detectors need hours for a line of a million."""

REVOKE = "Remove it, and revoke it if it was pushed. Use [[hosts]] or declared_models for keys."


def secrets_in(files: Mapping[str, Path]) -> Iterator[Problem]:
    """Yield possible secrets by file and line, without the secret itself.

    ``files``: the files of a submission by relative path. Lock files contain digests, so they are only scanned for keys
    with a known form.
    """
    from detect_secrets.core.scan import scan_file
    from detect_secrets.settings import transient_settings

    logging.getLogger("detect_secrets").setLevel(logging.CRITICAL)
    settings = {
        "plugins_used": [*({"name": plugin} for plugin in PLUGINS), ENTROPY],
        "filters_used": [
            {"path": "detect_secrets.filters.heuristic.is_sequential_string"},
            {"path": "detect_secrets.filters.heuristic.is_templated_secret"},
        ],
    }
    for name, path in files.items():
        if long := _long_line(path):
            sentence = f"has more than {LINE_LENGTH:,} characters, so it cannot be scanned for secrets."
            yield Problem(where=f"{path}:{long}", sentence=sentence, remedy="Break the line.")
            continue
        found: dict[int, str] = dict(_known_forms(path))
        if name not in LOCKS:
            with transient_settings(settings):
                for secret in scan_file(str(path)):
                    found.setdefault(secret.line_number, secret.type)
        for line in sorted(found):
            yield Problem(where=f"{path}:{line}", sentence=f"looks like a secret ({found[line]}).", remedy=REVOKE)


def _long_line(path: Path) -> int | None:
    """Return the number of the first line that is too long; ``None`` for binary files, which detectors skip."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except UnicodeDecodeError:
        return None
    return next((number for number, line in enumerate(lines, 1) if len(line) > LINE_LENGTH), None)


def _known_forms(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text("utf-8", errors="replace")
    if redact(text) == text:
        return
    for number, line in enumerate(text.split("\n"), 1):
        if redact(line) != line:
            yield number, "Key or password"
