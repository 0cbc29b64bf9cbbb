"""Turns and sessions before they have ids, what their sentences need, and several people in one memory."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from memeval.benchmarks.kit.people import Person
from memeval.records.scenario import Ingest, Session, Turn

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def month(day: date) -> str:
    """Return the month of ``day`` in words: ``March 2025``."""
    return f"{MONTHS[day.month - 1]} {day.year}"


def month_phrases(day: date) -> tuple[str, ...]:
    """Return the texts of a right answer to when something began: the month of the day, or the day."""
    name = MONTHS[day.month - 1]
    phrases = (
        month(day),
        f"{name[:3]} {day.year}",
        f"{day.year}-{day.month:02d}",
        day.isoformat(),
        f"{name} {day.day}, {day.year}",
    )
    return tuple(dict.fromkeys(phrases))


USER, ASSISTANT = "user", "assistant"


@dataclass(frozen=True, slots=True)
class DraftTurn:
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class DraftSession:
    on: date
    lines: tuple[DraftTurn, ...]


def session(ordinal: str, when: str, lines: Sequence[DraftTurn], person: Person) -> Session:
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


def numbered(step: Ingest, ordinal: str) -> Ingest:
    turns = tuple(
        Turn(turn_id=f"{ordinal}:t{i:02d}", role=turn.role, content=turn.content, speaker=turn.speaker)
        for i, turn in enumerate(step.session.turns, start=1)
    )
    session = step.session.model_copy(update={"session_id": ordinal, "turns": turns})
    return Ingest(session=session, source_id=step.source_id)


class FullNames:
    """Knows which first names identify a person."""

    def __init__(self, names: Sequence[str]) -> None:
        self._firsts = Counter(name.partition(" ")[0] for name in set(names))

    def within(self, question: str, name: str) -> str:
        """Return a question about a person, with the full name if another person has the same first name."""
        first = name.partition(" ")[0]
        if self._firsts[first] == 1 or name in question:
            return question
        return re.sub(rf"\b{re.escape(first)}\b", name, question)
