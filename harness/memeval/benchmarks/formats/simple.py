"""The simplest file of answers: question ids with answers, or with ranked ids of sessions or turns.

Code reads it, because an object of question ids has no rows, and one field holds either an answer or a ranking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memeval.benchmarks.formats.answers import UNKNOWN_VERSION, ImportedAnswer, ImportedAnswers, slug_of
from memeval.benchmarks.formats.reading import LONGEST_ID, NO_ANSWER, AnswerFile, missing, once, refuse
from memeval.benchmarks.formats.tables import SUFFIXES, table_rows
from memeval.benchmarks.session import BenchmarkSession
from memeval.records.imported import Imported
from memeval.systems.channel import visible

FORMAT = "simple"

QUESTION, ANSWER, RETRIEVED = "question_id", "answer", "retrieved"
"""Names of the columns of a table, and of the fields of a line."""

_ROW_START = re.compile(r"(?:\r\n|\n|\r) *([^\s,;]+)(?=[,;\t])")
"""The first field of a line inside a quoted text."""

_SHAPE = (
    "Write a JSON object of question ids with answers or lists of ids, or lines or a table with 'question_id' and "
    "'answer' or 'retrieved'."
)


def read(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    """Read answers or rankings; see :data:`memeval.exchange.formats.Reader`.

    Raises ``BadInput``: the file has another shape, two entries of one question, or both answers and rankings.

    Args:
        file: a JSON object, JSON lines, or a table with comma-separated values, whose lists of ids have spaces.
        benchmark_session: the benchmark, for the ids of its questions.
    """
    entries = [
        (where, _id(question, where), _plain(value)) for where, question, value in _entries(file, benchmark_session)
    ]
    if not entries:
        refuse("the file contains no answers.", file.path, _SHAPE)
    once((where, question) for where, question, _value in entries)
    kinds = {isinstance(value, list) for _where, _question, value in entries if value is not None}
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


def _entries(file: AnswerFile, benchmark_session: BenchmarkSession) -> Iterator[tuple[str, Any, Any]]:
    if file.path.suffix.lower() in SUFFIXES:
        yield from _table(file, benchmark_session)
        return
    content = file.json()
    if isinstance(content, dict) and not (QUESTION in content and (ANSWER in content or RETRIEVED in content)):
        for question, value in content.items():
            yield f"{file.path}: '{question[:40]}'", question, value
        return
    for where, row in file.rows():
        if not isinstance(row, dict):
            refuse("this is not an object.", where, _SHAPE)
        if isinstance(row.get(RETRIEVED), str):
            refuse(f"'{RETRIEVED}' is not a list of ids.", where, _SHAPE)
        yield where, row.get(QUESTION), _value(row, where)


def _table(file: AnswerFile, benchmark_session: BenchmarkSession) -> Iterator[tuple[str, Any, Any]]:
    known = {question for key in benchmark_session.dataset.keys() for question in key.question_ids}  # noqa: SIM118
    for where, row in table_rows(file.data, file.path, QUESTION):
        value = _value(row, where)
        swallowed = next((found[1] for found in _ROW_START.finditer(value) if found[1] in known), None)
        if swallowed is not None:
            refuse(
                f"the quoted text contains the row of question '{visible(swallowed)}'.",
                where,
                "Close the quote. If the text is right, write JSON.",
            )
        yield where, row[QUESTION], value.split() if RETRIEVED in row else value


def _value(row: dict[str, Any], where: str) -> Any:
    if (ANSWER in row) == (RETRIEVED in row):
        refuse(f"needs either '{ANSWER}' or '{RETRIEVED}'.", where, _SHAPE)
    return row[ANSWER] if ANSWER in row else row[RETRIEVED]


def _plain(value: Any) -> Any:
    return missing(value) if isinstance(value, int | float) else value


def _id(value: Any, where: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_ID:
        refuse(f"'{QUESTION}' must be text of 1 to {LONGEST_ID} characters.", where, _SHAPE)
    return value


def _answer(where: str, question: str, value: Any) -> ImportedAnswer:
    if isinstance(value, str):
        return ImportedAnswer(question, value)
    if value is None:
        return ImportedAnswer(question, "", error=NO_ANSWER)
    if not isinstance(value, list):
        refuse("the value is neither an answer in quotes nor a list of ids.", where, _SHAPE)
    if not all(isinstance(each, str) and 0 < len(each) <= LONGEST_ID for each in value):
        refuse("a retrieved id is not text.", where, "Write ids in quotes.")
    repeated = next((each for each in value if value.count(each) > 1), None)
    if repeated is not None:
        refuse(f"the id '{repeated}' occurs twice in one ranking.", where, "Name each session or turn once.")
    return ImportedAnswer(question, "", tuple(value))
