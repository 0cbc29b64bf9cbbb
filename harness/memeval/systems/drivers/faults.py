"""What a driver reports when its server fails: sentences that go on record as they stand."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

QUOTED = 200
"""How many characters of a line of output are quoted."""

REMEDIES = (
    (re.compile(r"No module named '?([A-Za-z_]\w*)"), "Add '{}' to requirements.lock."),
    (re.compile(r"Cannot find (?:package|module) '([^'./][^']*)'"), "Add '{}' to package-lock.json."),
    (re.compile(r"can't open file '([^']+)'|Cannot find module '([^']+)'"), "Correct the file name in 'command'."),
    (re.compile(r"address already in use|EADDRINUSE", re.I), "Listen on the port that {{port}} and PORT hold."),
)
"""What to do about an error that many programs report in the same words; ``{}`` is what the error names."""


class DriverFailed(Exception):
    """A driver cannot make a call; the text is sentences.

    Attributes:
        memeval_kind: how the worker reports it: its text goes on record as it is, without the name of an exception.
    """

    memeval_kind = "failed"


class ServerDied(DriverFailed):
    """A server that the driver started has ended: memeval then starts the system again."""

    memeval_kind = "died"


def remedy(output: str) -> str:
    """Return the remedy for a known error in a program's output, after a space; blank if none is known."""
    for pattern, sentence in REMEDIES:
        if found := pattern.search(output):
            named = next((group for group in found.groups() if group), "")
            return " " + sentence.format(named)
    return ""


def ended(code: int, when: str, lines: Sequence[str], what: str = "The server") -> str:
    """Return how a program ended, with its last output and the remedy for a known error.

    Args:
        code: its exit code, negative for a signal.
        when: when it ended, such as ``during POST /ask``.
        lines: its last lines of output.
        what: the program, as the subject of the sentence.
    """
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return f"{what} {how} {when}.{last_output(lines)}"


def last_output(lines: Sequence[str]) -> str:
    """Return the last lines of output as a sentence, after a space; blank if there are none."""
    if not lines:
        return ""
    shown = " | ".join(line[:QUOTED] for line in lines)
    return f" Last output: {shown}{'' if shown.endswith('.') else '.'}{remedy(' '.join(lines))}"


def not_found(program: str, reason: object, path: str) -> str:
    """Return why a command cannot be run."""
    if "No such file" in str(reason) and "/" not in program:
        return f"Command not found: '{program}' (PATH: {path}). Install it there, or correct 'command'."
    return f"The command '{program}' cannot be run ({reason}). Correct 'command' in submission.toml."
