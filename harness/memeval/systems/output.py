"""What a system prints, kept apart from the protocol: bounded, and with control characters made visible."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable

Log = Callable[[str], None]
"""Takes one line, without its newline."""

KEPT_BYTES = 256_000
"""Bytes of output handed on per process; the rest is counted."""

KEPT_LINES = 2_000
"""Lines of output handed on per process; each costs far more than its bytes."""

LINE_BYTES = 4_000
"""Longer lines are cut into several."""

_STACK = re.compile(
    r"(Fatal Python error: .*|(Current thread|Thread|Stack)\b.*\(most recent call first\):|Extension modules: .*)"
)
_FRAME = re.compile(r'  File "(.+)", line (\d{1,9}) in (.+)')
"""Lines of ``faulthandler``'s, which are no words of the system's."""

FRAMES = 100
"""How many frames of a printed stack are kept."""


def visible(text: str) -> str:
    """Return text with every character that would not show, or would move others, written as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class OutputReader(threading.Thread):
    """Reads a pipe to its end and hands its lines on.

    Args:
        descriptor: the pipe; read and closed here.
        log: called with every line, from this thread.
    """

    def __init__(self, descriptor: int, log: Log) -> None:
        super().__init__(name="memeval-system-output", daemon=True)
        self._descriptor = descriptor
        self._log = log
        self._lines = self._dropped = 0
        self.last_line = ""
        """The last line that was not blank, stacks aside."""
        self.stack: list[tuple[str, int, str]] = []
        """The stack that was printed last, innermost frame first: file, line and function."""

    def run(self) -> None:
        held, kept = b"", 0
        try:
            while chunk := os.read(self._descriptor, 1 << 16):
                room = max(0, KEPT_BYTES - kept)
                self._dropped += max(0, len(chunk) - room)
                kept += len(chunk[:room])
                *lines, held = (held + chunk[:room]).split(b"\n")
                for line in lines:
                    self._hand_on(line)
                while len(held) > LINE_BYTES:
                    self._hand_on(held[:LINE_BYTES])
                    held = held[LINE_BYTES:]
        finally:
            os.close(self._descriptor)
        if held:
            self._hand_on(held)
        if self._dropped:
            self._log(f"{self._dropped} more bytes of the system's output were not kept.")

    def _hand_on(self, line: bytes) -> None:
        for start in range(0, max(1, len(line)), LINE_BYTES):
            text = visible(line[start : start + LINE_BYTES].decode("utf-8", "backslashreplace"))
            if not self._is_of_stack(text) and text.strip():
                self.last_line = text
            if self._lines < KEPT_LINES:
                self._lines += 1
                self._log(text)
            else:
                self._dropped += len(line[start : start + LINE_BYTES]) + 1

    def _is_of_stack(self, text: str) -> bool:
        """Whether a line belongs to a printed stack; its frames are kept."""
        if frame := _FRAME.fullmatch(text):
            if len(self.stack) < FRAMES:
                self.stack.append((frame[1], int(frame[2]), frame[3]))
            return True
        if _STACK.fullmatch(text):
            self.stack.clear()
            return True
        return False
