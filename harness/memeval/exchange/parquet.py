"""Rows as Parquet tables, through pyarrow, which is an extra and loaded when first needed."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from importlib import import_module
from typing import Any

Cell = str | bool | int | float | datetime | None
Row = dict[str, Cell]


class Kind(StrEnum):
    TEXT = "text"
    REPEATED = "repeated"
    """Text with few different values; each is stored once."""
    FLAG = "flag"
    NUMBER = "number"
    WHOLE = "whole"
    TIME = "time"
    """UTC time in microseconds."""


def has_pyarrow() -> bool:
    try:
        import_module("pyarrow.parquet")
    except ImportError:
        return False
    return True


def pyarrow_modules() -> tuple[Any, Any]:
    """Return the modules ``pyarrow`` and ``pyarrow.parquet``. Raises ``ImportError`` if pyarrow is not installed."""
    return import_module("pyarrow"), import_module("pyarrow.parquet")


def arrow_table(kinds: Mapping[str, Kind], rows: Sequence[Mapping[str, Cell]]) -> Any:
    """Return rows as a ``pyarrow.Table``.

    ``rows``: cells by column; a column that a row lacks is null, and other cells are left out. Raises ``ImportError``
    if pyarrow is not installed.
    """
    pyarrow, _parquet = pyarrow_modules()
    types = {
        Kind.TEXT: pyarrow.string(),
        Kind.REPEATED: pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
        Kind.FLAG: pyarrow.bool_(),
        Kind.NUMBER: pyarrow.float64(),
        Kind.WHOLE: pyarrow.int64(),
        Kind.TIME: pyarrow.timestamp("us", "UTC"),
    }
    arrays = [pyarrow.array(cells_of(rows, name, kind), type=types[kind]) for name, kind in kinds.items()]
    return pyarrow.table(arrays, schema=pyarrow.schema([(name, types[kind]) for name, kind in kinds.items()]))


def cells_of(rows: Iterable[Mapping[str, Cell]], name: str, kind: Kind) -> list[Cell]:
    """Return the cells of a column in its type: verdicts in a column of numbers become 1 and 0."""
    cells = [row.get(name) for row in rows]
    if kind is Kind.NUMBER:
        return [float(cell) if isinstance(cell, bool | int) else cell for cell in cells]
    return cells


def total(values: Iterable[float | None]) -> float | None:
    """Return the sum of the known values; ``None`` without any."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def all_names(rows: Iterable[Mapping[str, Cell]]) -> set[str]:
    return {name for row in rows for name in row}
