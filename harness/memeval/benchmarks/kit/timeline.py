"""One timeline of dated events per person, and conclusions from it.

All contents of answer keys are computed from events: values and their periods, earlier values, dependencies, and facts
that nobody mentioned again after their basis changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from itertools import pairwise

from memeval.benchmarks.kit.people import Relation


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
    BASE = "base"
    THIRD = "third"
    GERUND = "gerund"
    PAST = "past"


class Act(StrEnum):
    ANNOUNCE = "announce"
    """A value is true from now on."""
    RETRACT = "retract"
    """The last announced value did not become true after all."""
    MUSE = "muse"
    """A value may be true one day; nothing changes."""
    CONFIRM = "confirm"
    """The current value is still true."""
    FORMER = "former"
    """A value was true long before the first session; nothing changes."""


class Manner(StrEnum):
    DIRECT = "direct"
    INDIRECT = "indirect"
    """A remark in passing, from which it follows."""
    CORRECTED = "corrected"
    """After a slip of the tongue."""
    ELLIPTIC = "elliptic"
    """Over several turns, the last of which has little more than the value."""
    THIRD_PERSON = "third-person"
    """As something that somebody else says about the user."""


class DependentStatus(StrEnum):
    UNCHANGED = "unchanged"
    """Its basis has not changed."""
    RECONFIRMED = "reconfirmed"
    """Its basis changed, and the fact was confirmed afterwards."""
    UNREVISITED = "changed"
    """Its basis changed, and nobody mentioned the fact again."""


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    on: date
    topic: str
    act: Act
    value: TopicValue
    manner: Manner = Manner.DIRECT
    about: Relation | None = None
    """The other person it is about; ``None`` for the user."""


@dataclass(frozen=True, slots=True)
class ValuePeriod:
    """A value and its period: from ``since`` to the day before ``until``."""

    value: TopicValue
    since: date
    until: date | None


class Timeline:
    """The events of one life in order of days.

    ``events``: the events; no two share a day. ``rests_on``: for each dependent topic, the topic that it depends on.
    """

    def __init__(self, events: tuple[TimelineEvent, ...], rests_on: Mapping[str, str]) -> None:
        self.events = tuple(sorted(events, key=lambda event: event.on))
        self.rests_on = dict(rests_on)
        days = [event.on for event in self.events]
        if len(days) != len(set(days)):
            raise ValueError("two events of a timeline share a day.")

    def of(self, topic: str, now: date | None = None) -> tuple[TimelineEvent, ...]:
        """Return the events on ``topic`` of the user, up to and including ``now``."""
        return tuple(e for e in self.events if e.topic == topic and e.about is None and (now is None or e.on <= now))

    def others(self, topic: str, now: date | None = None) -> tuple[TimelineEvent, ...]:
        """Return the events on ``topic`` of other people, up to and including ``now``."""
        return tuple(
            e for e in self.events if e.topic == topic and e.about is not None and (now is None or e.on <= now)
        )

    def taken_back(self, topic: str, now: date | None = None) -> tuple[TimelineEvent, ...]:
        """Return the announcements on ``topic`` that were taken back up to ``now``."""
        standing: list[TimelineEvent] = []
        gone: list[TimelineEvent] = []
        for event in self.of(topic, now):
            if event.act is Act.ANNOUNCE:
                standing.append(event)
            elif event.act is Act.RETRACT and standing and standing[-1].value == event.value:
                gone.append(standing.pop())
        return tuple(gone)

    def states(self, topic: str, now: date | None = None) -> tuple[ValuePeriod, ...]:
        """Return the values of ``topic`` with their periods, as known at ``now``.

        Announcements that were taken back do not count.
        """
        gone = self.taken_back(topic, now)
        kept = [e for e in self.of(topic, now) if e.act is Act.ANNOUNCE and e not in gone]
        ends: list[date | None] = [e.on for e in kept[1:]]
        return tuple(ValuePeriod(e.value, e.on, end) for e, end in zip(kept, [*ends, None], strict=False))

    def state_at(self, topic: str, day: date, now: date | None = None) -> ValuePeriod | None:
        """Return the value on ``day``, as known at ``now``; ``None`` before the first announcement."""
        held = [s for s in self.states(topic, now) if s.since <= day and (s.until is None or day < s.until)]
        return held[0] if held else None

    def current(self, topic: str, now: date | None = None) -> ValuePeriod | None:
        states = self.states(topic, now)
        return states[-1] if states else None

    def previous(self, topic: str, value: TopicValue, now: date | None = None) -> ValuePeriod | None:
        states = self.states(topic, now)
        for before, after in pairwise(states):
            if after.value == value:
                return before
        return None

    def changes(self, topic: str, now: date | None = None) -> tuple[date, ...]:
        """Return the days on which the topic changed; the first announcement is not a change."""
        return tuple(state.since for state in self.states(topic, now)[1:])

    def ground(self, topic: str) -> tuple[str, ...]:
        """Return the basis of ``topic``: the topic it depends on, the basis of that, and so on to the root."""
        found: list[str] = []
        current = topic
        while current in self.rests_on:
            current = self.rests_on[current]
            found.append(current)
        return tuple(found)

    def last_stated(self, topic: str, now: date | None = None) -> date | None:
        """Return the day on which the current value of ``topic`` was last announced or confirmed, or ``None``."""
        state = self.current(topic, now)
        if state is None:
            return None
        days = [
            e.on
            for e in self.of(topic, now)
            if e.act in (Act.ANNOUNCE, Act.CONFIRM) and e.value == state.value and e.on >= state.since
        ]
        return max(days)

    def ground_changed(self, topic: str, now: date | None = None) -> date | None:
        """Return the last day on which the basis of ``topic`` changed since its current value began, or ``None``."""
        state = self.current(topic, now)
        if state is None:
            return None
        days = [day for base in self.ground(topic) for day in self.changes(base, now) if day > state.since]
        return max(days, default=None)

    def standing(self, topic: str, now: date | None = None) -> DependentStatus:
        """Return the status of a dependent topic. Raises ``ValueError``: there is no event on ``topic``."""
        stated = self.last_stated(topic, now)
        if stated is None:
            raise ValueError(f"nothing is known of {topic!r}.")
        changed = self.ground_changed(topic, now)
        if changed is None:
            return DependentStatus.UNCHANGED
        return DependentStatus.RECONFIRMED if stated > changed else DependentStatus.UNREVISITED
