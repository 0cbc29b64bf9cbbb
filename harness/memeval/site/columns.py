"""What a column of a table is: one entry says how a run is read, written, shaded and explained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memeval.leaderboard.board import Row
from memeval.records.scores import Interval
from memeval.site.text import ABSENT


class Direction(StrEnum):
    """Which end of a column is good."""

    HIGHER = "higher"
    LOWER = "lower"
    NONE = "none"


class Group(StrEnum):
    """Columns that belong together, as headed in the table."""

    PLACE = "Standing"
    SCORE = "Score"
    CATEGORIES = "By category"
    WHOLE = "Coverage"
    TRUST = "Trust"
    SPENT = "Tokens and cost"
    TIME = "Time"
    ORIGIN = "Provenance"


Value = float | str | None


@dataclass(frozen=True)
class Reading:
    """What a column says of a run."""

    value: Value
    """The machine's value: sorted and downloaded by; ``None`` where there is none."""
    note: str | None = None
    """A second, smaller line: the count behind a share, or why there is no value."""
    interval: Interval | None = None
    """Drawn as a bar."""
    badges: tuple[tuple[str, str], ...] = ()
    """Marks beside the value: kind (a word for the style sheet) and text."""
    url: str | None = None
    """Where it leads, relative to the site's root."""
    text: str | None = None
    """How it reads, where the machine's value is only its order."""


@dataclass(frozen=True)
class Column:
    """One entry of the table of columns."""

    name: str
    """Its name in downloads and addresses."""
    title: str
    """Its heading."""
    group: Group
    """Where it stands."""
    help: str
    """What it means, in a sentence or two."""
    read: Callable[[Row], Reading]
    """Reads it off a run."""
    write: Callable[[Any], str] = str
    """Writes a value that is there."""
    direction: Direction = Direction.NONE
    """Which end is good; sorting starts there."""
    range: tuple[float, float] | None = None
    """Least and greatest value; with it, values are shaded."""
    unit: str | None = None
    """Unit of the written value."""
    shaded: bool = False
    """Whether cells are shaded by where the value lies in the range."""
    code: bool = False
    """Whether it is written in the face of code."""

    def cell(self, row: Row) -> Cell:
        """Return what stands in the table for a run."""
        reading = self.read(row)
        heat = None
        if self.shaded and self.range is not None and isinstance(reading.value, int | float):
            low, high = self.range
            heat = round(10 * (reading.value - low) / (high - low))
        text = ABSENT if reading.value is None else self.write(reading.value)
        return Cell(column=self, reading=reading, text=reading.text or text, heat=heat)


@dataclass(frozen=True)
class Cell:
    """A column's reading of one run, ready to be written."""

    column: Column
    reading: Reading
    text: str
    heat: int | None
    """Shade from 0 to 10."""

    @property
    def order(self) -> str:
        """The value as an attribute to sort by; empty where there is none."""
        return "" if self.reading.value is None else str(self.reading.value)


def spans(columns: tuple[Column, ...]) -> list[tuple[Group, int]]:
    """Return the groups in order of their columns, with how many columns each heads."""
    out: list[tuple[Group, int]] = []
    for column in columns:
        if out and out[-1][0] is column.group:
            out[-1] = (column.group, out[-1][1] + 1)
        else:
            out.append((column.group, 1))
    return out
