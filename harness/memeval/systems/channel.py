"""Exchanges lines with another process over pipes, without deadlock, and reads what it prints, within limits."""

import contextlib
import os
import re
import select
import threading
import time
from collections import deque
from collections.abc import Callable

from memeval.systems.drivers.printed import KEPT_LINES as KEPT_LAST_LINES

CHUNK = 1 << 16
SLICE_SECONDS = 0.25
"""Interval of checks whether the child still runs: a grandchild may keep the pipe open."""

WAITID = getattr(os, "waitid", None)


class LineTooLong(Exception):
    """The other process wrote a line longer than the limit."""


class LineEnded(Exception):
    """The other process has ended or closed its pipe."""


class LineTimedOut(Exception):
    """No complete line arrived in time."""


class LineBuffer:
    """Splits a stream of bytes into lines. ``limit``: the longest line, in bytes without its newline."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Add bytes, and return the completed lines without their newlines.

        Raises LineTooLong: a line, complete or not, is longer than the limit.
        """
        *ends, rest = chunk.split(b"\n")
        lines: list[bytes] = []
        for end in ends:
            line = end
            if self._parts:
                line = b"".join((*self._parts, end))
                self._parts.clear()
                self._size = 0
            if len(line) > self._limit:
                raise LineTooLong
            lines.append(line)
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size > self._limit:
                raise LineTooLong
        return lines


def has_ended(pid: int) -> bool:
    """Whether a child has ended. It is not reaped, so that its process id and group id are not reused."""
    return WAITID is not None and WAITID(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


class Channel:
    """Both pipes between memeval and a child process.

    Sent lines are buffered until the child reads them, and replies are read meanwhile. So the pipes cannot block each
    other.

    Args:
        write_to: descriptor of the pipe to the child; made non-blocking.
        read_from: descriptor of the pipe from the child; made non-blocking.
        limit: the longest line from the child, in bytes.
    """

    def __init__(self, pid: int, write_to: int, read_from: int, limit: int) -> None:
        self._pid = pid
        self._write_to = write_to
        self._read_from = read_from
        os.set_blocking(write_to, False)
        os.set_blocking(read_from, False)
        self._buffer = LineBuffer(limit)
        self._lines: deque[bytes] = deque()
        self._unsent: deque[memoryview] = deque()
        self._reading = select.poll()
        self._reading.register(read_from, select.POLLIN)
        self._both = select.poll()
        self._both.register(read_from, select.POLLIN)
        self._both.register(write_to, select.POLLOUT)

    def send(self, line: bytes) -> None:
        """Buffer a line with its newline; the next :meth:`receive` writes all buffered lines."""
        self._unsent.append(memoryview(line))

    def receive(self, seconds: float) -> bytes:
        """Return the next line from the child, without its newline.

        Raises LineTimedOut: no complete line arrived in time. LineEnded: the child has ended, or closed its pipe.
        LineTooLong: the line is longer than the limit.
        """
        if self._unsent:
            self._flush()
        if self._lines:
            return self._lines.popleft()
        deadline = time.monotonic() + seconds
        left = seconds
        while True:
            waiter = self._both if self._unsent else self._reading
            ready = waiter.poll(max(0.0, min(left, SLICE_SECONDS)) * 1000)
            ended = not ready and has_ended(self._pid)
            if self._unsent:
                self._flush()
            received = (ended or any(descriptor == self._read_from for descriptor, _ in ready)) and self._read()
            if self._lines:
                return self._lines.popleft()
            if ended and not received:
                raise LineEnded
            left = deadline - time.monotonic()
            if left <= 0:
                raise LineTimedOut

    def is_read(self) -> bool:
        """Whether the child has read all that was sent."""
        import fcntl
        import termios

        unread = bytearray(4)
        with contextlib.suppress(OSError):
            fcntl.ioctl(self._write_to, termios.FIONREAD, unread)
        return not self._unsent and not any(unread)

    def _read(self) -> bool:
        try:
            chunk = os.read(self._read_from, CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            raise LineEnded
        self._lines.extend(self._buffer.feed(chunk))
        return True

    def _flush(self) -> None:
        if len(self._unsent) > 1:
            self._unsent = deque([memoryview(b"".join(self._unsent))])
        while self._unsent:
            head = self._unsent[0]
            try:
                written = os.write(self._write_to, head)
            except BlockingIOError:
                return
            except BrokenPipeError:
                self._unsent.clear()  # The child has ended: reading reports it.
                self._both = self._reading
                return
            if written == len(head):
                self._unsent.popleft()
            else:
                self._unsent[0] = head[written:]


Log = Callable[[str], None]
"""Receives one line without its newline."""

KEPT_BYTES = 256_000
"""Bytes of output that are logged per process; of the rest, only the last lines and the last stack are kept."""

KEPT_LINES = 2_000
"""Lines of output that are logged per process."""

LINE_BYTES = 4_000

_STACK = re.compile(
    r"(Fatal Python error: .*|(Current thread|Thread|Stack)\b.*\(most recent call first\):|Extension modules: .*)"
)
_FRAME = re.compile(r'  File "(.+)", line (\d{1,9}) in (.+)')
"""Lines that ``faulthandler`` prints, and not the system itself."""

FRAMES = 100


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

    ``descriptor``: the pipe; the thread closes it. ``log``: receives every line, from this thread.
    """

    def __init__(self, descriptor: int, log: Log) -> None:
        super().__init__(name="memeval-system-output", daemon=True)
        self._descriptor = descriptor
        self._log = log
        self._lines = self._kept = self._dropped = 0
        self._is_full = False
        self.last_lines: deque[str] = deque(maxlen=KEPT_LAST_LINES)
        """The last lines that are not blank and not part of a stack of ``faulthandler``."""
        self.stack: list[tuple[str, int, str]] = []
        """The last printed stack, innermost frame first: file, line and function."""

    def run(self) -> None:
        unfinished = b""
        try:
            while chunk := os.read(self._descriptor, 1 << 16):
                *lines, unfinished = (unfinished + chunk).split(b"\n")
                for line in lines:
                    self._log_line(line)
                while len(unfinished) > LINE_BYTES:
                    self._log_line(unfinished[:LINE_BYTES], end=0)
                    unfinished = unfinished[LINE_BYTES:]
        finally:
            os.close(self._descriptor)
        if unfinished:
            self._log_line(unfinished, end=0)
        if self._dropped:
            self._log(f"{self._dropped} more bytes of the system's output were not kept.")

    def _log_line(self, line: bytes, end: int = 1) -> None:
        """Look at a line, and log it within the limits. ``end``: the bytes of its line break."""
        for start in range(0, max(1, len(line)), LINE_BYTES):
            part = line[start : start + LINE_BYTES]
            text = visible(part.decode("utf-8", "backslashreplace"))
            if not self._is_stack_line(text) and text.strip():
                self.last_lines.append(text)
            self._is_full |= self._lines == KEPT_LINES or self._kept + len(part) > KEPT_BYTES
            if self._is_full:
                self._dropped += len(part)
            else:
                self._lines += 1
                self._kept += len(part)
                self._log(text)
        self._dropped += end if self._is_full else 0

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
