"""Checks a stored matrix against the runs of its cells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memeval.archive.matrices import MatrixFolder, files_of
from memeval.archive.runs import RunFolder
from memeval.evaluation.plan.matrix import CellOutcome, matrix_of
from memeval.evaluation.verify.findings import Finding
from memeval.records.errors import BadInput, MemevalError, NotApplicable
from memeval.records.matrix import CellState, MatrixCell

REMEDY = "Run memeval matrix again, or restore the missing files."


def verify_matrix(stored: MatrixFolder, results: Path) -> list[Finding]:
    """Check a stored matrix against its runs.

    Returns:
        The problems; empty if there are none.
    """
    try:
        matrix = stored.matrix
        outcomes = [_outcome(cell, results) for cell in matrix.cells]
        if changed := [
            finding for cell in matrix.cells if (finding := _run_problem(cell, stored, results)) is not None
        ]:
            return changed
        recomputed = matrix_of(matrix.plan, outcomes, results)
    except MemevalError as error:
        return [Finding(error.where or str(stored.path), error.problem, error.remedy or REMEDY)]
    if stored.path.name != matrix.plan.matrix_id:
        return [Finding(str(stored.path), f"the matrix belongs in {matrix.plan.matrix_id}.", "Move the folder back.")]
    expected = files_of(recomputed)
    return [
        Finding(str(stored.path / name), "does not match its runs.", REMEDY)
        for name, data in expected.items()
        if _bytes(stored.path / name) != data
    ]


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
    """Return the outcome of a stored cell.

    Raises:
        BadInput: the cell names a path outside the results folder.
    """
    if cell.run is not None:
        parts = Path(cell.run).parts
        if len(parts) != 3 or ".." in parts or Path(cell.run).is_absolute():
            raise BadInput(f"a cell names {cell.run!r}, which is not a run in this results folder.", remedy=REMEDY)
        return CellOutcome(cell.benchmark, cell.reader, cell.system, RunFolder(results / cell.run))
    kind: Callable[[str], MemevalError] = NotApplicable if cell.state is CellState.NOT_APPLICABLE else MemevalError
    return CellOutcome(
        cell.benchmark, cell.reader, cell.system, error=None if cell.reason is None else kind(cell.reason)
    )


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
