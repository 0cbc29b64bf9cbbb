"""Closed sets of values that are also options of commands; without pydantic, so that they are imported quickly."""

from enum import StrEnum


class LedgerEvent(StrEnum):
    """A decision about a run, a check of it, a release, or the start of the ledger."""

    ACCEPTED = "accepted"
    """A maintainer accepted it, and says who made its answers."""
    REPRODUCED = "reproduced"
    """Its stored answers were graded again, with equal grades."""
    REPEATED = "repeated"
    """An independent run of the same system on the same track exists."""
    SUPERSEDED = "superseded"
    """A later run replaces it."""
    INVALIDATED = "invalidated"
    """It does not count: it is shown as invalidated, and has no rank."""
    REVIEWED = "reviewed"
    """A maintainer checked a suspicious result, and it counts."""
    REPLIED = "replied"
    """The vendor of the system commented on it; the reason holds the comment."""
    RE_ASKED = "re-asked"
    """A maintainer asked its judge again about drawn items; see ``sample``."""
    RERUN = "rerun"
    """A maintainer ran its deterministic system again on drawn items; see ``sample``."""
    RELEASED = "released"
    """A release was frozen. The line names no run."""
    STARTED = "started"
    """The ledger starts here; the reason says where the lines before it are. The line names no run."""


class Runner(StrEnum):
    """Who made the answers."""

    SUBMITTER = "submitter"
    MAINTAINER = "maintainer"


class AdapterKind(StrEnum):
    """The interface between memeval and a system."""

    PYTHON = "python"
    COMMAND = "command"
    """A program with memeval's JSON Lines protocol over standard input and output."""
    HTTP = "http"
    """A server with memeval's HTTP protocol."""
    DAEMON = "daemon"
    """A server with the protocol of the jeffs-brain daemons."""
    MCP = "mcp"
    """A Model Context Protocol server; its tools are mapped to calls."""


class Every(StrEnum):
    """The period of a history of which the last version is measured."""

    RELEASE = "release"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"

    def period(self, day: str) -> str:
        """Return the name of the period of a day: ``2026-Q3``."""
        year, month = day[:4], int(day[5:7])
        if self is Every.YEAR:
            return year
        return f"{year}-{month:02}" if self is Every.MONTH else f"{year}-Q{(month + 2) // 3}"
