"""Finds the evidence of an item among the retrieved items, and in the context that the reader received."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from memeval.execution.contexts import TurnTexts, texts_of
from memeval.grading.evidence import Retrieved, index_of
from memeval.keys import ItemKey
from memeval.records.failure import EvidenceFound
from memeval.records.response import Context, Response, RetrievedItem
from memeval.records.scenario import Scenario
from memeval.tokens import count_tokens

MIN_CHARACTERS = 20
"""Shorter turns are not searched for in other text: "Thanks!" occurs in many places."""


@dataclass(frozen=True)
class EvidenceAvailability:
    """How much of an item's evidence was available for the answer."""

    found: EvidenceFound
    """How much was retrieved."""
    rank: int | None = None
    """Rank of the last piece of evidence; see :class:`memeval.records.failure.Failure`."""
    read: bool = True
    """Whether the reader received all of it; also true if no context is recorded."""


class _ContextText:
    """The full text of a context. Raises ``KeyError`` if the context names a turn that the scenario does not have."""

    def __init__(self, context: Context, texts: TurnTexts) -> None:
        self._context, self._texts = context, texts
        self.turns = frozenset(part.turn_id for part in context.parts if part.turn_id is not None)
        """The turns that are separate lines of the text."""
        self.whole = all(part.turn_id is not None or not (part.text or "").strip() for part in context.parts)
        """Whether the text has only such turns."""
        texts.require(context)

    @cached_property
    def text(self) -> str:
        """The text; most contexts are compared by turns alone."""
        return self._texts.joined(self._context)

    @cached_property
    def ends(self) -> Mapping[str, int]:
        ends: dict[str, int] = {}
        length = -1
        for part in self._context.parts:
            length += 1 + len(self._texts.text(part))
            if part.turn_id is not None:
                ends.setdefault(part.turn_id, length)
        return ends


