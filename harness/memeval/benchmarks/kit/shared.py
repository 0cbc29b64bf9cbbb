"""Several people in one memory: sessions get new ordinals, and questions name whom they are about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from memeval.records.scenario import Ingest, Turn


def numbered(step: Ingest, ordinal: str) -> Ingest:
    """Return a session with its ordinal in the shared history.

    Args:
        step: the session.
        ordinal: its new id.
    """
    turns = tuple(
        Turn(turn_id=f"{ordinal}:t{i:02d}", role=turn.role, content=turn.content, speaker=turn.speaker)
        for i, turn in enumerate(step.session.turns, start=1)
    )
    session = step.session.model_copy(update={"session_id": ordinal, "turns": turns})
    return Ingest(session=session, source_id=step.source_id)


class FullNames:
    """Knows which first names identify a person.

    Args:
        names: the full names of everybody in a memory, each at least once.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._firsts = Counter(name.partition(" ")[0] for name in set(names))

    def within(self, question: str, name: str) -> str:
        """Return a question about a person, with the full name if another person has the same first name."""
        first = name.partition(" ")[0]
        if self._firsts[first] == 1 or name in question:
            return question
        return re.sub(rf"\b{re.escape(first)}\b", name, question)
