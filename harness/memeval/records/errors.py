"""Refusals as sentences: what is wrong, where, and what to do next."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the command line returns to its caller."""

    DONE = 0
    CHECK_FAILED = 1
    BAD_INPUT = 2
    BUDGET = 3
    INTERRUPTED = 130


class MemevalError(Exception):
    """A refusal that a person can act on; its text is the whole message.

    Args:
        problem: what is wrong, as a sentence.
        where: the file, or ``file:line``, the problem is in.
        remedy: what to do next, as a sentence.
    """

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, problem: str, *, where: object | None = None, remedy: str | None = None) -> None:
        self.problem = problem
        self.where = None if where is None else str(where)
        self.remedy = remedy
        head = f"{self.where}: {problem}" if self.where else problem
        super().__init__(f"{head} {remedy}" if remedy else head)


class BadInput(MemevalError):
    """A wrong call, or a file that cannot be read as what it should be."""


class NotApplicable(BadInput):
    """A system lacks a method without which it cannot be asked: it gets no run, and no zero."""


class NewerSchema(BadInput):
    """A file written by a later memeval than this one."""


class CheckFailed(MemevalError):
    """What was asked was done, and does not hold."""

    exit_code = ExitCode.CHECK_FAILED
