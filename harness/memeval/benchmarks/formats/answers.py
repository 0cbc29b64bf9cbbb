"""Imported answers: the common type that every import format produces."""

import re
from dataclasses import dataclass

from memeval.records.base import SLUG_LENGTH
from memeval.records.imported import Imported

UNKNOWN_VERSION = "not stated"

UNKNOWN_SOURCE = "unknown:"
"""Prefix of a source that the benchmark does not have, so that it never equals one of memeval's ordinals."""


@dataclass(frozen=True)
class ImportedAnswer:
    question_id: str
    text: str
    """The answer; blank if absent."""
    sources: tuple[str, ...] | None = None
    """The source's ids of retrieved sessions or turns, best first; ``None`` if the file lists none."""
    error: str | None = None
    """The error, if the system failed; ``None`` otherwise."""
    seconds: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    reported_tokens: float | None = None
    """Tokens of context, self-reported."""


@dataclass(frozen=True)
class ImportedAnswers:
    system: str
    version: str
    """The system's version, or :data:`UNKNOWN_VERSION`."""
    slug: str
    answers: tuple[ImportedAnswer, ...]
    """At most one per question."""
    imported: Imported
    """Origin of the answers. The import adds missing and unknown questions."""
    column: str | None = None
    """The system's column in a file with several systems; ``None`` if the format has one system per file."""

    @property
    def has_rankings(self) -> bool:
        return any(answer.sources is not None for answer in self.answers)


def slug_of(name: str, format_name: str) -> str:
    """Return a slug for an external name. The format is appended, so that it differs from slugs of submissions."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    longest = SLUG_LENGTH - len(format_name) - 1
    return f"{words[:longest].strip('-') or 'unnamed'}-{format_name}"
