"""Reads the words of the benchmark: topics, people, frames and talk."""

from collections.abc import Mapping
from dataclasses import dataclass

from memeval.toml import read_words


@dataclass(frozen=True)
class Topic:
    """A fact that a user can tell, with the ways to tell it and to ask for it; see ``topics.toml``."""

    id: str
    values: tuple[str, ...]
    told: tuple[str, ...]
    """The user states a value, first in the words of the question."""
    changed: tuple[str, ...]
    back: str
    retracted: str
    without: str
    """The part of ``retracted`` that says so."""
    remark: str
    """The user mentions the value without naming the topic."""
    claim: str
    """A statement by somebody else about the user."""
    mine: str
    """The same statement as the user reports it."""
    yours: str
    """The same statement as somebody makes it to the user."""
    form: str
    other: str
    """The user states the value of another person."""
    ask: str
    paraphrase: str
    """The same question in other words."""
    partial: str
    indirect: str
    """A question whose answer follows from the value."""
    past: str
    """The question about an earlier month."""
    about: str
    """A noun phrase for the topic, for a request to forget it."""


@dataclass(frozen=True)
class Topics:
    topics: tuple[Topic, ...]
    singular: Mapping[str, str]


@dataclass(frozen=True)
class People:
    first: tuple[str, ...]
    family: tuple[str, ...]
    relations: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True)
class Planted:
    """A way in which a claim comes in that the user did not make."""

    kind: str
    request: str
    """What the user asks for before; blank if the user reports the claim."""
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Forms:
    request: str
    text: str


@dataclass(frozen=True)
class Retracted:
    negatives: tuple[str, ...]


@dataclass(frozen=True)
class Frames:
    planted: tuple[Planted, ...]
    forms: Forms
    retracted: Retracted
    replies: Mapping[str, tuple[str, ...]]
    """Replies of the assistant to a statement, to a text to file, and to talk."""


@dataclass(frozen=True)
class Filler:
    patterns: tuple[str, ...]
    places: tuple[str, ...]
    things: tuple[str, ...]
    states: tuple[str, ...]
    days: tuple[str, ...]


_TOPICS = read_words(__package__, "wording/topics.toml", Topics)
TOPICS = _TOPICS.topics
PEOPLE = read_words(__package__, "wording/people.toml", People)
FRAMES = read_words(__package__, "wording/frames.toml", Frames)
FILLER = read_words(__package__, "wording/filler.toml", Filler)

TITLES = ("Dr. ", "Mr. ", "Mrs. ", "The ")
"""First words of values that a text may leave out."""


def phrases_of(value: str) -> tuple[str, ...]:
    """Return the phrases that state a value, itself first: also without title or comma, and in the singular."""
    shorter = [value.removeprefix(title) for title in TITLES]
    others = (*shorter, value.replace(",", ""), _TOPICS.singular.get(value, value))
    return tuple(dict.fromkeys((value, *others)))
