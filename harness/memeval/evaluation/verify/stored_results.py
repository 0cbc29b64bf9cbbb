"""Verifies all that a results folder stores: runs, audits, reports, matrices, sources and the ledger."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from memeval.archive.audits import stored_audits
from memeval.archive.conformance import report_files
from memeval.archive.histories import history_faults
from memeval.archive.ledger import Ledger
from memeval.archive.matrices import MatrixFolder, files_of, stored_matrices
from memeval.archive.runs import HISTORY, RunFolder, runs_under
from memeval.archive.sources import SOURCES
from memeval.evaluation.plan.matrix import CellOutcome, matrix_of
from memeval.evaluation.verify.checks import files, systems
from memeval.evaluation.verify.checks.reports import check_audit, check_report
from memeval.evaluation.verify.checks.subject import Sessions
from memeval.evaluation.verify.findings import REMEDY, Check, Finding
from memeval.evaluation.verify.many_runs import RowsReader, checked_runs
from memeval.records.errors import BadInput, MemevalError, NotApplicable
from memeval.records.matrix import CellState, MatrixCell


def checks_of_results(path: Path, reader: RowsReader | None = None, jobs: int = 1) -> list[Check]:
    """Check the stored runs, audits, reports, matrices and ledger in a folder and its subfolders.

    A run that the ledger names must exist with unchanged bytes. Returns one result for each check of each run, audit,
    report and matrix, and one for the ledger. Raises ``BadInput`` if the folder has no run, audit or ledger. Raises
    ``CheckFailed`` if a process was killed.
    """
    folders, audits, ledger = runs_under(path), stored_audits(path), Ledger(path)
    if not folders and not audits and not ledger.path.exists():
        raise BadInput("no finished run found.", where=path, remedy="Name a run, or a folder that contains runs.")
    checks = []
    for folder, checked in zip(folders, checked_runs(folders, reader, jobs), strict=True):
        if (folder.path / "run.json").exists():
            checks += checked
    if equal := tuple(_equal_ids(folders)):
        checks.append(Check(files.NAME, equal))
    sessions = Sessions()
    checks += [check_audit(audit, sessions) for audit in audits]
    checks += [check_report(report) for report in report_files(path)]
    checks += [Check("matrices", tuple(verify_matrix(matrix, path))) for matrix in stored_matrices(path)]
    if (path / SOURCES).is_dir():
        checks.append(Check(SOURCES, tuple(systems.check_sources(path))))
    if (path / HISTORY).is_dir():
        faults = [Finding(str(fault.where), fault.problem, fault.remedy or REMEDY) for fault in history_faults(path)]
        of_versions = [found for each in sorted((path / HISTORY).glob("*/*")) for found in systems.check_sources(each)]
        checks.append(Check(HISTORY, (*faults, *of_versions)))
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
    try:
        entries = ledger.entries()
    except MemevalError as error:
        yield Finding(error.where or str(ledger.path), error.problem, error.remedy or REMEDY)
        return
    digests = {}
    for folder in folders:
        with suppress(MemevalError):
            digests[folder.path.name] = folder.digest
    for number, entry in enumerate(entries, start=1):
        where = f"{ledger.path}:{number}"
        if entry.run_id is None:
            continue
        if entry.run_id not in digests:
            yield Finding(where, f"names run {entry.run_id}, which is missing.", "Restore the run.")
        elif digests[entry.run_id] != entry.run_digest:
            yield Finding(where, f"names run {entry.run_id}, whose run.json has changed.")


MATRIX_REMEDY = "Run memeval matrix again, or restore the missing files."


def verify_matrix(stored: MatrixFolder, results: Path) -> list[Finding]:
    try:
        matrix = stored.matrix
        if not all(0 <= cell.benchmark < len(matrix.plan.benchmarks) for cell in matrix.cells):
            return [Finding(str(stored.path), "has a cell of a benchmark that its plan does not name.", MATRIX_REMEDY)]
        outcomes = [_outcome(cell, results) for cell in matrix.cells]
        if changed := list(filter(None, (_run_problem(cell, stored, results) for cell in matrix.cells))):
            return changed
        recomputed = matrix_of(matrix.plan, outcomes, results)
    except MemevalError as error:
        return [Finding(error.where or str(stored.path), error.problem, error.remedy or MATRIX_REMEDY)]
    if stored.path.name != matrix.plan.matrix_id:
        return [Finding(str(stored.path), f"the matrix belongs in {matrix.plan.matrix_id}.", "Move the folder back.")]
    paths = {stored.path / name: data for name, data in files_of(recomputed).items()}
    differing = [path for path, data in paths.items() if _bytes(path) != data]
    return [Finding(str(path), "does not match its runs.", MATRIX_REMEDY) for path in differing]


def _run_problem(cell: MatrixCell, stored: MatrixFolder, results: Path) -> Finding | None:
    """Return the problem if a cell's run is missing or changed."""
    if cell.run is None:
        return None
    folder = RunFolder(results / cell.run)
    if not (folder.path / "run.json").is_file():
        return Finding(str(stored.path), f"needs the run {cell.run}, which is missing.", "Restore the run.")
    if folder.digest != cell.run_digest:
        return Finding(str(stored.path), f"needs the run {cell.run}, whose run.json has changed.")
    return None


def _outcome(cell: MatrixCell, results: Path) -> CellOutcome:
    """Return the outcome of a stored cell. Raises ``BadInput`` if the cell names a path outside the results folder."""
    if cell.run is not None:
        parts = Path(cell.run).parts
        if len(parts) != 3 or ".." in parts or Path(cell.run).is_absolute():
            problem = f"a cell names {cell.run!r}, which is not a run in this results folder."
            raise BadInput(problem, remedy=MATRIX_REMEDY)
        return CellOutcome(cell.benchmark, cell.reader, cell.system, RunFolder(results / cell.run))
    kind: Callable[[str], MemevalError] = NotApplicable if cell.state is CellState.NOT_APPLICABLE else MemevalError
    error = None if cell.reason is None else kind(cell.reason)
    return CellOutcome(cell.benchmark, cell.reader, cell.system, error=error)


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
