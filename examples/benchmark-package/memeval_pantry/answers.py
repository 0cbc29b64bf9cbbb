"""Writes the file format: one JSON object with ``id`` and ``answer`` a line."""

from __future__ import annotations

from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.benchmarks.formats.writing import write_lines
from memeval.benchmarks.session import BenchmarkSession
from memeval.grading.base import last_attempts


def write(run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
    """Write the answers of a run; questions that failed are left out."""
    rows = last_attempts(run.responses()).values()
    return [
        write_lines(to, ({"id": row.question_id, "answer": row.answer} for row in rows if not row.outcome.is_error))
    ]
