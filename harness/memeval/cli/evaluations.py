"""The outcomes of ``memeval evaluate``: what was chosen, a job summary, annotations, and the exit code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memeval.cli.check_formats import annotation, verdict_of
from memeval.cli.check_formats import annotations_of as annotations_of_check
from memeval.cli.check_formats import summary_of as summary_of_check
from memeval.cli.outcomes import FAILED, all_failed_alike, data_of, over_the_gate, worst_of
from memeval.cli.reporting import score_in_table
from memeval.cli.shared import counted
from memeval.evaluation.submit.proposed_results import harmless
from memeval.records.check import GateStatus, RegressionCheck
from memeval.records.errors import BadInput, CheckFailed, MemevalError

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder
    from memeval.evaluation.plan.executing import PlannedRun, RunOutcome
    from memeval.options import RunOptions

Checked = RegressionCheck | MemevalError
"""The result of a check, or why a run could not be checked."""

LONGEST_SUMMARY = 900_000
"""Longest job summary, in characters; GitHub refuses more than 1 MiB."""

ALL = "all"
"""The name of all submissions that need no key, or of all benchmarks that can run here."""


@dataclass(frozen=True)
class Evaluation:
    """A run, and its checks."""

    outcome: RunOutcome
    checks: tuple[Checked, ...] = ()
    """One for each run."""

    @property
    def folders(self) -> tuple[RunFolder, ...]:
        return self.outcome.folders

    @property
    def title(self) -> str:
        return f"{title_of(self.outcome.planned)} on {self.outcome.planned.benchmark}"

    def data(self) -> dict[str, Any]:
        checks = [{"error": str(each)} if isinstance(each, MemevalError) else each.data() for each in self.checks]
        planned = self.outcome.planned
        return data_of(self.outcome) | {"system": planned.slug, "reader": planned.reader, "checks": checks}

    def errors(self) -> Iterator[MemevalError]:
        if self.outcome.error is not None and (self.outcome.state == FAILED or self.outcome.planned.named):
            yield self.outcome.error
        is_limited = any(folder.run.coverage.limit is not None for folder in self.folders)
        yield from all_failed_alike(self.folders) if is_limited else over_the_gate(self.folders)
        for each in self.checks:
            if isinstance(each, MemevalError):
                yield each
            elif each.status is GateStatus.REGRESSION:
                yield CheckFailed(verdict_of(each))


def title_of(planned: PlannedRun) -> str:
    """Return the name of a system, with the reader that the plan names."""
    return planned.slug if planned.reader is None else f"{planned.slug} ({planned.reader})"


def plan_of(systems: str, benchmarks: Sequence[str], options: RunOptions) -> list[PlannedRun]:
    """Return the runs of all systems of a list on benchmarks, each once.

    Raises ``BadInput`` if the list is empty, or a submission of the group ``all`` is not valid.
    """
    from memeval.benchmarks import find
    from memeval.evaluation.plan.executing import ALL_SUBMISSIONS, CONTROLS, PlannedRun, readers_for, systems_named

    found: dict[tuple[str, str, str | None], PlannedRun] = {}
    groups = {ALL: ALL_SUBMISSIONS, CONTROLS: CONTROLS}
    for benchmark in benchmarks:
        info, named = find(benchmark).info, () if options.reader is None else (options.reader,)
        for name in _parts(systems, "--systems"):
            runs = [PlannedRun(name, benchmark)]
            if name in groups:
                runs = [
                    PlannedRun(source, benchmark, reader=reader, named=False)
                    for source in systems_named(groups[name], info)
                    for reader in readers_for(source, info, options.protocol, named)
                ]
            found |= {(benchmark, run.slug, run.reader): run for run in runs}
    if benchmarks and not found:
        raise BadInput("there is no submission that needs no key.", remedy="Name systems with --systems.")
    return list(found.values())


def choose_benchmarks(text: str, tier: str | None) -> list[str]:
    """Return the ids of the benchmarks of a list, each once.

    ``text``: ids, or ``all`` for every benchmark whose data is here and that has the tier. ``tier``: the tier of the
    runs. Raises ``BadInput`` if the list is empty, or a benchmark is not known.
    """
    from memeval.benchmarks import find
    from memeval.evaluation.plan.executing import runnable

    found: dict[str, None] = {}
    for name in _parts(text, "--benchmarks"):
        found |= dict.fromkeys(runnable(tier) if name == ALL else [find(name).info.id])
    return list(found)


def _parts(text: str, option: str) -> list[str]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise BadInput("the list is empty.", where=option, remedy="Give names, separated by commas.")
    return parts


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
    names = harmless(title_of(each.outcome.planned)), harmless(each.outcome.planned.benchmark)
    if not each.folders:
        reason = each.outcome.error.problem if each.outcome.error else "no run"
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

    Raises ``MemevalError`` if the only error; or one that names what failed, with the worst exit code of all. Raises
    ``BadInput`` if there is no run.
    """
    failed = [(each.title, error) for each in done for error in each.errors()]
    if len(failed) == 1:
        raise failed[0][1]
    if failed:
        lines = [f"{len(failed)} problems:", *(f"{title}: {error}" for title, error in failed)]
        raise worst_of([error for _title, error in failed], "\n".join(lines))
    if not any(each.folders for each in done):
        raise BadInput("no run: the systems support none of the benchmarks.", remedy="Choose others.")
