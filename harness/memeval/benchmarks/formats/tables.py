"""Reads tables of comma- or tab-separated values strictly: each fault has its line, and a field may have any length.

Python's own reader limits a field's length for the whole process, refuses the line ends of old Macs, and takes the rows
after an unclosed quote for text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memeval.benchmarks.formats.reading import decoded, refuse

SUFFIXES = frozenset({".csv", ".tab", ".tsv"})
"""Ends of names of tables, in lower case."""

_DELIMITERS = (",", "\t", ";")
_QUOTED = re.compile(r'"((?:[^"]++|"")*+)"')
_LINE_END = re.compile(r"\r\n|\r|\n")


def table_rows(data: bytes, where: object, needed: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of a table by the names in its first line, each with its location.

    Raises ``BadInput``: a quote is not closed, or a row has more or fewer fields than the first line.

    Args:
        data: the bytes of the file: UTF-8, with commas, tabs or semicolons between fields, and any line ends.
        needed: a name that the first line must have. The character that separates it from the others separates fields.
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
    """Yield the fields of each row that is not blank, with the number of its first line."""
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
