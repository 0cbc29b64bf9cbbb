"""One conversation with ordinals: the steps that a system ingests, and the positions of evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memeval.benchmarks.locomo.released import LocomoTurn, RawConversation
from memeval.records.scenario import Ingest, Session, Turn


@dataclass(frozen=True)
class LocatedEvidence:
    """Positions of the evidence of a question, without ids that name no turn of the conversation."""

    turns: tuple[str, ...]
    """Ordinals of the turns, without repetitions, in the listed order."""
    sessions: tuple[str, ...]
    """Ordinals of their sessions, in order of ingestion."""
    dates: tuple[str, ...]
    """Dates of these sessions."""
    photo: bool
    """Whether one of the turns has a photo caption."""


class Conversation:
    """A released conversation; sessions and turns have ordinals in order of ingestion.

    Args:
        raw: the conversation.
    """

    def __init__(self, raw: RawConversation) -> None:
        self.raw = raw
        self.sessions = {f"S{session.number}": f"s{place:03}" for place, session in enumerate(raw.sessions, 1)}
        """Ordinals of the sessions, by the names that common evaluation code uses (``S1``)."""
        self.turns: dict[str, str] = {}
        """Ordinals of the turns, by their ids in the file."""
        self._dates: dict[str, str] = {}
        self._photos: set[str] = set()
        for session, ordinal in zip(raw.sessions, self.sessions.values(), strict=True):
            self._dates[ordinal] = session.date
            for place, turn in enumerate(session.turns, 1):
                self.turns[turn.dia_id] = f"{ordinal}:t{place:02}"
                if turn.blip_caption:
                    self._photos.add(turn.dia_id)

    def steps(self) -> Iterator[Ingest]:
        """Yield the sessions to ingest, in the order of their numbers."""
        for session, (name, ordinal) in zip(self.raw.sessions, self.sessions.items(), strict=True):
            turns = tuple(
                Turn(turn_id=self.turns[turn.dia_id], role="user", speaker=turn.speaker, content=_content(turn))
                for turn in session.turns
            )
            yield Ingest(source_id=name, session=Session(session_id=ordinal, date=session.date, turns=turns))

    def locate(self, evidence: Iterable[str]) -> LocatedEvidence:
        """Return the positions of evidence.

        Args:
            evidence: turn ids of the file; invalid ids are ignored.
        """
        named = [name for name in dict.fromkeys(evidence) if name in self.turns]
        turns = tuple(self.turns[name] for name in named)
        sessions = tuple(sorted({turn.partition(":")[0] for turn in turns}))
        return LocatedEvidence(
            turns=turns,
            sessions=sessions,
            dates=tuple(self._dates[session] for session in sessions),
            photo=not self._photos.isdisjoint(named),
        )


def _content(turn: LocomoTurn) -> str:
    """Return the text of a turn, with the caption of its photo."""
    return f"{turn.text} [shares a photo: {turn.blip_caption}]" if turn.blip_caption else turn.text
