"""What a program printed: the cause of its error with its own file and line, and the sentences that drivers make of it.

Drivers import this file in a system's process, so it needs only the standard library of Python 3.9 or later.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import sys
import time
import urllib.parse
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

KEPT_LINES = 80
"""How many of the last printed lines are kept to find the cause of an error."""

LAST_LINES = 3
"""How many of them an error quotes."""

LINE_BYTES = 4000

QUOTED = 200

WAIT_SECONDS = 0.1
"""How long to wait for what a server prints while it answers."""

_TRACEBACK = "Traceback (most recent call last)"
_ERROR = re.compile(
    r"(?:Uncaught |Exception in thread \S+ |[\w./-]+: )*[A-Za-z_$][\w.$]*(?:Error|Exception)(?: \[\w+\])?(?::|$)"
    r"|(?:error|fatal|fatal error|panic)(?:\[\w+\])?: "
    r"|thread '[^']*' panicked at"
    r"|.*: (?:command )?not found$|.*: No such file or directory$|.*: Permission denied$",
    re.IGNORECASE,
)
"""How the line of an error begins, in the output of Python, Node, Java, Rust, Go and shells."""

_PACKAGES = re.compile(r"(?:site-packages|node_modules|\.venv)/")

REMEDIES = (
    (re.compile(r"No module named '?([A-Za-z_]\w*)"), "Add '{}' to requirements.lock."),
    (re.compile(r"Cannot find (?:package|module) '([^'./][^']*)'"), "Add '{}' to package-lock.json."),
    (re.compile(r"Cannot find module '([^']+)' imported from"), "Add the file '{}', or correct the import."),
    (re.compile(r"can't open file '([^']+)'|Cannot find module '([^']+)'"), "Correct the file name in 'command'."),
    (re.compile(r"address already in use|EADDRINUSE", re.I), "Listen on the port that {{port}} and PORT hold."),
)
"""What to do about an error that many programs report in the same words; ``{}`` is what the error names."""


class PrintedLines:
    """The last lines that a server has printed.

    ``folders``: the folders of its files, absolute. ``count``: how many lines it has printed; blank lines do not count.
    """

    def __init__(self, *folders: str) -> None:
        self.folders = tuple(map(os.path.abspath, folders))
        self.count = 0
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)

    def add(self, line: bytes) -> None:
        """Add a line; only one thread may do so."""
        if line.strip():
            self._lines.append(line.decode("utf-8", "backslashreplace").rstrip())
            self.count += 1

    def copy(self, stream: IO[bytes]) -> None:
        """Add all lines of a stream, and copy them to our own stderr; longer ones are split."""
        with stream:
            for line in iter(lambda: stream.readline(LINE_BYTES), b""):
                self.add(line)
                with contextlib.suppress(OSError):
                    sys.stderr.buffer.write(line if line.endswith(b"\n") else line + b"\n")
                    sys.stderr.buffer.flush()

    def since(self, count: int) -> list[str]:
        """Return the lines after the first ``count``; wait a moment until one of them is an error."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            new = self.count - count
            lines = list(self._lines)[-new:] if new > 0 else []
            if error_at(lines) is not None or time.monotonic() > deadline:
                return lines
            time.sleep(0.005)

    def error_since(self, count: int) -> str:
        """Return the last error after the first ``count`` lines, with the own file and line; blank if none."""
        return cause_in(self.since(count), self.folders)

    def ended(self, code: int, when: str) -> str:
        """Return how a server ended, with its last output and the remedy for a known error.

        ``code``: its exit code. ``when``: when it ended, such as ``during POST /ask``.
        """
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return f"The server {how} {when}.{self.last()}"

    def last(self) -> str:
        """Return the last lines, or the error above them, as a sentence after a space; blank without lines."""
        lines = tuple(self._lines)
        if not lines:
            return ""
        index = error_at(lines)
        last = [line.strip()[:QUOTED] for line in lines[-LAST_LINES:]]
        if index is not None and index < len(lines) - LAST_LINES:
            last = [cause_in(lines, self.folders)]
        shown = " | ".join(last)
        return f" Last output: {shown}{'' if shown.endswith('.') else '.'}{remedy(shown)}"


