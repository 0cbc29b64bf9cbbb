"""Tables as CSV and JSON files."""

import json
from collections.abc import Mapping

from memeval.archive.rows import csv_text
from memeval.leaderboard.board import BoardTable
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
            | _cells({column.name: column.read(row) for column in columns})
            for row in table.rows
        ],
    }
    return (json.dumps(data, ensure_ascii=True, sort_keys=True, indent=1, allow_nan=False) + "\n").encode()


def _cells(readings: Mapping[str, ColumnReader]) -> dict[str, object]:
    return {
        **{name: each.value for name, each in readings.items()},
        "intervals": {
            name: [each.interval.low, each.interval.high] for name, each in readings.items() if each.interval
        },
        "ranges": {name: list(each.span) for name, each in readings.items() if each.span},
    }
