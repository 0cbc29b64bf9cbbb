"""Writes measurements to their file, and their tables into pages of the guide."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def with_tables(page: str, command: str, tables: Mapping[str, str]) -> str:
    """Return a page with its tables made again, each between two lines with its name.

    ``command``: the arguments of ``python -m`` that make them. Raises ``ValueError`` if the page has no such lines.
    """
    for name, table in tables.items():
        start, end = f"<!-- {name}: made by python -m {command} -->", f"<!-- end of {name} -->"
        before, found, rest = page.partition(start)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise ValueError(f"the page has no lines '{start}' and '{end}'.")
        page = f"{before}{start}\n\n{table}\n\n{end}{after}"
    return page


def with_stored(out: Path, rows: Sequence[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    """Return stored and new rows, sorted by some fields. A new row replaces the stored one with the same fields."""
    stored = json.loads(out.read_text()) if out.is_file() else []
    together = {tuple(str(row[name]) for name in names): row for row in (*stored, *rows)}
    return [together[key] for key in sorted(together)]


def write_results(rows: Sequence[dict[str, Any]], table: str, out: Path, page: Path, marks: tuple[str, str]) -> None:
    """Write rows to their file, and their table between two marks of the page, in place of the old one.

    ``marks``: the lines before and after the table, each with its line end.
    """
    out.write_text(json.dumps(rows, indent=1) + "\n")
    start, end = marks
    text = page.read_text()
    head, tail = text.partition(start)[0], text.partition(end)[2]
    page.write_text(f"{head}{start}{table}{end}{tail}")
