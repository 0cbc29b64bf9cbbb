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
"""The longest text of a document, in bytes of UTF-8; a longer text is split. Daemons accept 2 MiB, but the results of
a search must fit into one reply."""


class Document:
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
    """Return the path of a text without its suffix: from its metadata, else its id in a folder."""
    path = (metadata or {}).get("path")
    if isinstance(path, str) and re.fullmatch(r"(?:[A-Za-z0-9_-]{1,80}/){0,4}[A-Za-z0-9_-]{1,80}\.md", path):
        return path.removesuffix(".md")
    return f"{folder}/{file_stem(source_id)}"


def files_of(
    place: str, text: str, source_id: str, timestamp: str | None, tags: Sequence[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield the documents of a text, each with its path and its bytes. The same place gives the same paths."""
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
    """Return the YAML front matter of a document: one line per value, without blank values."""
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items() if value]
    return "\n".join(["---", *lines, "---", ""])


def without_front_matter(text: str) -> str:
    """Return the text of a document without its front matter, which some daemons return too."""
    return re.sub(r"\A---\n.*?\n---\n", "", text, count=1, flags=re.DOTALL)


def file_stem(source_id: str) -> str:
    """Return the file name of a document: its id, or a hash of the id if it is not a valid name."""
    if re.fullmatch(r"[A-Za-z0-9_-]{1,80}", source_id):
        return source_id
    return "id-" + hashlib.sha256(source_id.encode("utf-8")).hexdigest()[:16]


def parts_of(text: str, limit: int) -> Iterator[str]:
    """Yield a text in parts of at most ``limit`` bytes, split between lines if possible."""
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
    return str(chunk.get("path") or chunk.get("documentId") or "")


def source_of(brain: BrainDocuments, chunk: Mapping[str, Any]) -> str:
    """Return the source session of a chunk: from its metadata, else by the document's path, else by its name."""
    metadata = chunk.get("metadata")
    fields = metadata if isinstance(metadata, dict) else {}
    path = chunk_path(chunk)
    session_id = fields.get("session_id") or fields.get("sessionId")
    if not session_id and path in brain.documents:
        session_id = brain.documents[path].source_id
    return str(session_id or path.rpartition("/")[2].rpartition(".")[0])
