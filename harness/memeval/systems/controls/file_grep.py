"""A system that keeps text files and searches them for the words of the question, as an agent does with ``grep -i``.

Each session and each retained text is a file, in one folder a user. Its first line is a header in JSON: the id of each
line after it, the time and the tags. Each of the other lines is a turn or a text: a backslash, and each character that
ends a line, is escaped.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_STOP_WORDS = """
a about after again all also am an and any are as at be because been before being between both but by can could did do
does doing don during each else ever few for from had has have having he her here hers him his how i if in into is it
its just let ll many may me might mine more most much must my no nor not now of off on once only or other our ours out
over own please re same shall she should so some such than that the their theirs them then there these they this those
to too under until up us ve very was we were what when where which while who whom whose why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}


def content_words(query: str) -> list[str]:
    """Return the words of a query to search for, each once: no stop words, and no single letters or digits."""
    words = dict.fromkeys(word.casefold() for word in re.findall(r"\w+", query))
    return [word for word in words if len(word) > 1 and word not in STOP_WORDS]


def as_line(text: str) -> str:
    """Return a text as one line."""
    return re.sub(r"[\\\n\r]", lambda found: ESCAPES[found[0]], text)


def as_text(line: str) -> str:
    """Return the text of a line."""
    return re.sub(r"\\([\\nr])", lambda found: {"n": "\n", "r": "\r"}.get(found[1], "\\"), line)


@dataclass
class TextFile:
    """What a file holds."""

    ids: list[str]
    """The id of each line."""
    lines: list[str]
    time: str
    """ISO 8601; blank if unknown."""
    tags: list[str]

    @classmethod
    def read(cls, path: Path) -> TextFile:
        header, *lines = path.read_bytes().decode(errors="surrogatepass").split("\n")
        return cls(lines=lines, **json.loads(header))

    def write(self, path: Path) -> None:
        header = json.dumps({"ids": self.ids, "time": self.time, "tags": self.tags})
        path.write_bytes("\n".join([header, *self.lines]).encode(errors="surrogatepass"))

    def fits(self, tags: list[str] | None, since: str | None, until: str | None) -> bool:
        """Return whether a filter lets it through: any of the tags, and a time from ``since`` to before ``until``."""
        if tags and set(tags).isdisjoint(self.tags):
            return False
        if since is None and until is None:
            return True
        if not self.time:
            return False
        at = moment(self.time)
        return (since is None or moment(since) <= at) and (until is None or at < moment(until))


@dataclass
class Hit:
    """A line that contains a word of the query."""

    source: str
    line: str
    words: list[str]
    """The different words that it contains."""


class FileGrep:
    """Returns the lines that contain most words of the query; of equal ones those with rarer words, then the first."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="file-grep-"))
        self.written = 0
        """How many files were written: their names are in the order of ingestion."""
        weakref.finalize(self, shutil.rmtree, self.home, ignore_errors=True)

    def reset(self) -> None:
        for folder in self.home.iterdir():
            shutil.rmtree(folder)

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        turns = session["turns"]
        lines = [f"[{session['date']}] {turn.get('speaker') or turn['role']}: {turn['content']}" for turn in turns]
        self.add("", TextFile([turn["turn_id"] for turn in turns], [*map(as_line, lines)], timestamp, []))

    def retain(
        self, content: str, bank: str = "", timestamp: str = "", tags: list[str] | None = None, source_id: str = ""
    ) -> None:
        self.add(bank, TextFile([source_id], [as_line(content)], timestamp, tags or []))

    def search(self, query: str, k: int, timestamp: str = "now") -> dict[str, Any]:
        hits = self.grep(query, "")
        best = ranked(hits)[:k]
        return {
            "context": "\n".join(as_text(hits[place].line) for place in sorted(best)),
            "items": [item(hits[place]) for place in best],
        }

    def recall(
        self,
        query: str,
        k: int,
        bank: str = "",
        tags: list[str] | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> list[dict[str, Any]]:
        hits = self.grep(query, bank, tags, since, until)
        return [item(hits[place]) for place in ranked(hits)[:k]]

    def forget(self, bank: str | None = None, ids: list[str] | None = None) -> int:
        count = 0
        for path in self.files(bank):
            file = TextFile.read(path)
            kept = [number for number, name in enumerate(file.ids) if ids is not None and name not in ids]
            count += len(file.ids) - len(kept)
            if not kept:
                path.unlink()
            elif len(kept) < len(file.ids):
                file.ids, file.lines = [file.ids[n] for n in kept], [file.lines[n] for n in kept]
                file.write(path)
        return count

    def export_memories(self) -> list[dict[str, Any]]:
        files = map(TextFile.read, self.files(None))
        return [
            {"text": as_text(line), "source_ids": [source]}
            for file in files
            for source, line in zip(file.ids, file.lines, strict=True)
        ]

    def folder(self, bank: str) -> Path:
        """Return the folder of a user: any text may be a user's name."""
        return self.home / hashlib.sha256(bank.encode(errors="surrogatepass")).hexdigest()

    def files(self, bank: str | None) -> list[Path]:
        """Return the files of a user, or of all, in the order of ingestion."""
        folders = self.home.iterdir() if bank is None else [self.folder(bank)]
        return sorted((path for folder in folders for path in folder.glob("*.txt")), key=lambda path: path.name)

    def add(self, bank: str, file: TextFile) -> None:
        self.folder(bank).mkdir(exist_ok=True)
        file.write(self.folder(bank) / f"{self.written:09}.txt")
        self.written += 1

    def grep(
        self,
        query: str,
        bank: str,
        tags: list[str] | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> list[Hit]:
        """Read the files of a user that pass a filter, and return the lines that contain a word of the query."""
        words = content_words(query)
        files = (file for file in map(TextFile.read, self.files(bank)) if file.fits(tags, since, until))
        return [hit for file in files for hit in hits_in(file, words)]


def hits_in(file: TextFile, words: list[str]) -> Iterator[Hit]:
    """Yield the lines that contain any of the words, also inside other words, in upper or lower case."""
    for source, line in zip(file.ids, file.lines, strict=True):
        folded = line.casefold()
        if found := [word for word in words if word in folded]:
            yield Hit(source, line, found)


def ranked(hits: list[Hit]) -> list[int]:
    """Return the places of hits, best first: by the number of different words, then by their rarity, then in order.

    The words of two hits are compared from the rarest on, by the number of lines that contain them.
    """
    lines = Counter(word for hit in hits for word in hit.words)

    def key(place: int) -> tuple[int, list[int], int]:
        words = hits[place].words
        return -len(words), sorted(lines[word] for word in words), place

    return sorted(range(len(hits)), key=key)


def item(hit: Hit) -> dict[str, Any]:
    return {"text": as_text(hit.line), "source_ids": [hit.source], "score": len(hit.words)}


def moment(date: str) -> datetime:
    """Parse an ISO 8601 date, with or without a time; the defaults are midnight and UTC."""
    parsed = datetime.fromisoformat(date)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
