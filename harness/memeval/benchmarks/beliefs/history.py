"""Collects dated sessions and turns them into the steps of a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from memeval.benchmarks.beliefs.plan import Need
from memeval.benchmarks.beliefs.streams import stream
from memeval.benchmarks.beliefs.talk import USER, DraftTurn, Talker
from memeval.benchmarks.beliefs.timeline import Act, TimelineEvent
from memeval.benchmarks.beliefs.vocabulary import TOPICS
from memeval.benchmarks.beliefs.world import Life
from memeval.keys import ItemKey
from memeval.records.scenario import Ingest, Scenario, Session, Turn

_STANDALONE = frozenset(topic.id for topic in TOPICS)


@dataclass(frozen=True, slots=True)
class DraftSession:
    """A session before it has an id."""

    on: date
    lines: tuple[DraftTurn, ...]
    event: TimelineEvent | None
    """The event that it states; ``None`` for chatter."""


@dataclass(frozen=True, slots=True)
class Made:
    """One item: what systems see, and its key."""

    scenario: Scenario
    key: ItemKey
    drafts: tuple[DraftSession, ...] = ()
    """Drafts of its sessions, in order."""


class Writer:
    """Collects the sessions of one scenario.

    Args:
        seed: seed of the generator.
        life: the life that it is about.
        need: the planned item.
    """

    def __init__(self, seed: int, life: Life, need: Need) -> None:
        self.life = life
        self.need = need
        self.rng = stream(seed, "scenario", need.scenario_id)
        self.talker = Talker(life.person, life.timeline, self.rng)
        self._drafts: list[DraftSession] = []
        self._days: set[date] = set()

    @property
    def first(self) -> date:
        """Day of the first session."""
        return min(self._days)

    @property
    def last(self) -> date:
        """Day of the last session."""
        return max(self._days)

    def __len__(self) -> int:
        return len(self._drafts)

    def tell(self, events: tuple[TimelineEvent, ...] | list[TimelineEvent]) -> None:
        """Add a session for each event."""
        for event in events:
            self._add(DraftSession(event.on, tuple(self.talker.event(event)), event))

    def background(self, number: int, start: date, end: date, avoid: frozenset[str]) -> int:
        """Add up to ``number`` facts of the same life on topics outside ``avoid``. Return the number added."""
        timeline = self.life.timeline
        pool = [
            event
            for event in timeline.events
            if event.topic in _STANDALONE
            and event.topic not in avoid
            and event.act is Act.ANNOUNCE
            and event.about is None
            and start <= event.on <= end
            and event.on not in self._days
            and event not in timeline.taken_back(event.topic)
        ]
        chosen = self.rng.sample(pool, min(number, len(pool)))
        self.tell(sorted(chosen, key=lambda event: event.on))
        return len(chosen)

    def chatter(self, number: int, start: date, end: date) -> None:
        """Add ``number`` sessions without facts on free days from ``start`` to ``end``, or later if necessary."""
        while end - start < timedelta(days=2 * number + 4):
            end += timedelta(days=1)
        span = [start + timedelta(days=i) for i in range((end - start).days + 1)]
        free = [day for day in span if day not in self._days]
        for day in sorted(self.rng.sample(free, number)):
            self._add(DraftSession(day, tuple(self.talker.chatter()), None))

    def later(self, least: int = 2, most: int = 12) -> date:
        """Return a day after the last session, the day of the question."""
        return self.last + timedelta(days=self.rng.randint(least, most))

    def sessions(self) -> tuple[tuple[DraftSession, Ingest], ...]:
        """Return the drafts in order of days, with their steps."""
        drafts = sorted(self._drafts, key=lambda item: item.on)
        return tuple((item, self._step(item, f"s{i:03d}")) for i, item in enumerate(drafts, start=1))

    def name(self) -> str:
        """Return the full name or the first name of the person for a question."""
        return self.life.person.name if self.rng.random() < 0.6 else self.life.person.first

    def _add(self, draft: DraftSession) -> None:
        if draft.on in self._days:
            raise ValueError(f"{self.need.scenario_id}: two sessions on {draft.on}.")
        self._days.add(draft.on)
        self._drafts.append(draft)

    def _step(self, draft: DraftSession, ordinal: str) -> Ingest:
        turns = tuple(
            Turn(
                turn_id=f"{ordinal}:t{i:02d}",
                role=line.role,
                content=line.text,
                speaker=self.life.person.name if line.role == USER else "Assistant",
            )
            for i, line in enumerate(draft.lines, start=1)
        )
        session = Session(session_id=ordinal, date=draft.on.isoformat(), turns=turns)
        return Ingest(session=session, source_id=f"{self.need.scenario_id}:{draft.on.isoformat()}")


def ordinals(
    sessions: tuple[tuple[DraftSession, Ingest], ...], events: tuple[TimelineEvent, ...] | list[TimelineEvent]
) -> tuple[str, ...]:
    """Return the ids of the sessions that state ``events``, in order."""
    return tuple(
        step.session.session_id for draft, step in sessions if draft.event in events and draft.event is not None
    )
