"""Trials of a disk that is full, read-only or has a wrong byte."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from memeval.records.base import Record
from memeval.records.trials import Trial


class DiskTrouble(StrEnum):
    """What is wrong with the disk of a storage folder."""

    FULL = "full"
    """No page is left when texts are written."""
    READ_ONLY = "read-only"
    """The folder cannot be written to."""
    FLIPPED = "flipped"
    """One byte of one file differs, after a clean stop."""


class DiskFault(Trial):
    """Step: something is wrong with the disk of a storage folder. The system must say so, or be right."""

    step: Literal["disk-fault"] = "disk-fault"
    trouble: DiskTrouble
    """What is wrong with the disk."""
    writes: int = Field(default=0, ge=0)
    """Number of texts that are written while the disk is full or read-only."""
    place: float = Field(default=0.0, ge=0, le=1)
    """The flipped byte, as a share of its file. The seed draws the file: each one alike, whatever its size."""
    probed: int = Field(ge=1)
    """Number of texts stored before the trial that are searched for."""


class FaultOutcome(StrEnum):
    """How a system took a fault of its disk."""

    UNAFFECTED = "unaffected"
    """Every text is there, and no call failed."""
    ERROR = "error"
    """A call failed or the system did not start, and no text is wrong or missing without an error."""
    SILENT = "silent"
    """A text is missing or altered, and no call said so."""


class FaultObservation(Record):
    """What memeval observed in a :class:`DiskFault`."""

    outcome: FaultOutcome
    started: bool
    """Whether the system started while the fault was there."""
    probed: int = Field(ge=0)
    """Texts that were searched for: those stored before, and those acknowledged during the fault."""
    missing: int = Field(ge=0)
    """Of these, texts that were not found."""
    altered: int = Field(ge=0)
    """Of these, texts that were returned with other words."""
    acknowledged: int = Field(ge=0)
    """Texts that were acknowledged during the fault."""
    refused: int = Field(ge=0)
    """Texts that were refused with an error during the fault."""
    recovered: bool | None
    """Whether the system starts again and has all texts when the fault is gone; ``None`` for a flipped byte."""
    file: str | None
    """Ending and size of the file with the flipped byte, such as ``.db, 40960 bytes``; ``None`` for other faults."""
    error: str | None
    """The first error, as a sentence; ``None`` without one."""