class EvidenceFinder:
    """Finds evidence in the retrieved items and contexts of a scenario.

    Evidence is found if an item names it or has exactly its text, or if the context contains it. So a system that
    returns its whole history has found everything. If the key and the system name turns, evidence is turns. Otherwise
    it is sessions, and any turn of a session counts. ``reader_tokens``: token limit of a model reader's context;
    ``None`` for no limit.
    """

    def __init__(self, scenario: Scenario, contexts: Mapping[str, Context], reader_tokens: int | None = None) -> None:
        self.history = index_of(scenario)
        self._texts = texts_of(scenario)
        self._contexts = contexts
        self._reader_tokens = reader_tokens
        self._context_texts: dict[str, _ContextText | None] = {}

    def availability(self, item: ItemKey, responses: Sequence[Response], *, turns: bool = True) -> EvidenceAvailability:
        """Return how much of an item's evidence was available.

        ``turns``: whether evidence can be turns; ``False`` for sessions only.
        """
        retrieved = [self.history.retrieved(response.items or ()) for response in responses]
        pieces, by_turn = self._pieces(item, retrieved, turns)
        if not pieces:
            return EvidenceAvailability(EvidenceFound.UNKNOWN)
        contexts = [context for response in responses if (context := self._context_text(response)) is not None]
        named = [one.turns or () if by_turn else one.sessions for one in retrieved]
        ranks = {name: rank for names in named for rank, name in enumerate(names, start=1)}
        found = [piece for piece in pieces if piece in ranks or any(self._holds(each, piece) for each in contexts)]
        if len(found) == len(pieces):
            ranked = len(responses) == 1 and all(piece in ranks for piece in pieces)
            return EvidenceAvailability(
                EvidenceFound.ALL,
                max(ranks[piece] for piece in pieces) if ranked else None,
                not contexts or all(self._reaches(piece, by_turn, responses, named) for piece in pieces),
            )
        if not all(map(self._origin_is_known, responses, retrieved)):
            return EvidenceAvailability(EvidenceFound.UNKNOWN)
        return EvidenceAvailability(EvidenceFound.SOME if found else EvidenceFound.NONE)

    def _pieces(self, item: ItemKey, retrieved: Sequence[Retrieved], by_turn: bool) -> tuple[tuple[str, ...], bool]:
        """Return the ids of the evidence, and whether they are turn ids."""
        turns = item.key.relevant_turns
        if turns and by_turn and all(one.turns is not None or not one.sources for one in retrieved):
            return self.history.firsts_of(turns), True
        return self.history.firsts_of(item.evidence or ()) or tuple(
            dict.fromkeys(map(self.history.session_of, turns))
        ), False

    def _origin_is_known(self, response: Response, retrieved: Retrieved) -> bool:
        items = response.items
        if items is not None and (not items or any(map(self.history.knows, retrieved.sources))):
            return True
        context = self._context_text(response)
        return context is not None and context.whole

    def _context_text(self, response: Response) -> _ContextText | None:
        digest = response.context_digest
        if digest is None or digest not in self._contexts:
            return None
        if digest not in self._context_texts:
            try:
                self._context_texts[digest] = _ContextText(self._contexts[digest], self._texts)
            except KeyError:  # it names a turn that the scenario does not have
                self._context_texts[digest] = None
        return self._context_texts[digest]

    def _holds(self, context: _ContextText, piece: str) -> bool:
        turns = self._turns(piece)
        return not context.turns.isdisjoint(turns) or (not context.whole and bool(self._ends_in_text(turns, context)))

    def _turns(self, piece: str) -> tuple[str, ...]:
        return (piece,) if piece in self.history.turns else self.history.turns_of(piece)

    def _ends_in_text(self, turns: Sequence[str], context: _ContextText) -> list[int]:
        found = (_end(self.history.turns[turn][1].content, context) for turn in turns)
        return [end for end in found if end is not None]

    def _end_of(self, piece: str, context: _ContextText) -> int | None:
        """Return the first end position of a piece of evidence in a context; ``None`` if it is not in it."""
        turns = self._turns(piece)
        ends = [context.ends[turn] for turn in turns if turn in context.ends]
        if not context.whole:
            ends += self._ends_in_text(turns, context)
        return min(ends, default=None)

    def _reaches(
        self, piece: str, by_turn: bool, responses: Sequence[Response], named: Sequence[Sequence[str]]
    ) -> bool:
        """Return whether the reader received a piece of evidence, or an item that names it."""
        for response, names in zip(responses, named, strict=True):
            context = self._context_text(response)
            if context is None:
                continue
            if self._holds(context, piece):
                end = None if self._reader_tokens is None else self._end_of(piece, context)
                if end is None or self._within(end, context, response, alone=len(responses) == 1):
                    return True
            if piece not in names:
                continue
            items = (item for item in response.items or () if self._names(item, piece, by_turn))
            ends = [end for item in items if (end := self._end_of_item(item, context)) is not None]
            if ends and self._within(min(ends), context, response, alone=len(responses) == 1):
                return True
        return False

    def _names(self, item: RetrievedItem, piece: str, by_turn: bool) -> bool:
        found = self.history.retrieved((item,))
        return piece in ((found.turns or ()) if by_turn else found.sessions)

    def _end_of_item(self, item: RetrievedItem, context: _ContextText) -> int | None:
        if item.turn_id is not None:
            return context.ends.get(item.turn_id)
        return _end(item.text or "", context, min_characters=1)

    def _within(self, end: int, context: _ContextText, response: Response, *, alone: bool) -> bool:
        """Return whether the line of an end position is within the reader's token limit."""
        limit, counted = self._reader_tokens, response.context_tokens
        if limit is None or counted is None or counted <= limit or not alone:
            return True
        line_end = context.text.find("\n", end)
        return count_tokens(context.text if line_end < 0 else context.text[:line_end]) <= limit


def _end(text: str, context: _ContextText, min_characters: int = MIN_CHARACTERS) -> int | None:
    text = text.strip()
    start = context.text.find(text) if len(text) >= min_characters else -1
    return None if start < 0 else start + len(text)
