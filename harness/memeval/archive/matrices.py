"""Stored matrices, in folders under ``results/matrices``. They can be computed again from their runs."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from memeval.archive.rows import indented, write_files
from memeval.records.matrix import Matrix, MatrixResult
from memeval.storage import listed, readable

MATRICES = "matrices"

HEAD = "matrix.json"
RESULT = "results-matrix-{}.json"


@dataclass(frozen=True)
class MatrixFolder:
    path: Path

    @cached_property
    def matrix(self) -> Matrix:
        where = self.path / HEAD
        with readable(where, "Run memeval matrix again."):
            return Matrix.parse(where.read_bytes(), where)


def stored_matrices(results: Path) -> list[MatrixFolder]:
    return [MatrixFolder(head.parent) for head in listed(results / MATRICES, f"*/{HEAD}")]


def files_of(matrix: Matrix) -> dict[str, bytes]:
    results = {
        RESULT.format(system.id): MatrixResult(
            matrix_id=matrix.matrix_id,
            configuration=system,
            cells=tuple(cell for cell in matrix.cells if cell.system == system.id),
            tests=tuple(test for test in matrix.tests if test.system == system.id),
            gates=tuple(gate for gate in matrix.gates if gate.system == system.id),
        )
        for system in matrix.plan.systems
    }
    return {name: indented(result.data()) for name, result in results.items()} | {HEAD: indented(matrix.data())}


def write_matrix(results: Path, matrix: Matrix) -> MatrixFolder:
    folder = results / MATRICES / matrix.matrix_id
    files = {folder / name: data for name, data in files_of(matrix).items()}
    write_files({path: data for path, data in files.items() if not path.is_file() or path.read_bytes() != data})
    return MatrixFolder(folder)
