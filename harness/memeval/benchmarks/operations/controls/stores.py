"""A store that syncs every text before it acknowledges it, and others that differ from it in one way each.

All of them append texts to one file, as lines of JSON, and search by shared words, rare ones first.
"""

from __future__ import annotations

import json
import math
import os
import re
import threading
import time
from pathlib import Path
from typing import Any

FLUSHED = 16
"""How many texts the store that buffers keeps in its memory before it writes them out."""

INDEXING_SECONDS = 1.0
"""How long the slow index takes until a text can be found."""


class Index:
    """Texts in memory, found by the words that they share with a query."""

    def __init__(self) -> None:
        self.texts: list[dict[str, str]] = []
        self.places: dict[str, list[int]] = {}

    def add(self, text: dict[str, str]) -> None:
        place = len(self.texts)
        self.texts.append(text)
        for word in set(re.findall(r"\w+", text["text"].lower())):
            self.places.setdefault(word, []).append(place)

    def update(self, file: File) -> None:
        """Add the texts of a file that are new."""
        for text in file.unread():
            self.add(text)

    def best(self, query: str, k: int, bank: str | None) -> list[dict[str, Any]]:
        """Return the texts that share most words with a query, of one bank or of all."""
        scores: dict[int, float] = {}
        for word in set(re.findall(r"\w+", query.lower())):
            places = self.places.get(word, ())
            for place in places:
                scores[place] = scores.get(place, 0.0) + math.log(1 + len(self.texts) / len(places))
        order = sorted(scores, key=lambda place: (-scores[place], place))
        chosen = [self.texts[place] for place in order if bank is None or self.texts[place]["bank"] == bank]
        return [item(text) for text in chosen[:k]]


def item(text: dict[str, str]) -> dict[str, Any]:
    """Return a text as an item."""
    return {"text": text["text"], "source_ids": [text["id"]]}


