"""The history of a life: its sessions in order, and the turns that state each event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from memeval.benchmarks.beliefs.lives import Life
from memeval.benchmarks.beliefs.plan import STREAMS
from memeval.benchmarks.beliefs.talk import Talker
from memeval.benchmarks.beliefs.wording.editions import Vocabulary
from memeval.benchmarks.kit.checks import says
from memeval.benchmarks.kit.streams import stream
from memeval.benchmarks.kit.talk import DraftTurn, session
from memeval.benchmarks.kit.timeline import TimelineEvent, TopicValue
from memeval.records.scenario import Ingest, Session

CHATTER = (12, 18)
"""Fewest and most sessions of small talk in a history."""


@dataclass(frozen=True)
class History:
    life: Life
    steps: tuple[Ingest, ...]
    events: tuple[TimelineEvent | None, ...]
    """The event of each session; ``None`` for small talk."""

    @property
    def last(self) -> date:
        return date.fromisoformat(self.steps[-1].session.date)

    def session_of(self, event: TimelineEvent) -> Session:
        return self.steps[self.events.index(event)].session

    def stating(self, events: Iterable[TimelineEvent], value: TopicValue) -> tuple[str, ...]:
        """Return the turns that state a value in the sessions of some events, the shortest first."""
        turns = [turn for event in events for turn in self.session_of(event).turns if says(value.phrases, turn.content)]
        return tuple(turn.turn_id for turn in sorted(turns, key=lambda turn: (len(turn.content), turn.turn_id)))


def write(
    seed: int,
    life: Life,
    vocabulary: Vocabulary,
    talkers: type[Talker] = Talker,
    chatter: tuple[int, int] = CHATTER,
) -> History:
    """Write the sessions of a life: one for each event, and small talk on other days."""
    rng = stream(STREAMS, seed, "history", life.person.slug)
    talker = talkers(life, vocabulary, rng)
    events = sorted(life.timeline.events, key=lambda event: event.on)
    drafts: list[tuple[date, Sequence[DraftTurn], TimelineEvent | None]] = [
        (event.on, talker.event(event), event) for event in events
    ]
    busy = {event.on for event in events}
    days = [
        events[0].on - timedelta(days=10) + timedelta(days=i) for i in range((events[-1].on - events[0].on).days + 20)
    ]
    for day in rng.sample([day for day in days if day not in busy], rng.randint(*chatter)):
        drafts.append((day, talker.chatter(), None))
    drafts.sort(key=lambda draft: draft[0])
    steps = tuple(_step(life, f"s{number:03d}", on, lines) for number, (on, lines, _) in enumerate(drafts, start=1))
    return History(life, steps, tuple(event for _, _, event in drafts))


def _step(life: Life, ordinal: str, on: date, lines: Sequence[DraftTurn]) -> Ingest:
    told = session(ordinal, on.isoformat(), lines, life.person)
    return Ingest(session=told, source_id=f"{life.person.slug}:{on.isoformat()}")
