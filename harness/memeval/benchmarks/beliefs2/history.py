"""The history of a life: its sessions in order, and the turns that state each event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from memeval.benchmarks.beliefs.streams import stream
from memeval.benchmarks.beliefs.talk import USER, DraftTurn
from memeval.benchmarks.beliefs.timeline import TimelineEvent
from memeval.benchmarks.beliefs.vocabulary import TopicValue
from memeval.benchmarks.beliefs2.lives import Life
from memeval.benchmarks.beliefs2.plan import EDITION
from memeval.benchmarks.beliefs2.talk import Talker
from memeval.benchmarks.beliefs2.wording.packs import says
from memeval.benchmarks.beliefs2.wording.vocabulary import Vocabulary
from memeval.records.scenario import Ingest, Session, Turn

CHATTER = (12, 18)
"""Fewest and most sessions of small talk in a history."""


@dataclass(frozen=True)
class History:
    """The sessions of a life."""

    life: Life
    steps: tuple[Ingest, ...]
    """The sessions, in order."""
    events: tuple[TimelineEvent | None, ...]
    """The event of each session; ``None`` for small talk."""

    @property
    def last(self) -> date:
        """Day of the last session."""
        return date.fromisoformat(self.steps[-1].session.date)

    def session_of(self, event: TimelineEvent) -> Session:
        """Return the session that states an event."""
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
    """Write the sessions of a life: one for each event, and small talk on other days.

    Args:
        seed: seed of the generator.
        life: the life.
        vocabulary: topics and sentences.
        talkers: class of the writer of its sessions.
        chatter: fewest and most sessions of small talk.
    """
    rng = stream(EDITION, seed, "history", life.person.slug)
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
    turns = tuple(
        Turn(
            turn_id=f"{ordinal}:t{number:02d}",
            role=line.role,
            content=line.text,
            speaker=life.person.name if line.role == USER else "Assistant",
        )
        for number, line in enumerate(lines, start=1)
    )
    session = Session(session_id=ordinal, date=on.isoformat(), turns=turns)
    return Ingest(session=session, source_id=f"{life.person.slug}:{on.isoformat()}")
