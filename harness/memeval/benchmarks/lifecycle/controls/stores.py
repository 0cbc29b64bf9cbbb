"""A careful memory, and five that differ from it in one way each: no users and sources, wrong deletions, or order.

All of them rank by BM25. Texts in banks and turns of sessions are kept alike.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def bm25() -> Any:
    """Return a new instance of the control BM25."""
    file = Path(__file__).parents[3] / "systems/controls/bm25.py"
    spec = importlib.util.spec_from_file_location("bm25", file)
    if spec is None or spec.loader is None:
        raise RuntimeError("the control BM25 is not there.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BM25()


@dataclass
class Kept:
    """A text of a memory."""

    bank: str
    text: str
    source: str


class Texts:
    """Texts in order of time, searched by BM25."""

    def __init__(self) -> None:
        self.kept: list[Kept] = []
        self.finder = bm25()
        self.indexed: tuple[int, ...] | None = None
        """The places of the texts in ``finder``; ``None`` if they have changed."""

    def add_session(self, session: dict[str, Any]) -> None:
        """Add the turns of a session."""
        for turn in session["turns"]:
            line = f"{turn.get('speaker') or turn['role']}: {turn['content']}"
            self.kept.append(Kept("", line, turn["turn_id"]))

    def best(self, query: str, k: int, bank: str | None) -> list[int]:
        """Return the places of the texts that fit best, of one bank or of all."""
        places = tuple(place for place, each in enumerate(self.kept) if bank is None or each.bank == bank)
        if places != self.indexed:
            self.finder, self.indexed = bm25(), places
            turns = [{"turn_id": str(place), "role": "", "content": self.kept[place].text} for place in places]
            self.finder.ingest_session({"date": "", "turns": turns}, "")
        return [int(item["source_ids"][0]) for item in self.finder.search(query, k)["items"]]

    def items(self, places: list[int], named: bool = True) -> list[dict[str, Any]]:
        """Return texts as items, with their sources if ``named``."""
        kept = [self.kept[place] for place in places]
        return [{"text": each.text, "source_ids": [each.source] if named else []} for each in kept]

    def forget(self, bank: str | None, ids: list[str] | None) -> int:
        """Delete the texts of a bank, or those with some ids; return their number."""
        left = [each for each in self.kept if each.bank != bank or (ids is not None and each.source not in ids)]
        gone = len(self.kept) - len(left)
        self.kept, self.indexed = left, None
        return gone


class CarefulStore:
    """Keeps banks apart, names sources, and deletes what it is asked to delete."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.texts = Texts()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.texts.add_session(session)

    def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        self.texts.kept.append(Kept(bank, content, source_id))

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return self.texts.items(self.texts.best(query, k, None))

    def recall(self, query: str, k: int, bank: str = "") -> list[dict[str, Any]]:
        return self.texts.items(self.texts.best(query, k, bank))

    def forget(self, bank: str | None = None, ids: list[str] | None = None) -> int:
        return self.texts.forget(bank, ids)

    def export_memories(self) -> list[dict[str, Any]]:
        return self.texts.items([*range(len(self.texts.kept))])


class StoreEverything:
    """Keeps all texts in one place, without banks and sources, and deletes nothing."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.texts = Texts()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.texts.add_session(session)

    def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        self.texts.kept.append(Kept(bank, content, source_id))

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return self.texts.items(self.texts.best(query, k, None), named=False)

    def recall(self, query: str, k: int, bank: str = "") -> list[dict[str, Any]]:
        return self.texts.items(self.texts.best(query, k, None), named=False)

    def forget(self, bank: str | None = None, ids: list[str] | None = None, query: str | None = None) -> int:
        return 0

    def export_memories(self) -> list[dict[str, Any]]:
        return self.texts.items([*range(len(self.texts.kept))], named=False)


class ForgetNothing:
    """Deletes nothing."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.texts = Texts()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.texts.add_session(session)

    def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        self.texts.kept.append(Kept(bank, content, source_id))

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return self.texts.items(self.texts.best(query, k, None))

    def recall(self, query: str, k: int, bank: str = "") -> list[dict[str, Any]]:
        return self.texts.items(self.texts.best(query, k, bank))

    def forget(self, bank: str | None = None, ids: list[str] | None = None, query: str | None = None) -> int:
        return 0

    def export_memories(self) -> list[dict[str, Any]]:
        return self.texts.items([*range(len(self.texts.kept))])


class ForgetEverything:
    """Deletes all users whenever something is to be deleted."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.texts = Texts()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.texts.add_session(session)

    def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        self.texts.kept.append(Kept(bank, content, source_id))

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return self.texts.items(self.texts.best(query, k, None))

    def recall(self, query: str, k: int, bank: str = "") -> list[dict[str, Any]]:
        return self.texts.items(self.texts.best(query, k, bank))

    def forget(self, bank: str | None = None, ids: list[str] | None = None, query: str | None = None) -> int:
        gone = len(self.texts.kept)
        self.texts = Texts()
        return gone

    def export_memories(self) -> list[dict[str, Any]]:
        return self.texts.items([*range(len(self.texts.kept))])


class SoftDelete:
    """Hides what is to be deleted from searches, and still exports it."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.texts, self.hidden = Texts(), Texts()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.texts.add_session(session)

    def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        self.texts.kept.append(Kept(bank, content, source_id))

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return self.texts.items(self.texts.best(query, k, None))

    def recall(self, query: str, k: int, bank: str = "") -> list[dict[str, Any]]:
        return self.texts.items(self.texts.best(query, k, bank))

    def forget(self, bank: str | None = None, ids: list[str] | None = None) -> int:
        before = list(self.texts.kept)
        gone = self.texts.forget(bank, ids)
        left = {id(each) for each in self.texts.kept}
        self.hidden.kept += [each for each in before if id(each) not in left]
        return gone

    def export_memories(self) -> list[dict[str, Any]]:
        return self.texts.items([*range(len(self.texts.kept))]) + self.hidden.items([*range(len(self.hidden.kept))])


class LastWriteWins:
    """Returns the newest of the texts that fit first."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.texts = Texts()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.texts.add_session(session)

    def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        self.texts.kept.append(Kept(bank, content, source_id))

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return self.texts.items(sorted(self.texts.best(query, k, None), reverse=True))

    def recall(self, query: str, k: int, bank: str = "") -> list[dict[str, Any]]:
        return self.texts.items(sorted(self.texts.best(query, k, bank), reverse=True))

    def forget(self, bank: str | None = None, ids: list[str] | None = None) -> int:
        return self.texts.forget(bank, ids)

    def export_memories(self) -> list[dict[str, Any]]:
        return self.texts.items([*range(len(self.texts.kept))])
