"""What people in the benchmark talk about: topics by family with their values, names, and talk that means nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
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
    return _clause(topic.do, value.text, form, my)


@cache
def _clause(do: str, value: str, form: Form, my: str) -> str:
    verb, _, rest = do.partition(" ")
    third, gerund, past = _VERBS[verb]
    word = {Form.BASE: verb, Form.THIRD: third, Form.GERUND: gerund, Form.PAST: past}[form]
    return f"{word} {rest}".format(v=value, my=my)


@dataclass(frozen=True)
class Family:
    """The content of the file of a part of life."""

    topics: tuple[Topic, ...]
    """Topics that stand for themselves."""
    chain: tuple[Topic, ...]
    """Topics that rest on one another, each on the one before it."""


def _family(name: str) -> Family:
    read = read_words(__package__, f"{name}.toml", Family)
    return Family(*(tuple(replace(topic, family=name) for topic in topics) for topics in (read.topics, read.chain)))


_FAMILIES = tuple(map(_family, ("tech", "diet", "travel", "family", "work", "home", "hobbies", "health")))

TOPICS: tuple[Topic, ...] = tuple(topic for family in _FAMILIES for topic in family.topics)
"""Topics that stand for themselves."""

GROUPS: tuple[TopicGroup, ...] = tuple(TopicGroup(family.chain[0], family.chain[1:]) for family in _FAMILIES)
"""Topics that rest on one another, a group for each family."""

BY_ID: dict[str, Topic] = {
    topic.id: topic for topic in (*TOPICS, *(t for group in GROUPS for t in (group.root, *group.dependents)))
}
"""Every topic by its id."""

__all__ = ["BY_ID", "GROUPS", "TOPICS", "Form", "Topic", "TopicGroup", "TopicValue", "clause"]
