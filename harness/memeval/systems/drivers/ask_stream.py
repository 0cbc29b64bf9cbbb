"""Reads the event stream in which a jeffs-brain daemon answers a question, in all known dialects."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from memeval.systems.drivers.faults import DriverFailed
else:
    from faults import DriverFailed

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
        """The chunks that it cites."""
        self.usage: dict[str, int] = {}
        """Tokens of its model calls, if it reports them."""
        self._parts: list[str] = []
        self._complete: str | None = None
        self._error: str | None = None
        self._done = False

    def take(self, name: str, data: str) -> bool:
        """Process one event; return whether it was the last.

        Raises:
            DaemonFailed: its data is invalid.
        """
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
        """Return the answer."""
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
    """Return the chunks in a reply of the daemon."""
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
