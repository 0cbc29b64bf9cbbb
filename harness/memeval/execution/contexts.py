"""Contexts as they are stored: each distinct text once, and turns of the history by id instead of their words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from memeval.records.base import Digest, digest_bytes
from memeval.records.response import Context, ContextPart, RetrievedItem
from memeval.records.scenario import Scenario, dated_line
from memeval.systems.messages import Found


class TurnTexts:
    """The texts of a scenario's turns, both ways: from text to turn and back.

    Args:
        scenario: the scenario whose turns may come back in what a system retrieves.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario_id = scenario.scenario_id
        self._scenario = scenario

    @cached_property
    def _texts(self) -> dict[tuple[str, bool], str]:
        return {
            (turn.turn_id, dated): dated_line(session, turn) if dated else turn.content
            for session in self._scenario.sessions()
            for turn in session.turns
            for dated in (False, True)
        }

    @cached_property
    def _turns(self) -> dict[str, tuple[str, bool]]:
        found: dict[str, tuple[str, bool]] = {}
        for place, text in self._texts.items():
            found.setdefault(text, place)
        return found

    def item(self, text: str, source_ids: tuple[str, ...], score: float | None) -> RetrievedItem:
        """Return a retrieved item as it is stored."""
        turn_id, dated = self._turns.get(text, (None, False))
        return RetrievedItem(
            turn_id=turn_id, dated=dated, text=None if turn_id else text, source_ids=source_ids, score=score
        )

    def context(self, text: str, items: Sequence[Found] = ()) -> Context:
        """Return a context as it is stored.

        Args:
            text: the context.
            items: what it was made of, where the system says.
        """
        parts = []
        own: list[str] = []
        for line in text.split("\n"):
            turn_id, dated = self._turns.get(line, (None, False))
            if turn_id is None:
                own.append(line)  # a part for every line of a long text would take many times the text's memory
                continue
            if own:
                parts.append(ContextPart(text="\n".join(own)))
                own = []
            parts.append(ContextPart(turn_id=turn_id, dated=dated))
        if own:
            parts.append(ContextPart(text="\n".join(own)))
        return Context(digest=digest_of_text(text), scenario_id=self.scenario_id, parts=tuple(parts))

    def text(self, part: ContextPart | RetrievedItem) -> str:
        """Return the words behind a stored part of a context, or behind a stored item.

        Raises:
            KeyError: the part names a turn that this scenario does not have.
        """
        return part.text or "" if part.turn_id is None else self._texts[part.turn_id, part.dated]


def digest_of_text(text: str) -> Digest:
    """Return the digest of a context's text."""
    return digest_bytes(text.encode())
