"""Documents in the brains of a jeffs-brain daemon: their text, their paths, and their source sessions."""

from __future__ import annotations

import hashlib
import json
import re
import uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any


DOCUMENT_BYTES = 1 << 18
"""The longest text of a document, in bytes of UTF-8: a longer text becomes several. Daemons would take 2 MiB, but the
results of a search must fit into one reply."""


class Document:
    """A document that was stored."""

    __slots__ = ("source_id", "tags", "timestamp")

    def __init__(self, source_id: str, timestamp: str | None, tags: Sequence[str]) -> None:
        self.source_id = source_id
        self.timestamp = timestamp
        self.tags = frozenset(tags)


class BrainDocuments:
    """A brain at the daemon, with its documents by path."""

    def __init__(self) -> None:
        self.name = f"memeval-{uuid.uuid4().hex[:16]}"
        self.documents: dict[str, Document] = {}
        self.settled = True


def place_of(folder: str, source_id: str, metadata: Mapping[str, Any] | None) -> str:
    """Return where a text lies, without an ending: where its metadata say, else under its id in a folder."""
    path = (metadata or {}).get("path")
    if isinstance(path, str) and re.fullmatch(r"(?:[A-Za-z0-9_-]{1,80}/){0,4}[A-Za-z0-9_-]{1,80}\.md", path):
        return path.removesuffix(".md")
    return f"{folder}/{file_stem(source_id)}"


def files_of(
    place: str, text: str, source_id: str, timestamp: str | None, tags: Sequence[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield the documents that a text becomes, each as its path and its bytes. The same place gives the same paths."""
    head = front_matter({"session_id": source_id, "session_date": timestamp, "tags": list(tags)})
    for number, part in enumerate(parts_of(text, DOCUMENT_BYTES)):
        yield f"{place}{f'-{number + 1}' if number else ''}.md", f"{head}{part}\n".encode()


def item_of(brain: BrainDocuments, chunk: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chunk or a citation as an item: its text, the session it came from, its score."""
    text = chunk.get("text") or chunk.get("summary") or chunk.get("title") or ""
    item: dict[str, Any] = {"text": without_front_matter(str(text)), "source_ids": [source_of(brain, chunk)]}
    score = chunk.get("score")
    if isinstance(score, (int, float)) and not isinstance(score, bool):
        item["score"] = score
    return item


def front_matter(values: Mapping[str, Any]) -> str:
    """Return what stands above a document: a line of YAML for each value there is, as JSON, which YAML contains."""
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items() if value]
    return "\n".join(["---", *lines, "---", ""])


def without_front_matter(text: str) -> str:
    """Return the text below a document's front matter: some daemons hand back both."""
    return re.sub(r"\A---\n.*?\n---\n", "", text, count=1, flags=re.DOTALL)


def file_stem(source_id: str) -> str:
    """Return the name of a document's file, which is its id where that may be a name."""
    if re.fullmatch(r"[A-Za-z0-9_-]{1,80}", source_id):
        return source_id
    return "id-" + hashlib.sha256(source_id.encode("utf-8")).hexdigest()[:16]


def parts_of(text: str, limit: int) -> Iterator[str]:
    """Yield a text whole, or in parts of at most ``limit`` bytes, cut between lines where that can be."""
    data = text.encode("utf-8")
    start = 0
    while len(data) - start > limit:
        end = data.rfind(b"\n", start, start + limit) + 1
        if not end:
            end = start + limit
            while data[end] & 0xC0 == 0x80:  # within a character
                end -= 1
        yield data[start:end].decode("utf-8")
        start = end
    yield data[start:].decode("utf-8")


def chunk_path(chunk: Mapping[str, Any]) -> str:
    """Return the path of the document that a chunk is of."""
    return str(chunk.get("path") or chunk.get("documentId") or "")


def source_of(brain: BrainDocuments, chunk: Mapping[str, Any]) -> str:
    """Return the session a chunk came from: as the daemon says, else by the document's path, else by its name."""
    metadata = chunk.get("metadata")
    known = metadata if isinstance(metadata, dict) else {}
    path = chunk_path(chunk)
    named = known.get("session_id") or known.get("sessionId")
    if not named and path in brain.documents:
        named = brain.documents[path].source_id
    return str(named or path.rpartition("/")[2].rpartition(".")[0])
