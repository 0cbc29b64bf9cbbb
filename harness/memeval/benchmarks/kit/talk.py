"""Turns and sessions before they have ids, and what their sentences need."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from memeval.benchmarks.kit.people import Person
from memeval.records.scenario import Session, Turn

USER, ASSISTANT = "user", "assistant"


@dataclass(frozen=True, slots=True)
class DraftTurn:
    """One turn before it has an id."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class DraftSession:
    """A session before it has an id."""

    on: date
    lines: tuple[DraftTurn, ...]


def session(ordinal: str, when: str, lines: Sequence[DraftTurn], person: Person) -> Session:
    """Return a session of a person.

    Args:
        ordinal: the id of the session.
        when: its date, with or without time.
    """
    turns = tuple(
        Turn(
            turn_id=f"{ordinal}:t{i:02d}",
            role=line.role,
            content=line.text,
            speaker=person.name if line.role == USER else "Assistant",
        )
        for i, line in enumerate(lines, start=1)
    )
    return Session(session_id=ordinal, date=when, turns=turns)


_LATER_START = re.compile(r"[.?!] [^\W\d_A-Z]")
"""The start of a sentence after another one, without a capital."""


def sentence(text: str) -> str:
    """Return ``text`` with a capital at the start of every sentence."""
    if text[:1].isalpha():
        text = text[0].upper() + text[1:]
    return _LATER_START.sub(lambda found: found.group().upper(), text)


@lru_cache(maxsize=4096)
def mentioned(text: str) -> str:
    """Return a noun phrase for its second mention: *the letter* for *a letter*."""
    article, _, rest = text.partition(" ")
    return f"the {rest}" if article in ("a", "an") else text


_OURS = re.compile(r"\b(my|our)\b")


@lru_cache(maxsize=4096)
def yours(text: str) -> str:
    """Return a noun phrase in the words of the other speaker: *your* for *my*."""
    return _OURS.sub("your", text)
