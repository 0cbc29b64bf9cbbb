"""One timeline of dated facts per person, and what follows from it.

Nothing that a key says is typed in: what held when, what came before it, what rests on what, and what was never
revisited after its ground had gone are computed here, from events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from itertools import pairwise

from memeval.benchmarks.beliefs.vocabulary import TopicValue
from memeval.benchmarks.beliefs.vocabulary.people import Relation


class Act(StrEnum):
    """What is said of a topic."""

    ANNOUNCE = "announce"
    """A value holds from now on."""
    RETRACT = "retract"
    """The value announced last was never taken up after all."""
    MUSE = "muse"
    """A value might hold one day; nothing changes."""
    CONFIRM = "confirm"
    """The value that holds still holds."""


class Manner(StrEnum):
    """How it is said."""

    DIRECT = "direct"
    INDIRECT = "indirect"


class DependentStatus(StrEnum):
    """What has become of a dependent fact."""

    UNCHANGED = "unchanged"
    """What it rests on is as it was."""
    RECONFIRMED = "reconfirmed"
    """What it rests on has changed, and it was confirmed afterwards."""
    UNREVISITED = "changed"
    """What it rests on has changed, and nobody came back to it."""


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """Something said on a day about one topic of one life."""

    on: date
    topic: str
    act: Act
    value: TopicValue
    manner: Manner = Manner.DIRECT
    about: Relation | None = None
    """Whose life; ``None`` for the person's own."""


@dataclass(frozen=True, slots=True)
class ValuePeriod:
    """A value, and the days it held: from ``since`` up to, and without, ``until``."""

    value: TopicValue
    since: date
    until: date | None


class Timeline:
    """The events of one life in order of days.

    Args:
        events: what was said; no two events share a day.
        rests_on: per dependent topic, the topic it rests on.
    """

    def __init__(self, events: tuple[TimelineEvent, ...], rests_on: Mapping[str, str]) -> None:
        self.events = tuple(sorted(events, key=lambda event: event.on))
        self.rests_on = dict(rests_on)
        days = [event.on for event in self.events]
        if len(days) != len(set(days)):
            raise ValueError("two events of a timeline share a day.")

    def of(self, topic: str, now: date | None = None) -> tuple[TimelineEvent, ...]:
        """Return what was said of the person's own ``topic`` up to and including ``now``."""
        return tuple(e for e in self.events if e.topic == topic and e.about is None and (now is None or e.on <= now))

    def others(self, topic: str, now: date | None = None) -> tuple[TimelineEvent, ...]:
        """Return what was said of other people's ``topic`` up to and including ``now``."""
        return tuple(
            e for e in self.events if e.topic == topic and e.about is not None and (now is None or e.on <= now)
        )

    def taken_back(self, topic: str, now: date | None = None) -> tuple[TimelineEvent, ...]:
        """Return the announcements on ``topic`` that a later event, up to ``now``, took back."""
        standing: list[TimelineEvent] = []
        gone: list[TimelineEvent] = []
        for event in self.of(topic, now):
            if event.act is Act.ANNOUNCE:
                standing.append(event)
            elif event.act is Act.RETRACT and standing and standing[-1].value == event.value:
                gone.append(standing.pop())
        return tuple(gone)

    def states(self, topic: str, now: date | None = None) -> tuple[ValuePeriod, ...]:
        """Return the chain of states of ``topic`` as it is known at ``now``.

        An announcement that was taken back never held.
        """
        gone = self.taken_back(topic, now)
        kept = [e for e in self.of(topic, now) if e.act is Act.ANNOUNCE and e not in gone]
        ends: list[date | None] = [e.on for e in kept[1:]]
        return tuple(ValuePeriod(e.value, e.on, end) for e, end in zip(kept, [*ends, None], strict=False))

    def state_at(self, topic: str, day: date, now: date | None = None) -> ValuePeriod | None:
        """Return what held on ``day``, as it is known at ``now``; ``None`` before the first announcement."""
        held = [s for s in self.states(topic, now) if s.since <= day and (s.until is None or day < s.until)]
        return held[0] if held else None

    def current(self, topic: str, now: date | None = None) -> ValuePeriod | None:
        """Return what holds at ``now``."""
        states = self.states(topic, now)
        return states[-1] if states else None

    def previous(self, topic: str, value: TopicValue, now: date | None = None) -> ValuePeriod | None:
        """Return the state right before ``value`` held; ``None`` where there is none."""
        states = self.states(topic, now)
        for before, after in pairwise(states):
            if after.value == value:
                return before
        return None

    def following(self, topic: str, value: TopicValue, now: date | None = None) -> ValuePeriod | None:
        """Return the state right after ``value`` held; ``None`` where there is none."""
        states = self.states(topic, now)
        for before, after in pairwise(states):
            if before.value == value:
                return after
        return None

    def changes(self, topic: str, now: date | None = None) -> tuple[date, ...]:
        """Return the days on which the topic changed; the first announcement is not a change."""
        return tuple(state.since for state in self.states(topic, now)[1:])

    def ground(self, topic: str) -> tuple[str, ...]:
        """Return what ``topic`` rests on: its base, the base of that, and so on to the root."""
        found: list[str] = []
        here = topic
        while here in self.rests_on:
            here = self.rests_on[here]
            found.append(here)
        return tuple(found)

    def last_stated(self, topic: str, now: date | None = None) -> date | None:
        """Return the day on which the current state of ``topic`` was last announced or confirmed."""
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
        """Return the last day on which anything ``topic`` rests on changed since ``topic`` took its current value."""
        state = self.current(topic, now)
        if state is None:
            return None
        days = [day for base in self.ground(topic) for day in self.changes(base, now) if day > state.since]
        return max(days, default=None)

    def standing(self, topic: str, now: date | None = None) -> DependentStatus:
        """Return whether a dependent's ground has changed, and if so whether it was revisited since.

        Raises:
            ValueError: nothing was ever said of ``topic``.
        """
        stated = self.last_stated(topic, now)
        if stated is None:
            raise ValueError(f"nothing is known of {topic!r}.")
        changed = self.ground_changed(topic, now)
        if changed is None:
            return DependentStatus.UNCHANGED
        return DependentStatus.RECONFIRMED if stated > changed else DependentStatus.UNREVISITED
