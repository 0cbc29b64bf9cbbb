"""Errors as sentences: where, what happened, and the one thing to do."""

from collections.abc import Iterable
from difflib import get_close_matches
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command line."""

    DONE = 0
    CHECK_FAILED = 1
    BAD_INPUT = 2
    BUDGET = 3
    INTERRUPTED = 130


class MemevalError(Exception):
    """An error that the user can fix; its text is the whole message.

    ``problem``: what is wrong, as a sentence. ``where``: the file, or ``file:line``, the problem is in. ``remedy``:
    what to do next, as a sentence.
    """

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, problem: str, *, where: object | None = None, remedy: str | None = None) -> None:
        self.problem = problem
        self.where = None if where is None else str(where)
        self.remedy = remedy
        head = f"{self.where}: {problem}" if self.where else problem
        super().__init__(f"{head} {remedy}" if remedy else head)


class BadInput(MemevalError):
    """A wrong call, or an invalid file."""


class NotApplicable(BadInput):
    """The system lacks a method that the benchmark needs: there is no run, and no score of 0."""

    protocols: tuple[str, ...] = ()
    """The benchmark's protocols that the system supports, in the order of the catalogue."""


class NotLoaded(BadInput):
    """The system's files are installed, but its adapter does not load."""


class NewerSchema(BadInput):
    """A file from a newer version of memeval."""


class CheckFailed(MemevalError):
    """The command finished, and its check failed."""

    exit_code = ExitCode.CHECK_FAILED


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return a question with the most similar of the known names, or another hint if none is similar."""
    near = get_close_matches(name, list(known), n=1)
    return f"Did you mean '{near[0]}'?" if near else otherwise
