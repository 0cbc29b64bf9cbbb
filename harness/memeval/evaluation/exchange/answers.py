"""Answers that were made elsewhere, in the one shape that every format is read into."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memeval.records.base import SLUG_LENGTH
from memeval.records.imported import Imported

UNTOLD = "not told"
"""What stands for a version that a file does not give."""

UNKNOWN = "unknown:"
"""Stands before a source that the benchmark does not have: whatever it is called, it is none of memeval's ordinals."""


@dataclass(frozen=True)
class ImportedAnswer:
    """What a system is said to have answered to one question."""

    question_id: str
    """The question, by memeval's id."""
    text: str
    """The answer; blank where there is none."""
    sources: tuple[str, ...] | None = None
    """What was retrieved, by the source's own ids of sessions or turns, best first; ``None`` where it is not told."""
    error: str | None = None
    """Why there is no answer, where the system failed."""
    seconds: float | None = None
    """Seconds from question to answer."""
    prompt_tokens: int | None = None
    """Tokens sent to models for this question."""
    completion_tokens: int | None = None
    """Tokens received from them."""
    cost_usd: float | None = None
    """Dollars spent on this question."""
    reported_tokens: float | None = None
    """Tokens of context."""


@dataclass(frozen=True)
class ImportedAnswers:
    """A file of answers, read."""

    system: str
    """Who answered, by the name given there."""
    version: str
    """Its version, or :data:`UNTOLD`."""
    slug: str
    """A name that is safe in paths."""
    answers: tuple[ImportedAnswer, ...]
    """At most one a question."""
    imported: Imported
    """Where they come from; what is missing and unknown is filled in when they are brought together with an exam."""
    column: str | None = None
    """Which of several systems' answers in the file these are; ``None`` where there are no others."""


def slug_of(name: str, format_name: str) -> str:
    """Return a slug for a name from outside: with the format behind it, so that no submission has the same one."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    room = SLUG_LENGTH - len(format_name) - 1
    return f"{words[:room].strip('-') or 'unnamed'}-{format_name}"
