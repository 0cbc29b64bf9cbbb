"""Contexts as they are stored: each distinct text once, and turns of the history by id instead of their words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property

from memeval.records.base import Digest, digest_bytes
from memeval.records.response import Context, ContextPart, RetrievedItem
from memeval.records.scenario import Scenario, Session, dated_line
from memeval.systems.messages import FoundItem


class TurnTexts:
    """The texts of a scenario's turns, both ways: from text to turn and back.

    Of a streamed history, which nobody holds, only the turns are known that stand in a session which an item names.

    Args:
        scenario: the scenario whose turns may come back in what a system retrieves.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario_id = scenario.scenario_id
        self._scenario = scenario

    @cached_property
    def _texts(self) -> dict[tuple[str, bool], str]:
        return dict(_texts_of(self._scenario.each_session()))

    @cached_property
    def _turns(self) -> dict[str, tuple[str, bool]]:
        return _by_text(self._texts.items())

    def _turns_named(self, source_ids: Iterable[str]) -> Mapping[str, tuple[str, bool]]:
        """Return the turns that some sources may be made of, by their texts."""
        if not self._scenario.is_streamed:
            return self._turns
        sessions = []
        for session_id in dict.fromkeys(source.partition(":")[0] for source in source_ids):
            with suppress(KeyError):
                sessions.append(self._scenario.session(session_id))
        return _by_text(_texts_of(sessions))

    def item(self, text: str, source_ids: tuple[str, ...], score: float | None) -> RetrievedItem:
        """Return a retrieved item as it is stored."""
        turn_id, dated = self._turns_named(source_ids).get(text, (None, False))
        return RetrievedItem(
            turn_id=turn_id, dated=dated, text=None if turn_id else text, source_ids=source_ids, score=score
        )

    def context(self, text: str, items: Sequence[FoundItem] = ()) -> Context:
        """Return a context as it is stored.

        Args:
            text: the context.
            items: what it was made of, where the system says.
        """
        parts = []
        own: list[str] = []
        turns = self._turns_named(source for item in items for source in item.source_ids)
        for line in text.split("\n"):
            turn_id, dated = turns.get(line, (None, False))
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
        if part.turn_id is None:
            return part.text or ""
        if not self._scenario.is_streamed:
            return self._texts[part.turn_id, part.dated]
        session, turn = self._scenario.turn(part.turn_id)
        return dated_line(session, turn) if part.dated else turn.content


def _texts_of(sessions: Iterable[Session]) -> Iterator[tuple[tuple[str, bool], str]]:
    """Yield the turns of some sessions, plain and dated, with their texts."""
    for session in sessions:
        for turn in session.turns:
            for dated in (False, True):
                yield (turn.turn_id, dated), dated_line(session, turn) if dated else turn.content


def _by_text(texts: Iterable[tuple[tuple[str, bool], str]]) -> dict[str, tuple[str, bool]]:
    """Return turns by their texts, the first of those that say the same."""
    found: dict[str, tuple[str, bool]] = {}
    for place, text in texts:
        found.setdefault(text, place)
    return found


def digest_of_text(text: str) -> Digest:
    """Return the digest of a context's text."""
    return digest_bytes(text.encode())
