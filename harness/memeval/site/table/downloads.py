"""Tables as CSV and JSON files."""

import json

from memeval.archive.rows import csv_text
from memeval.leaderboard.board import BoardRow, BoardTable
from memeval.site.table.columns import Column, ColumnReader, Value


def as_csv(table: BoardTable, columns: tuple[Column, ...]) -> bytes:
    """Return a table as CSV: exact values, blank if unknown, and ranges as ``1 to 8``."""
    rows = (
        {
            "slug": row.run.system.slug,
            "standing": row.standing.value,
            **{column.name: _ranged(column.read(row)) for column in columns},
        }
        for row in table.rows
    )
    return csv_text(["slug", "standing", *(column.name for column in columns)], rows).encode("utf-8", "replace")


def _ranged(reading: ColumnReader) -> Value:
    """Return the value, or both ends of a range: the rank of tied systems is not a number."""
    if reading.span is None or reading.span[0] == reading.span[1]:
        return reading.value
    return f"{reading.span[0]} to {reading.span[1]}"


def as_json(table: BoardTable, columns: tuple[Column, ...]) -> bytes:
    data = {
        "schema_version": 1,
        "track_id": table.track.id,
        "track": table.track.data(),
        "columns": [
            {
                "name": column.name,
                "title": column.title,
                "group": column.group.value,
                "direction": column.direction.value,
                "unit": "share" if column.unit == "%" else None if column.unit == "points" else column.unit,
                "help": column.help,
            }
            for column in columns
        ],
        "rows": [
            {"slug": row.run.system.slug, "standing": row.standing.value}
            | {column.name: column.read(row).value for column in columns}
            | {"intervals": _intervals(columns, row), "ranges": _ranges(columns, row)}
            for row in table.rows
        ],
    }
    return (json.dumps(data, ensure_ascii=True, sort_keys=True, indent=1, allow_nan=False) + "\n").encode()


def _intervals(columns: tuple[Column, ...], row: BoardRow) -> dict[str, list[float]]:
    found = {column.name: column.read(row).interval for column in columns}
    return {name: [interval.low, interval.high] for name, interval in found.items() if interval is not None}


def _ranges(columns: tuple[Column, ...], row: BoardRow) -> dict[str, list[int]]:
    found = {column.name: column.read(row).span for column in columns}
    return {name: list(span) for name, span in found.items() if span is not None}
