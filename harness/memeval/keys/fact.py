"""A fact, and how an answer can be seen to state it."""

from __future__ import annotations

from pydantic import Field

from memeval.records.base import Record


class Fact(Record):
    """A fact and the phrases by which an answer can be seen to state it."""

    text: str
    """The fact as a sentence, as shown to a judge or a reader of the board."""
    phrases: tuple[str, ...] = Field(min_length=1)
    """Key phrase and aliases: an answer states the fact when one of them occurs in it as whole words, in any case."""
