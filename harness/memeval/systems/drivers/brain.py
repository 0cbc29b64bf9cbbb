"""What the driver of jeffs-brain daemons knows about them: documents in brains, parameters, and streams of answers."""

from __future__ import annotations

import hashlib
import json
import os
import re
import uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from memeval.systems.drivers.printed import DriverFailed
else:
    from printed import DriverFailed

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


DELTA_EVENTS = ("answer_delta", "token")
DELTA_KEYS = ("delta", "text", "content", "token")
USAGE_KEYS = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}

QUOTED = 200
"""How many characters of a partial answer, and of the daemon's error message, are quoted."""


class DaemonFailed(DriverFailed):
    """The daemon refused a call, or its reply cannot be used."""


class StreamedAnswer:
    def __init__(self) -> None:
        self.retrieved: list[dict[str, Any]] = []
        """The chunks that the daemon reports as the basis of its answer, best first."""
        self.cited: list[dict[str, Any]] = []
        self.usage: dict[str, int] = {}
        """Tokens of its model calls, if it reports them."""
        self._parts: list[str] = []
        self._complete: str | None = None
        self._error: str | None = None
        self._done = False

    def take(self, name: str, data: str) -> bool:
        """Process one event; return whether it was the last. Raises DaemonFailed: its data is invalid."""
        if name in DELTA_EVENTS:
            fields = _object(name, data)
            self._parts += [next((fields[key] for key in DELTA_KEYS if isinstance(fields.get(key), str)), "")]
        elif name == "retrieve":
            self.retrieved = chunks_of(_object(name, data))
        elif name == "citation":
            self.cited.append(_object(name, data))
        elif name == "error":
            self._error = _message(_object(name, data))
        elif name == "done":
            self._finish(_object(name, data))
        return self._done

    def text(self) -> str:
        if self._error is not None:
            raise DaemonFailed(f"The daemon could not answer: {self._error}.{self.partial()}")
        if not self._done:
            raise DaemonFailed(f"truncated_stream: the daemon's stream ended without the event 'done'.{self.partial()}")
        return "".join(self._parts) or self._complete or ""

    def partial(self) -> str:
        """Return a sentence, after a space, that quotes the partial answer; empty if there is none."""
        written = "".join(self._parts)
        return f" It had written {len(written)} characters: {written[:QUOTED]!r}" if written else ""

    def _finish(self, fields: Mapping[str, Any]) -> None:
        self._done = True
        if fields.get("ok") is False and self._error is None:
            self._error = "it reported a failure without a reason"
        if isinstance(fields.get("answer"), str):
            self._complete = fields["answer"]
        usage = fields.get("usage")
        if isinstance(usage, dict):
            counts = {ours: usage.get(theirs, usage.get(ours)) for theirs, ours in USAGE_KEYS.items()}
            self.usage = {name: count for name, count in counts.items() if type(count) is int and count >= 0}


def chunks_of(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    chunks = found.get("chunks")
    if chunks is None:
        return []
    if not isinstance(chunks, list) or not all(isinstance(chunk, dict) for chunk in chunks):
        raise DaemonFailed("The daemon's 'chunks' is not a list of objects.")
    return chunks


def _object(name: str, data: str) -> dict[str, Any]:
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise DaemonFailed(f"The daemon's event {name!r} is not a JSON object: {data[:QUOTED]!r}.")
    return fields


def _message(fields: Mapping[str, Any]) -> str:
    reason = fields.get("message") or fields.get("error") or fields.get("detail")
    return " ".join(str(reason or "it gave no reason").split())[:QUOTED].rstrip(".")


MOST = 1000

MODES = ("auto", "hybrid", "hybrid-rerank", "bm25", "semantic")
DEFAULTS: dict[str, Any] = {
    "scenario": "ask",
    "mode": "auto",
    "top_k": 5,
    "reader_mode": "basic",
    "candidate_k": 0,
    "rerank_top_n": 0,
    "sdk": "ts",
    "model": "",
}
"""The submission's parameters: ``scenario`` is ``ask`` (the daemon answers) or ``search`` (memeval's reader does);
``top_k`` is for ``ask``; 0 means the daemon's default; ``sdk`` is the language of the daemon: ts, go or py; ``model``
is the answering model, blank for the daemon's default."""

CHOICES = {
    "scenario": ("ask", "search"),
    "mode": MODES,
    "reader_mode": ("basic", "augmented"),
    "sdk": ("ts", "go", "py"),
}


def checked(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters, with defaults for missing ones. Raises DaemonFailed: one is unknown or invalid."""
    if unknown := sorted(set(parameters) - set(DEFAULTS)):
        raise DaemonFailed(f"Unknown parameter {unknown[0]!r}. Known are {', '.join(DEFAULTS)}.")
    for name, value in parameters.items():
        if name in CHOICES:
            if value not in CHOICES[name]:
                raise DaemonFailed(f"Invalid parameter {name}: {value!r}. Use one of {', '.join(CHOICES[name])}.")
        elif name == "model":
            if not isinstance(value, str) or not re.fullmatch(r"[\w.:/@-]{0,100}", value):
                raise DaemonFailed(f"Invalid parameter model: {value!r}. Give the name of a model.")
        elif type(value) is not int or not 0 <= value <= MOST:
            raise DaemonFailed(f"Invalid parameter {name}: {value!r}. Give a whole number from 0 to {MOST}.")
    return {**DEFAULTS, **parameters}


def prepare_environment(settings: Mapping[str, Any]) -> None:
    """Set the variables that the daemon reads, from those that memeval gives to every system.

    Daemons take any key or address of a provider for leave to use it. So they get none where memeval's reader answers,
    and in ``bm25`` none for embeddings. The TypeScript one puts ``/v1`` behind the address, the others want it there.
    """
    os.environ.setdefault("JB_HOME", os.path.join(os.environ["HOME"], "jeffs-brain"))  # noqa: PTH118
    if settings["model"]:
        os.environ["JB_LLM_MODEL"] = settings["model"]
    base, typescript = os.environ.get("OPENAI_BASE_URL"), settings["sdk"] == "ts"
    asks, embeds = settings["scenario"] == "ask", settings["mode"] != "bm25"
    if base and typescript:
        base = re.sub(r"/v1/?$", "", base)
        os.environ["OPENAI_BASE_URL"] = base
        if asks:
            os.environ.setdefault("JB_LLM_PROVIDER", "openai")
            os.environ["JB_LLM_BASE_URL"] = base
            os.environ["JB_LLM_API_KEY"] = os.environ.get("OPENAI_API_KEY", "")
    if not embeds and (typescript or not asks):
        for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
            os.environ.pop(name, None)