def error_at(lines: Sequence[str]) -> int | None:
    """Return the index of the last line that looks like an error; ``None`` if there is none.

    After a Python traceback it is the first line that is not indented, whatever the exception's name.
    """
    found, in_traceback = None, False
    for index, line in enumerate(lines):
        if line.startswith(_TRACEBACK):
            in_traceback = True
        elif line[:1].strip() and (in_traceback or _ERROR.match(line)):
            found, in_traceback = index, False
    return found


def cause_in(lines: Sequence[str], folders: Sequence[str]) -> str:
    """Return the last error in printed lines, with the program's own file and line if its stack is printed.

    ``folders``: the folders of the program's files, absolute; none to name no position.
    Returns: Such as ``KeyError:
    'index' (server.py:41)``; blank if no line looks like an error.
    """
    index = error_at(lines)
    if index is None:
        return ""
    position = own_line(lines, index, folders)
    shown = lines[index][:QUOTED].rstrip(".")
    return f"{shown} ({position})" if position and position not in shown else shown


def line_of_message(lines: Sequence[str], message: str, folders: Sequence[str]) -> str:
    """Return the program's own file and line of the last printed error with a message; blank if there is none."""
    first = message.strip().partition("\n")[0].strip().rstrip(".")
    for index in range(len(lines) - 1, -1, -1):
        line = lines[index].strip().rstrip(".")
        if first and (line == first or line.endswith(f": {first}")):
            position = own_line(lines, index, folders)
            if position:
                return position
    return ""


def own_line(lines: Sequence[str], index: int, folders: Sequence[str]) -> str:
    """Return the innermost own frame of the stack around the line of an error, as ``FILE:LINE``; blank if none.

    Python prints the stack before the error and the innermost frame last, others after it and the innermost first.
    """
    if not folders:
        return ""
    quoted = (urllib.parse.quote(folder, safe="/:!$&'()*+,;=@~") for folder in folders)
    roots = {re.escape(root.rstrip("/")) for root in (*folders, *quoted)}
    own = re.compile(rf"(?:{'|'.join(sorted(roots))})/([^\s\"'():,]+)(?:\", line |: line |:)(\d+)")
    after = list(itertools.takewhile(_is_indented, lines[index + 1 :]))
    before = list(itertools.takewhile(_is_indented, reversed(lines[:index])))
    top = index - len(before)
    for line in (*after, *before, *lines[max(0, top - 2) : top]):  # Node prints FILE:LINE and the code before them
        found = own.search(line) if _is_indented(line) else own.fullmatch(line.replace("file://", "", 1))
        if found is not None and not _PACKAGES.search(found[1]):
            return f"{urllib.parse.unquote(found[1])}:{found[2]}"
    return ""


def _is_indented(line: str) -> bool:
    """Whether a line is part of a stack; memeval shows a tab as an escape."""
    return not line[:1].strip() or line.startswith("\\t")


def remedy(output: str) -> str:
    """Return the remedy for a known error in a program's output, after a space; blank if none is known."""
    for pattern, sentence in REMEDIES:
        if found := pattern.search(output):
            named = next((group for group in found.groups() if group), "")
            return " " + sentence.format(named)
    return ""


class DriverFailed(Exception):
    """A driver cannot make a call; the text is sentences.

    ``memeval_kind``: how the worker reports it: its text goes on record as it is, without the name of an exception.
    """

    memeval_kind = "failed"


class ServerDied(DriverFailed):
    """A server that the driver started has ended: memeval then starts the system again."""

    memeval_kind = "died"


def not_found(program: str, error: Exception) -> str:
    reason, path = getattr(error, "strerror", None) or error, os.environ.get("PATH", "")
    if "No such file" in str(reason) and "/" not in program:
        return f"Command not found: '{program}' (PATH: {path}). Install it there, or correct 'command'."
    return f"The command '{program}' cannot be run ({reason}). Correct 'command' in submission.toml."
