"""The file format: one JSON object with ``id`` and ``answer`` a line."""

from __future__ import annotations

from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.benchmarks.formats.answers import UNKNOWN_VERSION, ImportedAnswer, ImportedAnswers, slug_of
from memeval.benchmarks.formats.reading import AnswerFile, ForeignRecord, Id, Text, fitted, once
from memeval.benchmarks.formats.writing import write_lines
from memeval.benchmarks.session import BenchmarkSession
from memeval.grading.rows import last_attempts
from memeval.records.imported import Imported

FORMAT = "pantry"


class AnswerRow(ForeignRecord):
    """One line of the file."""

    id: Id
    answer: Text


def read(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    """Read a file of answers.

    Raises:
        BadInput: the file is invalid.
    """
    rows = [(where, fitted(AnswerRow, value, where)) for where, value in file.rows()]
    once((where, row.id) for where, row in rows)
    name = file.system or file.path.stem
    return ImportedAnswers(
        system=name,
        version=UNKNOWN_VERSION,
        slug=slug_of(name, FORMAT),
        answers=tuple(ImportedAnswer(row.id, row.answer) for _where, row in rows),
        imported=Imported(format=FORMAT, file=file.path.name, digest=file.digest),
    )


def write(run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
    """Write the answers of a run; questions that failed are left out."""
    rows = last_attempts(run.responses()).values()
    return [
        write_lines(to, ({"id": row.question_id, "answer": row.answer} for row in rows if not row.outcome.is_error))
    ]
