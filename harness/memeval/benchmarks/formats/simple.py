"""The simplest file of answers: question ids with answers, or with ranked ids of sessions or turns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from memeval.benchmarks.formats.answers import UNKNOWN_VERSION, ImportedAnswer, ImportedAnswers, slug_of
from memeval.benchmarks.formats.reading import AnswerFile, once, refuse
from memeval.benchmarks.session import BenchmarkSession
from memeval.records.imported import Imported

FORMAT = "simple"

QUESTION, ANSWER, RETRIEVED = "question_id", "answer", "retrieved"
"""Names of the columns of a table, and of the fields of a line."""

LONGEST_ID = 200
"""Largest length of an id, in characters."""

_SHAPE = (
    "Write a JSON object of question ids with answers or lists of ids, or lines or a table with 'question_id' and "
    "'answer' or 'retrieved'."
)


def read(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    """Read answers or rankings; see :data:`memeval.exchange.formats.Reader`.

    Args:
        file: a JSON object, JSON lines, or a table with comma-separated values, whose lists of ids have spaces.
        benchmark_session: the benchmark; not used.

    Raises:
        BadInput: the file has another shape, two entries of one question, or both answers and rankings.
    """
    entries = [(where, _id(question, where), value) for where, question, value in _entries(file)]
    if not entries:
        refuse("the file contains no answers.", file.path, _SHAPE)
    once((where, question) for where, question, _value in entries)
    kinds = {isinstance(value, list) for _where, _question, value in entries}
    if len(kinds) > 1:
        refuse("the file has both answers and rankings.", file.path, "Score them in two files.")
    name = file.system or file.path.stem
    return ImportedAnswers(
        system=name,
        version=UNKNOWN_VERSION,
        slug=slug_of(name, FORMAT),
        answers=tuple(_answer(where, question, value) for where, question, value in entries),
        imported=Imported(format=FORMAT, file=file.path.name, digest=file.digest),
    )


def _entries(file: AnswerFile) -> Iterator[tuple[str, Any, Any]]:
    """Yield the place, the question id and the value of each entry."""
    if file.path.suffix == ".csv":
        yield from _table(file)
        return
    start = file.data.lstrip(b"\xef\xbb\xbf \t\r\n")
    lines = [line for line in start.split(b"\n") if line.strip()]
    if start[:1] == b"{" and (len(lines) == 1 or lines[0].rstrip()[-1:] != b"}"):
        content = file.json()
        if not (QUESTION in content and (ANSWER in content or RETRIEVED in content)):
            for question, value in content.items():
                yield f"{file.path}: '{question[:40]}'", question, value
            return
    for where, row in file.rows():
        if not isinstance(row, dict):
            refuse("this is not an object.", where, _SHAPE)
        if isinstance(row.get(RETRIEVED), str):
            refuse(f"'{RETRIEVED}' is not a list of ids.", where, _SHAPE)
        yield where, row.get(QUESTION), _value(row, where)


def _table(file: AnswerFile) -> Iterator[tuple[str, Any, Any]]:
    try:
        text = file.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        refuse(f"not UTF-8 at byte {error.start:,}.", file.path, "Save the file as UTF-8.")
    table = csv.DictReader(io.StringIO(text))
    names = table.fieldnames or []
    if QUESTION not in names or (ANSWER in names) == (RETRIEVED in names):
        refuse(f"the first line needs '{QUESTION}', and either '{ANSWER}' or '{RETRIEVED}'.", file.path, _SHAPE)
    for row in table:
        where = f"{file.path}:{table.line_num}"
        if None in row:
            refuse("the row has more fields than the first line.", where, "Put quotes around text with commas.")
        value = _value(row, where)
        yield where, row[QUESTION], value.split() if RETRIEVED in names and isinstance(value, str) else value


def _value(row: dict[str, Any], where: str) -> Any:
    if (ANSWER in row) == (RETRIEVED in row):
        refuse(f"needs either '{ANSWER}' or '{RETRIEVED}'.", where, _SHAPE)
    return row[ANSWER] if ANSWER in row else row[RETRIEVED]


def _id(value: Any, where: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_ID:
        refuse(f"'{QUESTION}' must be text of 1 to {LONGEST_ID} characters.", where, _SHAPE)
    return value


def _answer(where: str, question: str, value: Any) -> ImportedAnswer:
    if isinstance(value, str):
        return ImportedAnswer(question, value)
    if not isinstance(value, list):
        refuse("the value is neither an answer in quotes nor a list of ids.", where, _SHAPE)
    if not all(isinstance(each, str) and 0 < len(each) <= LONGEST_ID for each in value):
        refuse("a retrieved id is not text.", where, "Write ids in quotes.")
    repeated = next((each for each in value if value.count(each) > 1), None)
    if repeated is not None:
        refuse(f"the id '{repeated}' occurs twice in one ranking.", where, "Name each session or turn once.")
    return ImportedAnswer(question, "", tuple(value))
