"""The simplest file of answers: question ids with answers, or with ranked ids of sessions or turns.

Code reads it, because an object of question ids has no rows, and one field holds either an answer or a ranking. Tables
are read strictly, each fault with its line: Python's own reader limits a field's length for the whole process, refuses
the line ends of old Macs, and takes the rows after an unclosed quote for text.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from memeval.benchmarks.formats.reading import (
    LONGEST_ID,
    NO_ANSWER,
    AnswerFile,
    ImportedAnswer,
    ImportedAnswers,
    decoded,
    imported_answers,
    missing,
    once,
    refuse,
)
from memeval.benchmarks.session import BenchmarkSession
from memeval.systems.channel import visible

SUFFIXES = frozenset({".csv", ".tab", ".tsv"})

_DELIMITERS = (",", "\t", ";")
_QUOTED = re.compile(r'"((?:[^"]++|"")*+)"')
_LINE_END = re.compile(r"\r\n|\r|\n")


def table_rows(data: bytes, where: object, needed: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of a table by the names in its first line, each with its location.

    Raises ``BadInput``: a quote is not closed, or a row has more or fewer fields than the first line. ``data``: the
    bytes of the file: UTF-8, with commas, tabs or semicolons between fields, and any line ends. ``needed``: a name that
    the first line must have. The character that separates it from the others separates fields.
    """
    text = decoded(data, where)
    if "\0" in text:
        refuse("the file contains NUL characters.", where, "Save the file as UTF-8 text.")
    delimiter = next((each for each in _DELIMITERS if needed in _names(text, each)), ",")
    names: list[str] = []
    for line, fields in _records(text, delimiter, where):
        place = f"{where}:{line}"
        if not names:
            names = [name.strip() for name in fields]
            repeated = next((name for name in names if names.count(name) > 1), None)
            if repeated is not None:
                refuse(f"two columns have the name '{repeated[:40]}'.", place, "Name each column once.")
            if needed not in names:
                refuse(f"the first line needs '{needed}'.", place, "Write the names of the columns in the first line.")
            continue
        if len(fields) > len(names):
            refuse("the row has more fields than the first line.", place, "Put quotes around text with commas.")
        if len(fields) < len(names):
            refuse("the row has fewer fields than the first line.", place, "Write a field for each column.")
        yield place, dict(zip(names, fields, strict=True))


def _names(text: str, delimiter: str) -> list[str]:
    first = _LINE_END.split(text.lstrip("\r\n"), maxsplit=1)[0]
    return [name.strip().strip('"') for name in first.split(delimiter)]


def _records(text: str, delimiter: str, where: object) -> Iterator[tuple[int, list[str]]]:
    bare = re.compile(rf"[^{delimiter}\r\n]*")
    at, line, first = 0, 1, 1
    fields: list[str] = []
    while at < len(text):
        if text[at] == '"':
            found = _QUOTED.match(text, at)
            if found is None:
                refuse("a quote is not closed.", f"{where}:{line}", "Close it, and double each quote inside the text.")
            fields.append(found[1].replace('""', '"'))
        else:
            found = bare.match(text, at)
            if found is None or found[0].lstrip().startswith('"'):
                refuse("a quote stands after spaces.", f"{where}:{line}", "Remove the spaces before the quote.")
            fields.append(found[0])
        opened, at = line, found.end()
        line += len(_LINE_END.findall(found[0]))
        if text.startswith(delimiter, at):
            at += 1
            if at < len(text):
                continue
            fields.append("")
        end = _LINE_END.match(text, at)
        if end is None and at < len(text):
            refuse(
                "text follows a closed quote.",
                f"{where}:{opened}",
                "Close each quote before the next field, and double each quote inside the text.",
            )
        if fields != [""]:
            yield first, fields
        at, line, fields = (at if end is None else end.end()), line + 1, []
        first = line


FORMAT = "simple"

QUESTION, ANSWER, RETRIEVED = "question_id", "answer", "retrieved"

_ROW_START = re.compile(r"(?:\r\n|\n|\r) *([^\s,;]+)(?=[,;\t])")
"""The first field of a line inside a quoted text."""

_SHAPE = (
    "Write a JSON object of question ids with answers or lists of ids, or lines or a table with 'question_id' and "
    "'answer' or 'retrieved'."
)


def read(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    """Read answers or rankings; see :data:`memeval.exchange.formats.Reader`.

    Raises ``BadInput``: the file has another shape, two entries of one question, or both answers and rankings.
    ``file``: a JSON object, JSON lines, or a table with comma-separated values, whose lists of ids have spaces.
    """
    entries = [
        (where, _id(question, where), missing(value) if isinstance(value, int | float) else value)
        for where, question, value in _entries(file, benchmark_session)
    ]
    if not entries:
        refuse("the file contains no answers.", file.path, _SHAPE)
    once((where, question) for where, question, _value in entries)
    kinds = {isinstance(value, list) for _where, _question, value in entries if value is not None}
    if len(kinds) > 1:
        refuse("the file has both answers and rankings.", file.path, "Score them in two files.")
    answers = (_answer(where, question, value) for where, question, value in entries)
    return imported_answers(file, FORMAT, file.system or file.path.stem, answers)


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
    known = {question for key in benchmark_session.dataset.answer_keys() for question in key.question_ids}
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
    if len(set(value)) < len(value):
        repeated, _times = Counter(value).most_common(1)[0]
        refuse(f"the id '{repeated}' occurs twice in one ranking.", where, "Name each session or turn once.")
    return ImportedAnswer(question, "", tuple(value))
