"""The outcomes of ``memeval evaluate``: what was chosen, a job summary, annotations, and the exit code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memeval.cli.check_formats import annotation, verdict_of
from memeval.cli.check_formats import annotations_of as annotations_of_check
from memeval.cli.check_formats import summary_of as summary_of_check
from memeval.cli.outcomes import (
    SEVERITY,
    BenchmarkResult,
    BenchmarkState,
    all_failed_alike,
    over_the_gate,
    runnable,
    skipped,
)
from memeval.cli.reporting import score_in_table
from memeval.cli.shared import counted
from memeval.evaluation.commenting import harmless
from memeval.records.check import GateStatus, RegressionCheck
from memeval.records.errors import BadInput, CheckFailed, MemevalError

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder

Checked = RegressionCheck | MemevalError
"""The result of a check, or why a run could not be checked."""

LONGEST_SUMMARY = 900_000
"""Longest job summary, in characters; GitHub refuses more than 1 MiB."""

ALL, CONTROLS = "all", "controls"
"""Names of groups of systems."""


@dataclass(frozen=True)
class Choice:
    """A system that the caller chose."""

    named: str
    """How the caller or the group names it."""
    reader: str | None = None
    """A further reader of a baseline; ``None`` for that of the options."""
    in_group: bool = False
    """Whether it belongs to a group. Then it is no failure if it supports no benchmark."""

    @property
    def title(self) -> str:
        """Its name, with the further reader of a baseline."""
        return self.named if self.reader is None else f"{self.named} ({self.reader})"


@dataclass(frozen=True)
class Evaluation:
    """A system on a benchmark."""

    choice: Choice
    result: BenchmarkResult
    checks: tuple[Checked, ...] = ()
    """One for each run."""

    @property
    def folders(self) -> tuple[RunFolder, ...]:
        return self.result.folders

    @property
    def title(self) -> str:
        """The names of both."""
        return f"{self.choice.title} on {self.result.benchmark}"

    def data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        checks = [{"error": str(each)} if isinstance(each, MemevalError) else each.data() for each in self.checks]
        return self.result.data() | {"system": self.choice.named, "reader": self.choice.reader, "checks": checks}

    def errors(self) -> Iterator[MemevalError]:
        """Yield what failed."""
        state = self.result.state
        is_unsupported = state is BenchmarkState.NOT_APPLICABLE and not self.choice.in_group
        if self.result.error is not None and (state is BenchmarkState.FAILED or is_unsupported):
            yield self.result.error
        is_limited = any(folder.run.coverage.limit is not None for folder in self.folders)
        yield from all_failed_alike(self.folders) if is_limited else over_the_gate(self.folders)
        for each in self.checks:
            if isinstance(each, MemevalError):
                yield each
            elif each.status is GateStatus.REGRESSION:
                yield CheckFailed(verdict_of(each))


def choose_systems(text: str) -> list[Choice]:
    """Return the systems of a list, each once.

    Raises:
        BadInput: the list is empty, or a submission of the group ``all`` is not valid.
    """
    found: dict[Choice, None] = {}
    for name in _parts(text, "--systems"):
        if name == ALL:
            found |= dict.fromkeys(Choice(slug, in_group=True) for slug in _keyless())
        elif name == CONTROLS:
            found |= dict.fromkeys(_controls())
        else:
            found[Choice(name)] = None
    if not found:
        raise BadInput("there is no submission that needs no key.", remedy="Name systems with --systems.")
    return list(found)


def choose_benchmarks(text: str, tier: str | None) -> list[str]:
    """Return the ids of the benchmarks of a list, each once.

    Args:
        text: ids, or ``all`` for every benchmark whose data is here and that has the tier.
        tier: the tier of the runs.

    Raises:
        BadInput: the list is empty, or a benchmark is not known.
    """
    from memeval.benchmarks import find

    found: dict[str, None] = {}
    for name in _parts(text, "--benchmarks"):
        found |= dict.fromkeys(runnable(skipped(tier, None)) if name == ALL else [find(name).info.id])
    return list(found)


def _parts(text: str, option: str) -> list[str]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise BadInput("the list is empty.", where=option, remedy="Give names, separated by commas.")
    return parts


def _keyless() -> Iterator[str]:
    """Yield the slug of each submission that declares no model and no host."""
    from memeval.systems.source import MANIFEST, SUBMISSIONS, folder_source

    for manifest in sorted(SUBMISSIONS.glob(f"*/{MANIFEST}")):
        submission = folder_source(manifest.parent).submission
        if submission is not None and not submission.declared_models and not submission.hosts:
            yield submission.slug


def _controls() -> Iterator[Choice]:
    from memeval.systems.controls import CONTROLS as TABLE

    for slug, control in TABLE.items():
        yield Choice(slug, in_group=True)
        for reader in control.readers[1:]:  # the first one is its default
            yield Choice(slug, reader, in_group=True)


def summary_of(done: Sequence[Evaluation]) -> str:
    """Return the results as a Markdown table, followed by each check that did not pass."""
    lines = [
        "### memeval evaluate",
        "",
        "| system | benchmark | composite % | items | errors | check |",
        "| --- | --- | ---: | ---: | ---: | --- |",
    ]
    details = []
    for each in done:
        lines += (f"| {' | '.join(row)} |" for row in _rows(each))
        details += [
            summary_of_check(check)
            for check in each.checks
            if isinstance(check, RegressionCheck) and check.status in (GateStatus.REGRESSION, GateStatus.WARNING)
        ]
    text = "\n".join([*lines, "", *details])
    return text if len(text) <= LONGEST_SUMMARY else f"{text[:LONGEST_SUMMARY]}\n\nThe rest is in the log.\n"


def _rows(each: Evaluation) -> Iterator[tuple[str, ...]]:
    names = harmless(each.choice.title), harmless(each.result.benchmark)
    if not each.folders:
        reason = each.result.error.problem if each.result.error else "no run"
        is_failure = any(each.errors())
        yield *names, "–", "–", "–", f"{'✗ failed' if is_failure else 'skipped'}: {harmless(reason)}"
    for folder, check in zip(each.folders, each.checks, strict=True):
        run = folder.run
        score = score_in_table(run)
        items = f"{run.coverage.done}/{run.coverage.planned}"
        yield *names, score, items, str(run.scores.overall.errors), _status(check)


def _status(check: Checked) -> str:
    if isinstance(check, MemevalError):
        return f"✗ {harmless(check.problem)}"
    sign = {GateStatus.REGRESSION: "✗ ", GateStatus.WARNING: "! "}.get(check.status, "")
    return f"{sign}{check.status}"


def annotations_of(done: Sequence[Evaluation]) -> Iterator[str]:
    """Yield GitHub workflow commands: for each failed run, each regression and each warning."""
    for each in done:
        for check in each.checks:
            if isinstance(check, RegressionCheck) and check.status in (GateStatus.REGRESSION, GateStatus.WARNING):
                yield from annotations_of_check(check)
        told = {verdict_of(check) for check in each.checks if isinstance(check, RegressionCheck)}
        for error in each.errors():
            if error.problem not in told:
                yield annotation("error", f"memeval evaluate: {each.title}", str(error))
    failed = sum(any(each.errors()) for each in done)
    checked = sum(len(each.checks) for each in done)
    yield annotation("notice", "memeval evaluate", f"{counted(checked, 'run')} checked, {failed} failed.")


def raise_worst(done: Sequence[Evaluation]) -> None:
    """Raise if something failed.

    Raises:
        MemevalError: the only error; or one that names what failed, with the worst exit code of all.
        BadInput: there is no run.
    """
    failed = [(each.title, error) for each in done for error in each.errors()]
    if len(failed) == 1:
        raise failed[0][1]
    if failed:
        worst = MemevalError("\n".join([f"{len(failed)} problems:", *(f"{title}: {error}" for title, error in failed)]))
        worst.exit_code = min((error.exit_code for _title, error in failed), key=SEVERITY.index)
        raise worst
    if not any(each.folders for each in done):
        raise BadInput("no run: the systems support none of the benchmarks.", remedy="Choose others.")
