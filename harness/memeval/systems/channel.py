"""Exchanges lines with another process over pipes, with limits of size and time, and without deadlock."""

from __future__ import annotations

import os
import select
import time
from collections import deque

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
    """Splits a stream of bytes into lines.

    Args:
        limit: the longest line, in bytes without its newline.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Add bytes, and return the completed lines without their newlines.

        Raises:
            LineTooLong: a line, complete or not, is longer than the limit.
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

        Raises:
            LineTimedOut: no complete line arrived in time.
            LineEnded: the child has ended, or closed its pipe.
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
