"""Stored matrices, in folders under ``results/matrices``. They can be computed again from their runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from memeval.records.base import Stored
from memeval.records.errors import BadInput
from memeval.records.matrix import Matrix, MatrixResult
from memeval.storage import listed, unwritable, write_whole

MATRICES = "matrices"

HEAD = "matrix.json"
RESULT = "results-matrix-{}.json"


@dataclass(frozen=True)
class MatrixFolder:
    path: Path

    @cached_property
    def matrix(self) -> Matrix:
        where = self.path / HEAD
        try:
            return Matrix.parse(where.read_bytes(), where)
        except OSError as error:
            remedy = "Run memeval matrix again."
            raise BadInput(f"the file cannot be read ({error.strerror}).", where=where, remedy=remedy) from None


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
    return {name: _pretty(result) for name, result in results.items()} | {HEAD: _pretty(matrix)}


def write_matrix(results: Path, matrix: Matrix) -> MatrixFolder:
    folder = results / MATRICES / matrix.matrix_id
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files_of(matrix).items():
            path = folder / name
            if not path.is_file() or path.read_bytes() != data:
                write_whole(path, data)
    except OSError as error:
        raise unwritable(folder, error) from None
    return MatrixFolder(folder)


def _pretty(record: Stored) -> bytes:
    return (json.dumps(record.data(), sort_keys=True, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()
