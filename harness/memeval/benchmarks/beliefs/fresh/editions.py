"""Which editions there are, and where their seeds come from."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from functools import cache
from importlib import resources

from pydantic import Field

from memeval.records.base import Record, validated
from memeval.records.errors import BadInput

Hex = r"^[0-9a-f]+$"


class Beacon(Record):
    """A public source of chance that draws a value every few seconds, and signs it."""

    name: str
    """Its name for people."""
    chain: str = Field(pattern=Hex, min_length=64, max_length=64)
    """The hash that its chain of values is known by."""
    genesis: int
    """When its first round was drawn, in seconds since 1970 UTC."""
    period_seconds: int = Field(ge=1)
    """Seconds from one round to the next."""
    urls: tuple[str, ...] = Field(min_length=1)
    """Where its values are to be had, the first to be asked first."""

    def round_at(self, at: datetime) -> int:
        """Return the round that is drawn at a moment: the first that is not older than one period."""
        return (int(at.timestamp()) - self.genesis) // self.period_seconds + 1

    def address(self, base: str, number: int) -> str:
        """Return where a round's value is to be had."""
        return f"{base.rstrip('/')}/{self.chain}/public/{number}"


class Edition(Record):
    """One fresh edition."""

    id: str
    """Name and version: ``beliefs-fresh-202612@1``."""
    month: str
    """When it comes, for people."""
    at: str = Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
    """When its seed is drawn, UTC."""
    round: int = Field(ge=1)
    """The beacon's round that is drawn then."""

    @property
    def moment(self) -> datetime:
        """When its seed is drawn."""
        return datetime.strptime(self.at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)

    @property
    def name(self) -> str:
        """The id without its version."""
        return self.id.partition("@")[0]


class Editions(Record):
    """All editions, and what they say of themselves; ``{round}`` and the like stand for what differs."""

    title: str
    """Name for people."""
    summary: str
    """What an edition is."""
    made: str
    """Where its seed comes from."""
    beacon: Beacon
    """Where the seeds come from."""
    editions: tuple[Edition, ...]
    """The editions, oldest first."""


@cache
def editions() -> Editions:
    """Return the editions; read once.

    Raises:
        BadInput: the file is not what it must be.
    """
    path = resources.files(__package__) / "editions.toml"
    return validated(Editions, tomllib.loads(path.read_text("utf-8")), path)


def edition(edition_id: str) -> Edition:
    """Return an edition by its id.

    Raises:
        BadInput: there is none.
    """
    for each in editions().editions:
        if each.id == edition_id:
            return each
    raise BadInput(f"there is no fresh edition '{edition_id}'.")
