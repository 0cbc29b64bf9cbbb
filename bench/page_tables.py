"""Writes measurements to their file, and their table into a page of the guide."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def write_results(rows: Sequence[dict[str, Any]], table: str, out: Path, page: Path, marks: tuple[str, str]) -> None:
    """Write rows to their file, and their table between two marks of the page, in place of the old one.

    ``marks``: the lines before and after the table, each with its line end.
    """
    out.write_text(json.dumps(rows, indent=1) + "\n")
    start, end = marks
    text = page.read_text()
    head, tail = text.partition(start)[0], text.partition(end)[2]
    page.write_text(f"{head}{start}{table}{end}{tail}")