class File:
    """Lines of JSON in the storage folder. The last line is dropped if it is not whole."""

    def __init__(self) -> None:
        self.path = Path(os.environ["MEMEVAL_STORAGE"], "texts.jsonl")
        content = self.path.read_bytes() if self.path.exists() else b""
        self.read = 0
        """How many bytes have been read."""
        if not content.endswith(b"\n"):
            content = content[: content.rfind(b"\n") + 1]
            self.path.write_bytes(content)
        self.file = self.path.open("ab")
        folder = os.open(self.path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def unread(self) -> list[dict[str, str]]:
        """Return the texts that are new since the last call, those of other processes too."""
        with self.path.open("rb") as file:
            file.seek(self.read)
            content = file.read()
        end = content.rfind(b"\n") + 1
        self.read += end
        return [json.loads(line) for line in content[:end].splitlines()]

    def append(self, texts: list[dict[str, str]], sync: bool) -> None:
        self.file.write(b"".join(json.dumps(text).encode() + b"\n" for text in texts))
        self.file.flush()
        if sync:
            os.fsync(self.file.fileno())

    def empty(self) -> None:
        self.file.truncate(0)
        self.read = 0
        os.fsync(self.file.fileno())


def opened() -> tuple[File, Index]:
    """Return the file of the storage folder, and an index of its texts."""
    file, index = File(), Index()
    index.update(file)
    return file, index


def made(content: str, bank: str, source_id: str) -> dict[str, str]:
    return {"text": content, "bank": bank, "id": source_id}


class SyncedStore:
    """Acknowledges a text after ``fsync``."""

    texts_together = True
    questions_at_once = 16

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.file, self.index = opened()

    def reset(self) -> None:
        self.file.empty()
        self.index = Index()

    def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        with self.lock:
            self.file.append([made(content, bank, source_id)], sync=True)

    def recall(self, query: str, k: int, bank: str | None = None) -> list[dict[str, Any]]:
        with self.lock:
            self.index.update(self.file)
            return self.index.best(query, k, bank)

    def export_memories(self) -> list[dict[str, Any]]:
        with self.lock:
            self.index.update(self.file)
            return [item(text) for text in self.index.texts]


class UnsyncedStore:
    """Acknowledges a text when the operating system has it, without ``fsync``."""

    texts_together = True
    questions_at_once = 16

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.file, self.index = opened()

    def reset(self) -> None:
        self.file.empty()
        self.index = Index()

    def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        with self.lock:
            self.file.append([made(content, bank, source_id)], sync=False)

    def recall(self, query: str, k: int, bank: str | None = None) -> list[dict[str, Any]]:
        with self.lock:
            self.index.update(self.file)
            return self.index.best(query, k, bank)

    def export_memories(self) -> list[dict[str, Any]]:
        with self.lock:
            self.index.update(self.file)
            return [item(text) for text in self.index.texts]


class BufferedStore:
    """Acknowledges a text from its own memory, and writes out and syncs sixteen at a time."""

    texts_together = True
    questions_at_once = 16

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.buffer: list[dict[str, str]] = []
        self.file, self.index = opened()

    def reset(self) -> None:
        self.file.empty()
        self.index, self.buffer = Index(), []

    def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        with self.lock:
            text = made(content, bank, source_id)
            self.index.add(text)
            self.buffer.append(text)
            if len(self.buffer) == FLUSHED:
                self.flush()

    def flush(self) -> None:
        self.file.append(self.buffer, sync=True)
        self.buffer = []

    def recall(self, query: str, k: int, bank: str | None = None) -> list[dict[str, Any]]:
        with self.lock:
            return self.index.best(query, k, bank)

    def export_memories(self) -> list[dict[str, Any]]:
        return [item(text) for text in self.index.texts]

    def close(self) -> None:
        self.flush()


class KeepsNothing:
    """Acknowledges a text from its own memory, and never writes it out."""

    texts_together = True
    questions_at_once = 16

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.index = Index()

    def reset(self) -> None:
        self.index = Index()

    def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        with self.lock:
            self.index.add(made(content, bank, source_id))

    def recall(self, query: str, k: int, bank: str | None = None) -> list[dict[str, Any]]:
        with self.lock:
            return self.index.best(query, k, bank)

    def export_memories(self) -> list[dict[str, Any]]:
        return [item(text) for text in self.index.texts]


class MixesUsers:
    """Is the store that syncs, and searches the texts of all users."""

    texts_together = True
    questions_at_once = 16

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.file, self.index = opened()

    def reset(self) -> None:
        self.file.empty()
        self.index = Index()

    def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        with self.lock:
            self.file.append([made(content, bank, source_id)], sync=True)

    def recall(self, query: str, k: int, bank: str | None = None) -> list[dict[str, Any]]:
        with self.lock:
            self.index.update(self.file)
            return self.index.best(query, k, None)

    def export_memories(self) -> list[dict[str, Any]]:
        with self.lock:
            self.index.update(self.file)
            return [item(text) for text in self.index.texts]


class SlowIndex:
    """Acknowledges a text after ``fsync``, and finds it a second later."""

    texts_together = True
    questions_at_once = 16

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.file, self.index = opened()
        self.waiting: list[tuple[float, dict[str, str]]] = []

    def reset(self) -> None:
        self.file.empty()
        self.index, self.waiting = Index(), []

    def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        with self.lock:
            text = made(content, bank, source_id)
            self.file.append([text], sync=True)
            self.waiting.append((time.monotonic() + INDEXING_SECONDS, text))

    def settle(self, timeout: float) -> bool:
        """Wait until all texts can be found."""
        time.sleep(INDEXING_SECONDS if self.waiting else 0.0)
        return True

    def take_waiting(self) -> None:
        now = time.monotonic()
        while self.waiting and self.waiting[0][0] <= now:
            self.index.add(self.waiting.pop(0)[1])

    def recall(self, query: str, k: int, bank: str | None = None) -> list[dict[str, Any]]:
        with self.lock:
            self.take_waiting()
            return self.index.best(query, k, bank)

    def export_memories(self) -> list[dict[str, Any]]:
        with self.lock:
            return [item(text) for text in [*self.index.texts, *(text for _, text in self.waiting)]]
