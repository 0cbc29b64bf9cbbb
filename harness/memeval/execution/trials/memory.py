"""A memory under trial: texts are written, found and listed by number, through whatever methods a system has."""

import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memeval.execution.secrets import redact
from memeval.systems.errors import AdapterMisbehaved, SystemFailure
from memeval.systems.messages import FoundItem
from memeval.systems.process import SystemProcess

NAMES = ("Ada", "Boris", "Chiara", "Dmitri", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Keiko", "Lamar")
THINGS = ("lamp", "ladder", "violin", "kettle", "bicycle", "atlas", "camera", "drill", "tent", "loom", "globe", "kayak")
PLACES = ("attic", "cellar", "garage", "library", "kitchen", "workshop", "hallway", "office", "garden", "studio")
COLOURS = ("red", "green", "blue", "yellow", "white", "black", "orange", "violet", "brown", "silver")

STORED = "stored"
"""The seed of the texts that a folder has before a trial."""

DAY = "2026-01-01"

FOUND_ITEMS = 10
"""How many items a search asks for."""

ERROR_LENGTH = 500


@dataclass(frozen=True)
class Written:
    """A text of a trial: a sentence with a code that occurs in no other one, so that a search can only mean it."""

    seed: int | str
    number: int

    @property
    def text(self) -> str:
        """The text. It begins and ends with its code, so that a part of it is noticed."""
        digest = hashlib.sha256(f"words/{self.seed}/{self.number}".encode()).digest()
        name, thing, place, colour = (
            pool[digest[place] % len(pool)] for place, pool in enumerate((NAMES, THINGS, PLACES, COLOURS))
        )
        return f"Note {self.code}: {name} keeps the {colour} {thing} in the {place} and calls it {self.code}."

    @property
    def id(self) -> str:
        """Its ordinal as an id, which differs between the texts of a folder."""
        return f"s{self.number:06d}" if self.seed == STORED else f"s9{self.number:05d}"

    @property
    def code(self) -> str:
        """Ten letters."""
        digest = hashlib.sha256(f"{self.seed}/{self.number}".encode()).digest()
        return "".join(chr(ord("a") + byte % 26) for byte in digest[:10])


def codes_in(item: FoundItem, codes: Iterable[str]) -> set[str]:
    """Return which of some codes of texts are in an item."""
    return {word.strip(":.") for word in item.text.split()}.intersection(codes)


@dataclass(frozen=True)
class Sighting:
    """How often a text is there: whole, and in part."""

    whole: int
    half: int
    renamed: bool
    """Whether a whole one names sources, and its own id is not among them."""


def sighting(written: Written, items: Iterable[FoundItem]) -> Sighting:
    """Return how often a text is among items. Systems may add words such as a date, but must keep all of the text."""
    text, code, own = written.text, written.code, written.id
    named = [item for item in items if code in item.text]
    whole = [item for item in named if text in item.text]
    sources = [item.source_ids for item in whole if item.source_ids]
    return Sighting(
        whole=sum(item.text.count(text) for item in whole),
        half=len(named) - len(whole),
        renamed=bool(sources) and not any(each.partition(":")[0] == own for ids in sources for each in ids),
    )


class StoredMemory:
    """The calls of a trial, for a system that is started."""

    def __init__(self, system: SystemProcess) -> None:
        self.system = system

    def write(
        self, written: Written, bank: str | None = None, *, content: str | None = None, name: str | None = None
    ) -> None:
        """Store a text; it is acknowledged when this returns.

        ``content``: what is stored; ``None`` for the text itself. ``name``: its id; ``None`` for that of the text.
        """
        content, name = content or written.text, name or written.id
        if self.system.adapter.can("retain"):
            self.system.retain(content, bank=bank, timestamp=DAY, source_id=name)
            return
        turn = {"turn_id": f"{name}:t01", "role": "user", "content": content}
        self.system.ingest([({"session_id": name, "date": DAY, "turns": [turn]}, DAY)])

    def find(self, written: Written, bank: str | None = None) -> Sighting:
        """Search for a text by its own words."""
        return sighting(written, self.search(written.text, bank))

    def search(self, query: str, bank: str | None = None) -> Sequence[FoundItem]:
        if self.system.adapter.can("recall"):
            reply = self.system.recall(query, FOUND_ITEMS, bank=bank)
        elif self.system.adapter.can("search"):
            reply = self.system.search(query, FOUND_ITEMS)
        else:
            raise AdapterMisbehaved("The system has neither recall nor search, which trials need.")
        if reply.items is None:
            raise AdapterMisbehaved("The system returned a context without items, which trials need.")
        return reply.items

    def listed(self) -> Sequence[FoundItem] | None:
        """Return all texts of the system; ``None`` if it cannot list them."""
        return self.system.export() if self.system.adapter.can("export_memories") else None


def drawn(seed: int, stored: int, count: int) -> list[int]:
    """Return the numbers of texts that are drawn from those stored before a trial, in order."""
    return sorted(random.Random(f"probed/{seed}").sample(range(stored), min(count, stored)))  # noqa: S311


def sentence(failure: SystemFailure) -> str:
    """Return an error without secrets, cut to a length that a response can have."""
    return redact(str(failure))[:ERROR_LENGTH]


@contextmanager
def another(system: SystemProcess, folder: Path | None) -> Iterator[StoredMemory]:
    """Start another process of a system on a storage folder, and end it afterwards.

    Raises SystemFailure: it does not start there.
    """
    other = system.twin()
    other.storage = folder
    try:
        other.start()
        yield StoredMemory(other)
    finally:
        other.close()
