"""Columns of a table: one entry says how its value is read from a run, written, shaded and explained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memeval.leaderboard.board import BoardRow
from memeval.records.scores import Interval
from memeval.site.model.text import ABSENT


class BetterEnd(StrEnum):
    """Which values of a column are better."""

    HIGHER = "higher"
    LOWER = "lower"
    NONE = "none"


class ColumnGroup(StrEnum):
    """Groups of columns, with the heading each has in the table."""

    PLACE = "Rank"
    SCORE = "Score"
    CATEGORIES = "By category"
    WHOLE = "Coverage and errors"
    TRUST = "Trust"
    SPENT = "Tokens and cost"
    TIME = "Latency"
    ORIGIN = "Source"


Value = float | str | None


@dataclass(frozen=True)
class ColumnReader:
    """The value of a column for one run."""

    value: Value
    """The exact value, for sorting and downloads; ``None`` if there is none."""
    note: str | None = None
    """A second, smaller line: the count behind a share, or the reason for a missing value."""
    interval: Interval | None = None
    """Drawn as a bar."""
    badges: tuple[tuple[str, str], ...] = ()
    """Badges beside the value: kind (a class of the style sheet) and text."""
    url: str | None = None
    """Link target, relative to the root of the site."""
    text: str | None = None
    """What the page shows in place of ``value``."""
    span: tuple[int, int] | None = None
    """Lowest and highest value, if the value is a range; downloads hold both ends."""


@dataclass(frozen=True)
class Column:
    """One column."""

    name: str
    """Its name in downloads and addresses."""
    title: str
    """Its heading."""
    group: ColumnGroup
    """Its group."""
    help: str
    """Its meaning, in a sentence or two."""
    read: Callable[[BoardRow], ColumnReader]
    """Reads the value from a row."""
    write: Callable[[Any], str] = str
    """Formats a value that is not ``None``."""
    direction: BetterEnd = BetterEnd.NONE
    """Which values are better; sorting starts with them."""
    range: tuple[float, float] | None = None
    """Lowest and highest possible value; shading needs it."""
    unit: str | None = None
    """Unit of the written value."""
    shaded: bool = False
    """Whether cells are shaded by value."""
    code: bool = False
    """Whether it is shown in monospace."""
    first: bool = False
    """Whether a table shows it before the reader asks for more columns."""

    def cell(self, row: BoardRow) -> TableCell:
        """Return the cell of a row."""
        reading = self.read(row)
        heat = None
        if self.shaded and self.range is not None and isinstance(reading.value, int | float):
            low, high = self.range
            heat = round(10 * (reading.value - low) / (high - low))
        text = ABSENT if reading.value is None else self.write(reading.value)
        return TableCell(column=self, reading=reading, text=reading.text or text, heat=heat)


@dataclass(frozen=True)
class TableCell:
    """The formatted value of a column for one run."""

    column: Column
    reading: ColumnReader
    text: str
    heat: int | None
    """Shade from 0 to 10."""

    @property
    def order(self) -> str:
        """The value as an HTML attribute for sorting; empty if there is none."""
        return "" if self.reading.value is None else str(self.reading.value)


def spans(columns: tuple[Column, ...]) -> list[tuple[ColumnGroup, int]]:
    """Return the groups in column order, each with its number of columns that are shown at first."""
    out: list[tuple[ColumnGroup, int]] = []
    for column in columns:
        if out and out[-1][0] is column.group:
            out[-1] = (column.group, out[-1][1] + column.first)
        else:
            out.append((column.group, int(column.first)))
    return out
