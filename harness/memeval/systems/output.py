"""Reads the printed output of a system: limited in size, with control characters made visible."""

from __future__ import annotations

import os
import re
import threading
from collections import deque
from collections.abc import Callable

from memeval.systems.drivers.printed import KEPT_LINES as KEPT_LAST_LINES

Log = Callable[[str], None]
"""Receives one line without its newline."""

KEPT_BYTES = 256_000
"""Bytes of output that are logged per process; the rest is only counted."""

KEPT_LINES = 2_000
"""Lines of output that are logged per process."""

LINE_BYTES = 4_000
"""Longer lines are split."""

_STACK = re.compile(
    r"(Fatal Python error: .*|(Current thread|Thread|Stack)\b.*\(most recent call first\):|Extension modules: .*)"
)
_FRAME = re.compile(r'  File "(.+)", line (\d{1,9}) in (.+)')
"""Lines that ``faulthandler`` prints, and not the system itself."""

FRAMES = 100
"""How many frames of a printed stack are kept."""


def visible(text: str) -> str:
    """Return text with every character that is not printable written as an escape."""
    if text.isprintable():
        return text
    for character in set(text):  # escapes are printable, so the order does not matter
        if not character.isprintable():
            text = text.replace(character, character.encode("unicode_escape").decode("ascii"))
    return text


class OutputReader(threading.Thread):
    """Reads a pipe to its end and logs its lines.

    Args:
        descriptor: the pipe; the thread closes it.
        log: receives every line, from this thread.
    """

    def __init__(self, descriptor: int, log: Log) -> None:
        super().__init__(name="memeval-system-output", daemon=True)
        self._descriptor = descriptor
        self._log = log
        self._lines = self._dropped = 0
        self.last_lines: deque[str] = deque(maxlen=KEPT_LAST_LINES)
        """The last lines that are not blank and not part of a stack of ``faulthandler``."""
        self.stack: list[tuple[str, int, str]] = []
        """The last printed stack, innermost frame first: file, line and function."""

    def run(self) -> None:
        unfinished, kept = b"", 0
        try:
            while chunk := os.read(self._descriptor, 1 << 16):
                left = max(0, KEPT_BYTES - kept)
                self._dropped += max(0, len(chunk) - left)
                kept += len(chunk[:left])
                *lines, unfinished = (unfinished + chunk[:left]).split(b"\n")
                for line in lines:
                    self._log_line(line)
                while len(unfinished) > LINE_BYTES:
                    self._log_line(unfinished[:LINE_BYTES])
                    unfinished = unfinished[LINE_BYTES:]
        finally:
            os.close(self._descriptor)
        if unfinished:
            self._log_line(unfinished)
        if self._dropped:
            self._log(f"{self._dropped} more bytes of the system's output were not kept.")

    def _log_line(self, line: bytes) -> None:
        for start in range(0, max(1, len(line)), LINE_BYTES):
            text = visible(line[start : start + LINE_BYTES].decode("utf-8", "backslashreplace"))
            if not self._is_stack_line(text) and text.strip():
                self.last_lines.append(text)
            if self._lines < KEPT_LINES:
                self._lines += 1
                self._log(text)
            else:
                self._dropped += len(line[start : start + LINE_BYTES]) + 1

    def _is_stack_line(self, text: str) -> bool:
        """Whether a line belongs to a printed stack; if so, store its frame."""
        if frame := _FRAME.fullmatch(text):
            if len(self.stack) < FRAMES:
                self.stack.append((frame[1], int(frame[2]), frame[3]))
            return True
        if _STACK.fullmatch(text):
            self.stack.clear()
            return True
        return False
