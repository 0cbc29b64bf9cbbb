"""What a topic of talk can be, and the forms of the verb that says it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class TopicValue:
    """One thing a topic can be, as it stands in a sentence, and the phrases that give it away."""

    text: str
    """With its article, ready for a sentence: ``a pellet stove``."""
    phrases: tuple[str, ...]
    """Key phrase and aliases, as they go into an answer key: ``pellet stove``."""

    @classmethod
    def from_file(cls, written: str | list[str]) -> TopicValue:
        """Return a value as a file has it: a list of text, key phrase and aliases; the text alone is its own phrase."""
        text, *phrases = [written] if isinstance(written, str) else written
        return cls(text, tuple(phrases) or (text,))


class Form(StrEnum):
    """Forms of a verb phrase."""

    BASE = "base"
    THIRD = "third"
    GERUND = "gerund"
    PAST = "past"
