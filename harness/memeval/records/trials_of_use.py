"""Trials of use: when a text is found, who finds it, and what grows with the number of texts."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from memeval.records.base import Record
from memeval.records.trials import Trial


class Onlooker(StrEnum):
    """Which process searches for a text."""

    WRITER = "writer"
    """The process that wrote it."""
    OTHER = "other"
    """Another process, which had the storage folder open before the text was written."""
    RESTARTED = "restarted"
    """A new process, after a clean stop of the one that wrote it."""


class Change(StrEnum):
    """What happens to a text before it is searched for."""

    ADDED = "added"
    UPDATED = "updated"
    """The old text is forgotten by its id, and a new one is stored under the same id."""
    DELETED = "deleted"
    """The text is forgotten by its id."""


class Freshness(Trial):
    """Step: texts are changed one by one, and each change is looked for at once, and then until it shows."""

    step: Literal["freshness"] = "freshness"
    onlooker: Onlooker
    """Which process looks for the changes."""
    change: Change
    """What happens to each text."""
    changes: int = Field(ge=1)
    """Number of texts that are changed."""
    seconds: float = Field(gt=0)
    """How long each change is looked for."""


class FreshnessObservation(Record):
    """What memeval observed in a :class:`Freshness`. A lag counts from the acknowledgement of the change."""

    acknowledged: int = Field(ge=0)
    """Changes that the system acknowledged."""
    opened: bool
    """Whether the process that looks started on the folder; ``False`` if it was refused."""
    at_once: int = Field(ge=0)
    """Changes that the first search showed."""
    lags: tuple[float, ...]
    """Seconds until a search showed the change, of those that later searches showed, in ascending order. A lag is at
    most as exact as a search is long."""
    never: int = Field(ge=0)
    """Changes that no search showed within the time. After an error, some may not have been searched for as long."""
    error: str | None
    """The first error, as a sentence; ``None`` without one."""

    @property
    def is_fresh(self) -> bool:
        """Whether the first search showed every change."""
        return self.opened and self.error is None and 0 < self.acknowledged == self.at_once


class Servers(StrEnum):
    """Which processes serve the users of an :class:`Apart`."""

    ONE = "one"
    """One process serves all users."""
    TWO = "two"
    """Two processes on one storage folder serve half of the users each, at the same time."""


class Apart(Trial):
    """Step: users write and search at the same time; then each user's texts are looked for, and those of others."""

    step: Literal["apart"] = "apart"
    servers: Servers
    """Which processes serve them."""
    users: int = Field(ge=2, le=64)
    """Number of users."""
    writes: int = Field(ge=1)
    """Number of texts that each user writes."""
    in_flight: int = Field(ge=1, le=64)
    """The most calls in flight at a process, if it takes several at a time."""


class ApartObservation(Record):
    """What memeval observed in an :class:`Apart`."""

    banks: bool
    """Whether each user has a bank of its own. If the system has no banks, the name of the user stands before each text
    and each question, as people do."""
    in_flight: int = Field(ge=1)
    """The most calls that were in flight at a process: 1 if it takes one call at a time."""
    opened: bool
    """Whether all processes started on the folder."""
    written: int = Field(ge=0)
    """Texts that were sent."""
    acknowledged: int = Field(ge=0)
    """Of these, texts that were acknowledged."""
    lost: int = Field(ge=0)
    """Acknowledged texts that are neither found by their own words nor listed, after all calls have ended."""
    doubled: int = Field(ge=0)
    """Acknowledged texts that are there more than once."""
    searches: int = Field(ge=0)
    """Searches of a user, under load and afterwards."""
    foreign_searches: int = Field(ge=0)
    """Of these, searches that returned a text of another user."""
    foreign_first: int = Field(ge=0)
    """Of these, searches in which such a text stood before the user's own."""
    foreign_texts: int = Field(ge=0)
    """Different texts that a search of another user returned."""
    errors: int = Field(ge=0)
    """Calls that failed."""
    error: str | None
    """The first error, as a sentence; ``None`` without one."""

    @property
    def is_apart(self) -> bool:
        """Whether every text is there once, and no search returned a text of another user."""
        whole = self.opened and not (self.errors or self.lost or self.doubled)
        return whole and 0 < self.acknowledged == self.written and not self.foreign_searches


class Growth(Trial):
    """Step: a store grows, and is measured at some sizes, in turn with SQLite on the same machine."""

    step: Literal["growth"] = "growth"
    sizes: tuple[int, ...] = Field(min_length=2)
    """Numbers of texts at which it is measured, in ascending order."""
    seconds: float = Field(gt=0)
    """When this time is over, the store grows no further."""


class Point(Record):
    """One store at one size."""

    size: int = Field(ge=1)
    """Number of texts."""
    write_seconds: float = Field(gt=0)
    """Median of the last writes."""
    search_seconds: float = Field(gt=0)
    """Median of some searches."""
    start_seconds: float = Field(gt=0)
    """From the start of a process on the folder to the reply to its first search."""
    memory_bytes: int | None = Field(ge=0)
    """Memory of all processes; ``None`` where it cannot be measured."""
    disk_bytes: int = Field(ge=0)
    """Size of the storage folder as allocated, after a clean stop."""


class GrowthObservation(Record):
    """What memeval measured in a :class:`Growth`."""

    points: tuple[Point, ...]
    """The system at each size that it reached."""
    control: tuple[Point, ...]
    """SQLite at the same sizes, measured in turn."""
    stopped: str | None
    """Why it did not grow to the largest size; ``None`` if it did."""

    @property
    def is_complete(self) -> bool:
        return self.stopped is None
