"""Verifies stored runs, audits, reports, matrices and the ledger: what can be computed here is computed again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from memeval.archive.audits import stored_audits
from memeval.archive.conformance import report_files
from memeval.archive.ledger import Ledger
from memeval.archive.matrices import stored_matrices
from memeval.archive.runs import RunFolder, runs_under
from memeval.archive.sources import SOURCES
from memeval.evaluation.findings import REMEDY, Check, Finding
from memeval.evaluation.matrix import verify_matrix
from memeval.evaluation.verifying import (
    calls,
    clocks,
    contexts,
    controls,
    files,
    judgments,
    rows,
    scores,
    systems,
    track,
)
from memeval.evaluation.verifying.reports import check_audit, check_report
from memeval.evaluation.verifying.sessions import Sessions
from memeval.evaluation.verifying.subject import Subject
from memeval.records.errors import BadInput, MemevalError
from memeval.records.response import Response

CHECKS: tuple[tuple[str, Callable[[Subject], Check | None]], ...] = (
    (track.NAME, track.check_track),
    (systems.NAME, lambda subject: systems.check_system(subject.folder)),
    (rows.NAME, rows.check_rows),
    (contexts.NAME, contexts.check_contexts),
    (scores.NAME, scores.check_scores),
    (judgments.NAME, judgments.check_judgments),
    (calls.NAME, calls.check_calls),
    (clocks.NAME, clocks.check_clocks),
    (controls.NAME, controls.check_control),
)
"""The checks of a run whose files can be read, by name, in the order of their lines.

A check that does not apply to a run gives ``None``.
"""

OnRead = Callable[[RunFolder, Sequence[Response]], None]

MOST = 20
"""Maximum number of problems of one check of one run that are named."""


def checks_of_run(folder: RunFolder, sessions: Sessions | None = None, on_read: OnRead | None = None) -> list[Check]:
    """Check a stored run, without network; with the benchmark's data where that is here.

    Args:
        folder: the run.
        sessions: benchmarks that are open already; ``None`` to open them.
        on_read: called with the run and its responses, for those who need them too.

    Returns:
        One result a check, always in the same order. A check that was not made says why.
    """
    try:
        digests = files.check_files(folder)
        if digests.findings and not folder.has_rows:
            return [digests, *_not_made("files are missing")]
        subject = Subject.read(folder, sessions or Sessions())
        if on_read is not None:
            on_read(folder, subject.responses)
    except MemevalError as error:
        found = Finding(error.where or str(folder.path / "run.json"), error.problem, error.remedy or REMEDY)
        return [Check(files.NAME, (*_digests(folder), found)), *_not_made("a file cannot be read")]
    made = (_made(name, check, subject) for name, check in CHECKS)
    return [digests, *(each for each in made if each is not None)]


def _made(name: str, check: Callable[[Subject], Check | None], subject: Subject) -> Check | None:
    """Make a check. Rows that do not fit the data are a problem of the run. Of many problems, the first are named."""
    try:
        made = check(subject)
    except MemevalError as error:
        return Check(name, (Finding(error.where or subject.head, error.problem, error.remedy or REMEDY),))
    if made is None or len(made.findings) <= MOST:
        return made
    more = Finding(made.findings[MOST].where, f"and {len(made.findings) - MOST:,} more problems of the {name}.")
    return replace(made, findings=(*made.findings[:MOST], more))


def _digests(folder: RunFolder) -> tuple[Finding, ...]:
    """Return the problems of the files, if the head can be read."""
    try:
        return files.check_files(folder).findings
    except MemevalError:
        return ()


def _not_made(reason: str) -> Iterator[Check]:
    return (Check(name, (), reason) for name, _check in CHECKS if name != controls.NAME)


def verify_run(folder: RunFolder, sessions: Sessions | None = None) -> list[Finding]:
    """Check a stored run; see :func:`checks_of_run`.

    Returns:
        The problems; empty if there are none.
    """
    return [finding for check in checks_of_run(folder, sessions) for finding in check.findings]


def checks_of_results(path: Path, on_read: OnRead | None = None) -> list[Check]:
    """Check the stored runs, audits, reports, matrices and ledger in a folder and its subfolders.

    A run that the ledger names must exist with unchanged bytes.

    Args:
        path: the folder.
        on_read: called with each run and its responses, for those who need them too.

    Returns:
        One result for each check of each run, audit, report and matrix, and one for the ledger.

    Raises:
        BadInput: the folder has no run, audit or ledger.
    """
    folders, audits, ledger = runs_under(path), stored_audits(path), Ledger(path)
    if not folders and not audits and not ledger.path.exists():
        raise BadInput("no finished run found.", where=path, remedy="Name a run, or a folder that contains runs.")
    sessions = Sessions(folders=folders)
    checks = []
    for folder in folders:
        checked = checks_of_run(folder, sessions, on_read)
        if not _is_deleted(folder):
            checks += checked
    if equal := tuple(_equal_ids(folders)):
        checks.append(Check(files.NAME, equal))
    checks += [check_audit(audit, sessions) for audit in audits]
    checks += [check_report(report) for report in report_files(path)]
    checks += [Check("matrices", tuple(verify_matrix(matrix, path))) for matrix in stored_matrices(path)]
    if (path / SOURCES).is_dir():
        checks.append(Check(SOURCES, tuple(systems.check_sources(path))))
    return [*checks, Check("ledger", tuple(_ledger(ledger, folders)))] if ledger.path.exists() else checks


def _equal_ids(folders: list[RunFolder]) -> Iterator[Finding]:
    """Find runs whose id another run has too: the ledger would not say which of them it names."""
    by_id: dict[str, list[RunFolder]] = defaultdict(list)
    for folder in folders:
        by_id[folder.path.name].append(folder)
    for run_id, (first, *others) in by_id.items():
        for other in others:
            where = str(other.path)
            yield Finding(where, f"{first.path} has the same id {run_id}.", "Remove one of them, and run it again.")


def _ledger(ledger: Ledger, folders: list[RunFolder]) -> Iterator[Finding]:
    """Check that the ledger can be read, and that its runs exist with unchanged bytes."""
    try:
        entries = ledger.entries()
    except MemevalError as error:
        yield Finding(error.where or str(ledger.path), error.problem, error.remedy or REMEDY)
        return
    digests = {folder.path.name: folder.digest for folder in folders if _has_head(folder)}
    for number, entry in enumerate(entries, start=1):
        where = f"{ledger.path}:{number}"
        if entry.run_id is None:
            continue
        if entry.run_id not in digests:
            yield Finding(where, f"names run {entry.run_id}, which is missing.", "Restore the run.")
        elif digests[entry.run_id] != entry.run_digest:
            yield Finding(where, f"names run {entry.run_id}, whose run.json has changed.")


def _is_deleted(folder: RunFolder) -> bool:
    """Return whether another process deleted the run after it was listed."""
    return not (folder.path / "run.json").exists()


def _has_head(folder: RunFolder) -> bool:
    try:
        return bool(folder.head_bytes)
    except MemevalError:
        return False
