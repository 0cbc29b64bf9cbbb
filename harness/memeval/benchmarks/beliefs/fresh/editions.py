"""The editions and the source of their seeds."""

from datetime import UTC, datetime
from functools import cache
from importlib import resources

from pydantic import Field

from memeval.records.base import Record
from memeval.records.errors import BadInput
from memeval.toml import parse_toml

Hex = r"^[0-9a-f]+$"


class Beacon(Record):
    name: str
    chain: str = Field(pattern=Hex, min_length=64, max_length=64)
    """Hash that identifies its chain of values."""
    genesis: int
    """Time of its first round, in seconds since 1970 UTC."""
    period_seconds: int = Field(ge=1)
    """Seconds from one round to the next."""
    urls: tuple[str, ...] = Field(min_length=1)

    def round_at(self, at: datetime) -> int:
        return (int(at.timestamp()) - self.genesis) // self.period_seconds + 1

    def address(self, base: str, number: int) -> str:
        return f"{base.rstrip('/')}/{self.chain}/public/{number}"


class Edition(Record):
    id: str
    month: str
    at: str = Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
    """Time of the draw of its seed, UTC."""
    round: int = Field(ge=1)
    drawn: bool = False
    packs: tuple[str, ...] = ()
    """Withheld wording packs; empty for the public wording of the full tier."""

    @property
    def moment(self) -> datetime:
        return datetime.strptime(self.at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)

    @property
    def name(self) -> str:
        return self.id.partition("@")[0]


class EditionTexts(Record):
    title: str
    summary: str
    made: str


class Editions(EditionTexts):
    packed: EditionTexts
    beacon: Beacon
    editions: tuple[Edition, ...]


@cache
def editions() -> Editions:
    path = resources.files(__package__) / "editions.toml"
    return parse_toml(path.read_bytes(), path).record(Editions)


def edition(edition_id: str) -> Edition:
    for each in editions().editions:
        if each.id == edition_id:
            return each
    raise BadInput(
        f"unknown fresh edition '{edition_id}'.",
        remedy=f"Choose one of: {', '.join(x.id for x in editions().editions)}.",
    )
