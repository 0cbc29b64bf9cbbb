"""What a topic of someone's life is: its values, and the words people use for it."""

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


@dataclass(frozen=True, slots=True)
class Topic:
    """Something about a person that can change. Templates hold ``{v}`` (a value), ``{my}`` and ``{name}``."""

    id: str
    """Unique over the vocabulary."""
    family: str
    """The part of life it belongs to."""
    label: str
    """What it is called: ``breakfast``, as in *Ada's breakfast*."""
    do: str
    """The state as a verb phrase, base form first: ``keep {my} notes in {v}``."""
    now: tuple[str, ...]
    """Questions for what holds now."""
    past: tuple[str, ...]
    """Questions for what held at a time ``{when}``."""
    values: tuple[TopicValue, ...]
    """What it can be."""
    hints: tuple[str, ...] = ()
    """Remarks from which a new value follows though nobody says that anything changed."""
    openers: tuple[str, ...] = ()
    """What a conversation around it may begin with; no value in them."""
    tips: tuple[str, ...] = ()
    """What an assistant may add; no value in them."""
    because: tuple[str, ...] = ()
    """Of a dependent: how it is said that ``{do}`` rests on ``{base}``."""


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


_VERBS = {
    "back": ("backs", "backing", "backed"),
    "buy": ("buys", "buying", "bought"),
    "chat": ("chats", "chatting", "chatted"),
    "cook": ("cooks", "cooking", "cooked"),
    "do": ("does", "doing", "did"),
    "drink": ("drinks", "drinking", "drank"),
    "fly": ("flies", "flying", "flew"),
    "follow": ("follows", "following", "followed"),
    "get": ("gets", "getting", "got"),
    "go": ("goes", "going", "went"),
    "grow": ("grows", "growing", "grew"),
    "have": ("has", "having", "had"),
    "heat": ("heats", "heating", "heated"),
    "keep": ("keeps", "keeping", "kept"),
    "leave": ("leaves", "leaving", "left"),
    "live": ("lives", "living", "lived"),
    "meet": ("meets", "meeting", "met"),
    "pack": ("packs", "packing", "packed"),
    "park": ("parks", "parking", "parked"),
    "pick": ("picks", "picking", "picked"),
    "plan": ("plans", "planning", "planned"),
    "play": ("plays", "playing", "played"),
    "practise": ("practises", "practising", "practised"),
    "read": ("reads", "reading", "read"),
    "run": ("runs", "running", "ran"),
    "see": ("sees", "seeing", "saw"),
    "share": ("shares", "sharing", "shared"),
    "sleep": ("sleeps", "sleeping", "slept"),
    "spend": ("spends", "spending", "spent"),
    "study": ("studies", "studying", "studied"),
    "take": ("takes", "taking", "took"),
    "team": ("teams", "teaming", "teamed"),
    "track": ("tracks", "tracking", "tracked"),
    "train": ("trains", "training", "trained"),
    "use": ("uses", "using", "used"),
    "wind": ("winds", "winding", "wound"),
    "work": ("works", "working", "worked"),
    "write": ("writes", "writing", "wrote"),
}


def values(written: str) -> tuple[TopicValue, ...]:
    """Read values written as ``text|key phrase|alias…; …``; without a phrase the text is its own."""
    read = []
    for item in written.split("; "):
        text, *phrases = item.split("|")
        read.append(TopicValue(text, tuple(phrases) or (text,)))
    return tuple(read)


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
