"""Lines to and from another process, over pipes: bounded in size and time, and without deadlock."""

from __future__ import annotations

import os
import select
import time
from collections import deque

CHUNK = 1 << 16
SLICE_SECONDS = 0.25
"""How long to wait before looking whether the child still lives: a pipe held open by a grandchild never ends."""

WAITID = getattr(os, "waitid", None)


class LineTooLong(Exception):
    """The other side wrote a line beyond the limit."""


class LineEnded(Exception):
    """The other side will write no more."""


class LineTimedOut(Exception):
    """No line came in time."""


class LineBuffer:
    """Cuts a stream of bytes into lines.

    Args:
        limit: the longest line, in bytes without its newline.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._held = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take bytes in and return the lines they complete, without their newlines.

        Raises:
            LineTooLong: a line, complete or not, is beyond the limit.
        """
        *ends, rest = chunk.split(b"\n")
        lines: list[bytes] = []
        for end in ends:
            line = end
            if self._parts:
                line = b"".join((*self._parts, end))
                self._parts.clear()
                self._held = 0
            if len(line) > self._limit:
                raise LineTooLong
            lines.append(line)
        if rest:
            self._parts.append(rest)
            self._held += len(rest)
            if self._held > self._limit:
                raise LineTooLong
        return lines


def has_ended(pid: int) -> bool:
    """Whether a child has ended, without reaping it, so that its id and its group's stay taken."""
    return WAITID is not None and WAITID(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


class Channel:
    """Both directions of the line to a child process.

    What is sent waits here until the child takes it, while replies are read all the same, so the two pipes cannot
    block each other however much is in flight.

    Args:
        pid: the child.
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
        """Put a line, newline included, on its way; the next :meth:`receive` writes all that is, at once."""
        self._unsent.append(memoryview(line))

    def receive(self, seconds: float) -> bytes:
        """Return the next line from the child, without its newline.

        Args:
            seconds: how long to wait for the line to be complete.

        Raises:
            LineTimedOut: it was not.
            LineEnded: the child has ended, or closed its pipe.
            LineTooLong: the line is beyond the limit.
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
            came = (ended or any(descriptor == self._read_from for descriptor, _ in ready)) and self._read()
            if self._lines:
                return self._lines.popleft()
            if ended and not came:
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
                self._unsent.clear()  # The child is gone: reading will say so.
                self._both = self._reading
                return
            if written == len(head):
                self._unsent.popleft()
            else:
                self._unsent[0] = head[written:]
