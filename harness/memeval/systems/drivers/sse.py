"""Parses server-sent events from bytes as they arrive (WHATWG HTML, section 9.2)."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LINE_BYTES = 16 << 20
"""The longest line, without its end. One line may hold all results of a search."""

TOTAL_BYTES = 32 << 20

LINE_END = re.compile(rb"\r\n|\r|\n")


class StreamTooLong(Exception):
    """A line, or the whole stream, exceeds its limit; the text says which."""


class ServerSentEvent:
    """One event: its name (``message`` by default) and its data."""

    __slots__ = ("data", "name")

    def __init__(self, name: str, data: str) -> None:
        self.name = name
        self.data = data


class EventParser:
    """Turns the bytes of a stream into events. The bytes may arrive in pieces of any size.

    It ignores ids, retry times, comments, unknown fields, and a last event without a blank line.
    """

    def __init__(self, line_bytes: int = LINE_BYTES, total_bytes: int = TOTAL_BYTES) -> None:
        self._line_bytes = line_bytes
        self._left = total_bytes
        self._total_bytes = total_bytes
        self._parts: list[bytes] = []
        self._pending = 0
        self._after_return = False
        self._first = True
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        """Add bytes, and yield the events that they complete.

        Raises StreamTooLong: a limit is exceeded; the events before it were yielded.
        """
        allowed, self._left = chunk[: self._left], self._left - len(chunk)
        start = 1 if self._after_return and allowed.startswith(b"\n") else 0
        if allowed:
            self._after_return = False
        for end in LINE_END.finditer(allowed, start):
            self._keep(allowed[start : end.start()])
            line, self._parts, self._pending = b"".join(self._parts), [], 0
            start = end.end()
            self._after_return = end.group() == b"\r" and start == len(allowed)
            event = self._line(line)
            if event is not None:
                yield event
        self._keep(allowed[start:])
        if self._left < 0:
            raise StreamTooLong(f"The event stream exceeds {self._total_bytes} bytes.")

    def _keep(self, part: bytes) -> None:
        self._pending += len(part)
        if self._pending > self._line_bytes:
            raise StreamTooLong(f"The event stream has a line longer than {self._line_bytes} bytes.")
        if part:
            self._parts.append(part)

    def _line(self, line: bytes) -> ServerSentEvent | None:
        if self._first:
            self._first = False
            line = line[3:] if line.startswith(b"\xef\xbb\xbf") else line
        if not line:
            name, data = self._name, self._data
            self._name, self._data = "", []
            return ServerSentEvent(name or "message", "\n".join(data)) if data else None
        field, _, value = line.partition(b":")
        text = (value[1:] if value.startswith(b" ") else value).decode("utf-8", "replace")
        if field == b"event":
            self._name = text
        elif field == b"data":
            self._data.append(text)
        return None
