"""A fact, and the phrases that state it."""

from __future__ import annotations

from pydantic import Field

from memeval.records.base import Record


class Fact(Record):
    """A fact, and the phrases by which a rule recognises it in an answer."""

    text: str
    """The fact as a sentence, shown to judges and readers."""
    phrases: tuple[str, ...] = Field(min_length=1)
    """Key phrase and aliases. An answer states the fact if it contains one of them as whole words, in any case."""
