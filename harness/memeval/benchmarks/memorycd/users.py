"""Users and what they reviewed, read from the released file: what is checked of a line, and what is kept of it."""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memeval.benchmarks.memorycd.domains import DOMAINS
from memeval.benchmarks.memorycd.index import Index, index_of
from memeval.benchmarks.memorycd.lines import JsonLines, Misfit, is_finite
from memeval.records.errors import BadInput

KIND = "memorycd-users@1"
"""Names what is kept of a file of users; changed with it, so that no older index is taken for it."""

MILLISECONDS_FROM = 100_000_000_000
"""A time is in milliseconds from this number on, and in seconds below it: in seconds it is the year 5138, and in
milliseconds 1973."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_TABLES = (
    "CREATE TABLE users (place INTEGER PRIMARY KEY, user_id TEXT UNIQUE NOT NULL)",
    "CREATE TABLE histories (user INTEGER, domain TEXT, body BLOB, PRIMARY KEY (user, domain))",
)


@dataclass(frozen=True)
class Interaction:
    """One review of one product."""

    domain: str
    """The domain."""
    place: int
    """Its place in the file's list of the user's interactions in that domain, counted from 0."""
    item: str
    """The product's id (``parent_asin``); blank where there is none."""
    rating: float | None
    """Stars from 1 to 5, as the file writes them; ``None`` where there are none."""
    title: str
    """The review's title; blank where there is none."""
    text: str
    """The review; blank where there is none."""
    time: float
    """When, in milliseconds since 1970; 0 where nothing says."""
    negatives: tuple[str, ...] = ()
    """Ids of products that were not chosen."""


History = tuple[Interaction, ...]
"""What a user reviewed in a domain, by time; what came at the same time in the order of the file."""


@dataclass(frozen=True)
class Users:
    """The users of a file, each opened when it is asked for."""

    index: Index
    ids: tuple[str, ...]
    """Their ids, in the order of the file."""

    def each(self) -> Iterator[tuple[str, dict[str, History]]]:
        """Yield the users in the order of the file, one at a time."""
        for place, user_id in enumerate(self.ids):
            yield user_id, self._histories(place)

    def histories(self, user_id: str) -> dict[str, History]:
        """Return what a user reviewed, by domain.

        Raises:
            KeyError: there is no such user.
        """
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
                remedy="Delete it; it is made again.",
            ) from None


def _stored(domain: str, row: Sequence[Any]) -> Interaction:
    """Return an interaction of what :func:`_interaction` gave."""
    place, item, rating, title, text, time, negatives = row
    return Interaction(domain, place, item, rating, title, text, time, tuple(negatives))


def read_users(path: Path, remedy: str) -> Users:
    """Read a file of users: lines of ``{user_id, interactions: {domain: [interaction]}}``.

    A line that is not of that form, or names no user, is passed over and told. A rating that is none from 1 to 5 counts
    as missing, and is told too. Domains that are none of the four are let be.

    Args:
        path: the file, plain or gzip.
        remedy: what to do about a bad file, as a sentence.

    Raises:
        BadInput: the file is missing, empty, cut off or of another form, or a user stands in it twice: which of the two
            histories is meant, nobody can say.
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
            raise Misfit("it names no user")
        if not isinstance(user_id, str) or not _ID.fullmatch(user_id):
            raise Misfit("its 'user_id' is no id: up to 64 letters, digits, _ and -")
        histories = _checked(raw.get("interactions"), lines)
        try:
            tables.execute("INSERT INTO users VALUES (?, ?)", (users, user_id))
        except sqlite3.IntegrityError:
            raise BadInput(
                f"the user '{user_id}' stands there twice.",
                where=lines.path,
                remedy="Take out the line that is not meant; which of the histories is right, memeval cannot know.",
            ) from None
        for domain, history in histories.items():
            body = zlib.compress(json.dumps(history, separators=(",", ":")).encode(), 1)
            tables.execute("INSERT INTO histories VALUES (?, ?, ?)", (users, domain, body))
        users += 1

    lines.objects(read)


def _checked(raw: Any, lines: JsonLines) -> dict[str, list[Sequence[Any]]]:
    """Return a line's interactions by domain and time, as plain data.

    Raises:
        Misfit: they are not what they should be.
    """
    if not isinstance(raw, dict):
        raise Misfit("it has no table 'interactions'")
    histories = {}
    for domain in DOMAINS:
        told = raw.get(domain) or []
        if not isinstance(told, list):
            raise Misfit(f"its interactions in {domain} are no list")
        rows = [_interaction(each, place, domain, lines) for place, each in enumerate(told)]
        histories[domain] = sorted(rows, key=_time)
    return histories


def _time(row: Sequence[Any]) -> float:
    return float(row[5])


def _interaction(raw: Any, place: int, domain: str, lines: JsonLines) -> Sequence[Any]:
    """Return one interaction in the order of the fields of :class:`Interaction`, but for the domain."""
    if not isinstance(raw, dict):
        raise Misfit(f"interaction {place + 1} in {domain} is no table")
    here = f"of interaction {place + 1} in {domain}"
    rating = _number(raw, "rating", here)
    if rating is not None and not 1 <= rating <= 5:
        lines.count_odd("ratings that are none from 1 to 5 count as missing")
        rating = None
    time = _number(raw, "timestamp", here) or 0
    if not is_finite(time):
        raise Misfit(f"'timestamp' {here} is no time")
    negatives = raw.get("negative_parent_asins") or []
    if not isinstance(negatives, list):
        raise Misfit(f"'negative_parent_asins' {here} is no list")
    return (
        place,
        _item_id(raw.get("parent_asin"), f"'parent_asin' {here}"),
        rating,
        _text(raw, "title", here),
        _text(raw, "text", here),
        time if abs(time) >= MILLISECONDS_FROM else time * 1000,
        [_item_id(each, f"a negative {here}") for each in negatives if each],
    )


def _number(raw: dict[str, Any], name: str, here: str) -> float | None:
    value = raw.get(name)
    if value is not None and type(value) not in (int, float):
        raise Misfit(f"'{name}' {here} is no number")
    return value


def _text(raw: dict[str, Any], name: str, here: str) -> str:
    value = raw.get(name)
    if value is not None and not isinstance(value, str):
        raise Misfit(f"'{name}' {here} is no text")
    return value or ""


def _item_id(value: Any, what: str) -> str:
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise Misfit(f"{what} is no id: up to 64 letters, digits, _ and -")
    return value
