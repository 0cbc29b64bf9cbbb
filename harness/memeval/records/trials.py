"""Steps that test how a system runs, and what memeval observes in them.

In a trial, memeval starts, stops and kills the processes of a system on a storage folder. The system is not asked about
it: the answer of the response is an observation, written by memeval as JSON. Its counts follow from the texts that the
system returned; its clocks and faults are the word of whoever ran it.
"""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from memeval.records.base import Record
from memeval.records.question import Question


class Trial(Question):
    """The base of steps that test how a system runs. ``question`` describes the trial for people."""

    seed: int
    """The seed of its texts, choices and moments."""
    stored: int = Field(default=0, ge=0)
    """Number of texts that the storage folder has before the trial."""


class CrashFault(StrEnum):
    """How the processes of a system end."""

    KILL = "kill"
    """SIGKILL to the process and all that it started. The page cache survives, so this does not test syncing."""
    STOP = "stop"
    """A clean stop: ``close``, then the end of the process."""
    CUT = "cut"
    """A power cut: the file system as its disk has it at that moment, with the default options of ext4."""
    LATE_CUT = "late-cut"
    """A power cut where the file system writes by itself only every five minutes (ext4, ``commit=300``)."""

    @property
    def is_cut(self) -> bool:
        """Whether the page cache is lost, too."""
        return self in (CrashFault.CUT, CrashFault.LATE_CUT)


class Activity(StrEnum):
    """What a system does when a fault happens."""

    WRITING = "writing"
    IDLE = "idle"
    SEARCHING = "searching"


class Crash(Trial):
    """Step: texts are written, a fault ends all processes, and a new process starts on the same storage folder."""

    step: Literal["crash"] = "crash"
    fault: CrashFault
    """How the processes end."""
    during: Activity
    """What the system does meanwhile."""
    writes: int = Field(ge=1)
    """Number of texts that are acknowledged before the moment of the fault is awaited."""
    moment: float = Field(ge=0, le=1)
    """When the fault happens after these writes: as a share of twice the duration of a call, or of the idle time."""
    probed: int = Field(default=0, ge=0)
    """Number of texts stored before the trial that are searched for, besides all that were written in it."""


class CrashObservation(Record):
    """What memeval observed in a :class:`Crash`."""

    acknowledged: int = Field(ge=1)
    """Texts written in the trial and acknowledged before the fault."""
    in_flight: int = Field(ge=0, le=1)
    """Texts sent without an acknowledgement when the fault happened."""
    killed: int | None
    """Processes that were killed; ``None`` for a clean stop."""
    opened: bool
    """Whether the system started on the folder, and answered a search."""
    ready_seconds: float | None
    """From the start of the process to the reply to the first search; ``None`` if it did not open."""
    probed: int = Field(ge=1)
    """Acknowledged texts that were searched for after the restart: those of the trial and some older ones."""
    lost: int = Field(ge=0)
    """Of these, texts that are neither found by their own words nor listed by the system."""
    unfound: int = Field(ge=0)
    """Of these, texts that the system lists, but does not find by their own words."""
    doubled: int = Field(ge=0)
    """Of these, texts that are there more than once."""
    half: int = Field(ge=0)
    """Texts of which only a part is there, acknowledged or in flight."""
    renamed: int = Field(ge=0)
    """Of the found texts, those that are returned with sources but without their own id."""
    lists: bool
    """Whether the system can list its texts (``export_memories``)."""
    kept_in_flight: bool | None
    """Whether the text in flight is there; ``None`` if none was in flight."""
    writable: bool
    """Whether a text could be written and found after the restart."""
    error: str | None
    """The first error after the restart, as a sentence; ``None`` without one."""

    @property
    def is_whole(self) -> bool:
        """Whether every acknowledged text is there once and whole, and the store can be used."""
        return self.opened and self.writable and not (self.lost or self.unfound or self.doubled or self.half)
