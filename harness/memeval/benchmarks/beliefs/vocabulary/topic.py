"""What a topic of someone's life is: its values, and the words people use for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator

from memeval.words import read_words


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


@dataclass(frozen=True, slots=True)
class Topic:
    """Something about a person that can change. Templates hold ``{v}`` (a value), ``{my}`` and ``{name}``."""

    id: str
    """Unique over the vocabulary."""
    label: str
    """What it is called: ``breakfast``, as in *Ada's breakfast*."""
    do: str
    """The state as a verb phrase, base form first: ``keep {my} notes in {v}``."""
    now: tuple[str, ...]
    """Questions for what holds now."""
    past: tuple[str, ...]
    """Questions for what held at a time ``{when}``."""
    values: tuple[Annotated[TopicValue, BeforeValidator(TopicValue.from_file)], ...]
    """What it can be."""
    hints: tuple[str, ...] = ()
    """Remarks from which a new value follows though nobody says that anything changed."""
    openers: tuple[str, ...] = ()
    """What a conversation around it may begin with; no value in them."""
    tips: tuple[str, ...] = ()
    """What an assistant may add; no value in them."""
    because: tuple[str, ...] = ()
    """Of a dependent: how it is said that ``{do}`` rests on ``{base}``."""
    family: str = ""
    """The part of life it belongs to, which is the name of its file."""


@dataclass(frozen=True, slots=True)
class TopicGroup:
    """A root and what rests on it: each dependent on the one before, the first on the root."""

    root: Topic
    dependents: tuple[Topic, ...]


class Form(StrEnum):
    """Forms of a verb phrase."""

    BASE = "base"
    THIRD = "third"
    GERUND = "gerund"
    PAST = "past"


_VERBS = read_words(__package__, "verbs.toml", dict[str, tuple[str, str, str]])
"""Third person, gerund and past of each verb."""


def clause(topic: Topic, value: TopicValue, form: Form, my: str) -> str:
    """Return the topic's verb phrase with ``value`` in it.

    Args:
        topic: whose phrase.
        value: what fills it.
        form: which form its verb takes.
        my: the possessive of whoever does it: ``my``, ``your``, ``her``.
    """
    verb, _, rest = topic.do.partition(" ")
    third, gerund, past = _VERBS[verb]
    word = {Form.BASE: verb, Form.THIRD: third, Form.GERUND: gerund, Form.PAST: past}[form]
    return f"{word} {rest}".format(v=value.text, my=my)
