"""Users and their reviews, from the released file by its index, and their split into memory and tests."""

import json
import re
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from memeval.benchmarks.memorycd.keys import DOMAINS
from memeval.benchmarks.memorycd.lines import Index, JsonLines, Misfit, index_of, is_finite
from memeval.records.errors import BadInput

KIND = "memorycd-users@1"
"""Version of the index of a user file; a change of its contents needs a new one."""

MILLISECONDS_FROM = 100_000_000_000
"""Times from this number on are in milliseconds, below it in seconds. It is the year 5138 in seconds, 1973 in
milliseconds."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
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


def _read(tables: sqlite3.Connection, lines: JsonLines) -> None:
    for statement in _TABLES:
        tables.execute(statement)
    users = 0

    def read(raw: dict[str, Any]) -> None:
        nonlocal users
        user_id = raw.get("user_id")
        if not user_id:
            raise Misfit("it has no user id")
        if not isinstance(user_id, str) or not _ID.fullmatch(user_id):
            raise Misfit("its 'user_id' is invalid: up to 64 letters, digits, _ and -")
        histories = _checked(raw.get("interactions"), lines)
        try:
            tables.execute("INSERT INTO users VALUES (?, ?)", (users, user_id))
        except sqlite3.IntegrityError:
            raise BadInput(
                f"the user '{user_id}' occurs twice.", where=lines.path, remedy="Remove the wrong line."
            ) from None
        for domain, history in histories.items():
            body = zlib.compress(json.dumps(history, separators=(",", ":")).encode(), 1)
            tables.execute("INSERT INTO histories VALUES (?, ?, ?)", (users, domain, body))
        users += 1

    lines.objects(read)


def _checked(raw: Any, lines: JsonLines) -> dict[str, list[Sequence[Any]]]:
    if not isinstance(raw, dict):
        raise Misfit("it has no object 'interactions'")
    histories = {}
    for domain in DOMAINS:
        interactions = raw.get(domain) or []
        if not isinstance(interactions, list):
            raise Misfit(f"its interactions in {domain} are not a list")
        rows = [_interaction(each, place, domain, lines) for place, each in enumerate(interactions)]
        histories[domain] = sorted(rows, key=_time)
    return histories


def _time(row: Sequence[Any]) -> float:
    return float(row[5])


def _interaction(raw: Any, place: int, domain: str, lines: JsonLines) -> Sequence[Any]:
    """Return one interaction with the fields of :class:`Interaction` in order, without the domain."""
    if not isinstance(raw, dict):
        raise Misfit(f"interaction {place + 1} in {domain} is not an object")
    location = f"of interaction {place + 1} in {domain}"
    rating = _number(raw, "rating", location)
    if rating is not None and not 1 <= rating <= 5:
        lines.count_odd("ratings outside 1 to 5 count as missing")
        rating = None
    time = _number(raw, "timestamp", location) or 0
    if not is_finite(time):
        raise Misfit(f"'timestamp' {location} is not a time")
    negatives = raw.get("negative_parent_asins") or []
    if not isinstance(negatives, list):
        raise Misfit(f"'negative_parent_asins' {location} is not a list")
    return (
        place,
        _item_id(raw.get("parent_asin"), f"'parent_asin' {location}"),
        rating,
        _text(raw, "title", location),
        _text(raw, "text", location),
        time if abs(time) >= MILLISECONDS_FROM else time * 1000,
        [_item_id(each, f"a negative {location}") for each in negatives if each],
    )


def _number(raw: dict[str, Any], name: str, location: str) -> float | None:
    value = raw.get(name)
    if value is not None and type(value) not in (int, float):
        raise Misfit(f"'{name}' {location} is not a number")
    return value


def _text(raw: dict[str, Any], name: str, location: str) -> str:
    value = raw.get(name)
    if value is not None and not isinstance(value, str):
        raise Misfit(f"'{name}' {location} is not text")
    return value or ""


def _item_id(value: Any, what: str) -> str:
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise Misfit(f"{what} is not an id of up to 64 letters, digits, _ and -")
    return value


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
