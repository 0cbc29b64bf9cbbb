"""What a driver reports when its server fails: sentences that go on record as they stand."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memeval.systems.drivers.printed import QUOTED, PrintedLines, cause_in, error_at, remedy
else:
    from printed import QUOTED, cause_in, error_at, remedy

LAST_LINES = 3
"""How many lines of output are quoted."""


class DriverFailed(Exception):
    """A driver cannot make a call; the text is sentences.

    Attributes:
        memeval_kind: how the worker reports it: its text goes on record as it is, without the name of an exception.
    """

    memeval_kind = "failed"


class ServerDied(DriverFailed):
    """A server that the driver started has ended: memeval then starts the system again."""

    memeval_kind = "died"


def ended(code: int, when: str, printed: PrintedLines) -> str:
    """Return how a server ended, with its last output and the remedy for a known error.

    Args:
        when: when it ended, such as ``during POST /ask``.
    """
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return f"The server {how} {when}.{last_output(printed)}"


def last_output(printed: PrintedLines) -> str:
    """Return the last lines of output, or the error above them, as a sentence after a space; blank without lines."""
    lines = printed.last()
    if not lines:
        return ""
    index = error_at(lines)
    last = [line.strip()[:QUOTED] for line in lines[-LAST_LINES:]]
    if index is not None and index < len(lines) - LAST_LINES:
        last = [cause_in(lines, printed.folder)]
    shown = " | ".join(last)
    return f" Last output: {shown}{'' if shown.endswith('.') else '.'}{remedy(shown)}"


def not_found(program: str, reason: object, path: str) -> str:
    """Return why a command cannot be run."""
    if "No such file" in str(reason) and "/" not in program:
        return f"Command not found: '{program}' (PATH: {path}). Install it there, or correct 'command'."
    return f"The command '{program}' cannot be run ({reason}). Correct 'command' in submission.toml."
