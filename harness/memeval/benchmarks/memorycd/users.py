"""Users and their reviews, from the released file by its index, and their split into memory and tests."""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from memeval.benchmarks.memorycd.keys import DOMAINS
from memeval.benchmarks.memorycd.lines import Index, JsonLines, index_of
from memeval.records.errors import BadInput

KIND = "memorycd-users@1"
"""Version of the index of a user file; a change of its contents needs a new one."""

MILLISECONDS_FROM = 100_000_000_000
"""Times from this number on are in milliseconds, below it in seconds. It is the year 5138 in seconds, 1973 in
milliseconds."""

_ID = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
ItemId = Annotated[str, Field(pattern=rf"^$|{_ID}")]
_TABLES = (
    "CREATE TABLE users (place INTEGER PRIMARY KEY, user_id TEXT UNIQUE NOT NULL)",
    "CREATE TABLE histories (user INTEGER, domain TEXT, body BLOB, PRIMARY KEY (user, domain))",
)


@dataclass(frozen=True)
class Interaction:
    domain: str
    place: int
    """Index in the list of the file, for this user and domain, from 0."""
    item: str
    """Product id (``parent_asin``); empty if absent."""
    rating: float | None
    title: str
    text: str
    time: float
    """Time in milliseconds since 1970; 0 if unknown."""
    negatives: tuple[str, ...] = ()


History = tuple[Interaction, ...]
"""The reviews of a user in a domain, by time; at equal times in the order of the file."""


@dataclass(frozen=True)
class Users:
    index: Index
    ids: tuple[str, ...]

    def each(self) -> Iterator[tuple[str, dict[str, History]]]:
        for place, user_id in enumerate(self.ids):
            yield user_id, self._histories(place)

    def histories(self, user_id: str) -> dict[str, History]:
        found = self.index.rows("SELECT place FROM users WHERE user_id = ?", user_id)
        if not found:
            raise KeyError(user_id)
        return self._histories(found[0][0])

    def _histories(self, place: int) -> dict[str, History]:
        rows = self.index.rows("SELECT domain, body FROM histories WHERE user = ?", place)
        try:
            return {
                domain: tuple(_stored(domain, row) for row in json.loads(zlib.decompress(body)))
                for domain, body in rows
            }
        except (zlib.error, ValueError, TypeError) as error:
            raise BadInput(
                f"the index of {self.index.source} is damaged ({error}).",
                where=self.index.path,
                remedy="Delete it. memeval creates it again.",
            ) from None


def _stored(domain: str, row: Sequence[Any]) -> Interaction:
    place, item, rating, title, text, time, negatives = row
    return Interaction(domain, place, item, rating, title, text, time, tuple(negatives))


def read_users(path: Path, remedy: str) -> Users:
    """Read a user file: lines of ``{user_id, interactions: {domain: [interaction]}}``.

    Skips lines that are invalid or have no user. A rating outside 1 to 5 counts as missing. Both give a note. Other
    domains than the four are ignored. Raises ``BadInput``: the file is missing, empty, truncated or invalid, or a user
    appears twice.
    """
    index = index_of(path, KIND, _read, remedy)
    return Users(index, tuple(row[0] for row in index.rows("SELECT user_id FROM users ORDER BY place")))


class _Review(BaseModel):
    model_config = ConfigDict(strict=True, defer_build=True)

    parent_asin: ItemId | None = None
    rating: float | None = None
    title: str | None = None
    text: str | None = None
    timestamp: Annotated[float, Field(allow_inf_nan=False)] | None = None
    negative_parent_asins: list[ItemId | None] | None = None

    @property
    def milliseconds(self) -> float:
        time = self.timestamp or 0
        return time if abs(time) >= MILLISECONDS_FROM else time * 1000

    def fields(self, place: int) -> Sequence[Any]:
        """Return the fields of :class:`Interaction` in order, without the domain."""
        rating = None if self.rating is None or not 1 <= self.rating <= 5 else self.rating
        negatives = [each for each in self.negative_parent_asins or () if each]
        return place, self.parent_asin or "", rating, self.title or "", self.text or "", self.milliseconds, negatives


class _User(BaseModel):
    model_config = ConfigDict(strict=True, defer_build=True)

    user_id: Annotated[str, Field(pattern=_ID)]
    interactions: dict[str, Any]


_REVIEWS = TypeAdapter(dict[str, list[_Review]])


def _read(tables: sqlite3.Connection, lines: JsonLines) -> None:
    for statement in _TABLES:
        tables.execute(statement)
    users = 0

    def read(raw: dict[str, Any]) -> None:
        nonlocal users
        user = _User.model_validate(raw)
        known = _REVIEWS.validate_python({domain: user.interactions.get(domain) or [] for domain in DOMAINS})
        try:
            tables.execute("INSERT INTO users VALUES (?, ?)", (users, user.user_id))
        except sqlite3.IntegrityError:
            raise BadInput(
                f"the user '{user.user_id}' occurs twice.", where=lines.path, remedy="Remove the wrong line."
            ) from None
        for domain, reviews in known.items():
            odd = sum(each.rating is not None and not 1 <= each.rating <= 5 for each in reviews)
            lines.odd["ratings outside 1 to 5 count as missing"] += odd
            places = sorted(range(len(reviews)), key=lambda place: reviews[place].milliseconds)
            history = [reviews[place].fields(place) for place in places]
            body = zlib.compress(json.dumps(history, separators=(",", ":")).encode(), 1)
            tables.execute("INSERT INTO histories VALUES (?, ?, ?)", (users, domain, body))
        users += 1

    lines.objects(read)


DEFAULT_TESTS = 3


@dataclass(frozen=True)
class SplitSetting:
    cross: bool = False
    """Whether the memory has the other domains instead of the tested one."""
    clean: bool = False
    """Whether the memory ends before the first test."""
    tests: int = DEFAULT_TESTS
    sources: tuple[str, ...] = DOMAINS
    """Domains of a cross-domain memory, in their order; the tested domain is left out."""

    @property
    def name(self) -> str:
        return "cross" if self.cross else "single"

    def sources_of(self, target: str) -> tuple[str, ...]:
        return tuple(each for each in self.sources if each != target) if self.cross else (target,)

    def takes(self, histories: Mapping[str, History], target: str) -> bool:
        """Return whether a user has enough reviews in a domain to count."""
        return len(histories.get(target, ())) >= self.tests + (not self.cross)


@dataclass(frozen=True)
class Split:
    memory: Sequence[Interaction]
    tests: Sequence[Interaction]

    @property
    def later(self) -> int:
        """Number of reviews in the memory at or after the time of the first test."""
        return sum(each.time >= self.tests[0].time for each in self.memory)


def split(histories: Mapping[str, History], target: str, setting: SplitSetting) -> Split | None:
    """Return the split of a user for a domain; ``None`` if the memory is empty.

    ``target``: the tested domain, with enough reviews; see :meth:`SplitSetting.takes`.
    """
    own = histories[target]
    tests = own[-setting.tests :]
    memory = own[: -setting.tests]
    if setting.cross:
        others = [each for domain in setting.sources_of(target) for each in histories.get(domain, ())]
        memory = tuple(sorted(others, key=attrgetter("time")))
    if setting.clean:
        memory = tuple(each for each in memory if each.time < tests[0].time)
    return Split(memory, tests) if memory else None
