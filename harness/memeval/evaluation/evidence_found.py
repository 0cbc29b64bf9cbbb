"""What of an item's evidence came to the one who answered: among the items retrieved, and in the context read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memeval.execution.contexts import TurnTexts, digest_of_text
from memeval.grading.evidence import Retrieved, TurnIndex, evidence_turns
from memeval.keys import ItemKey
from memeval.records.failure import EvidenceFound
from memeval.records.response import Context, Response, RetrievedItem
from memeval.records.scenario import Scenario
from memeval.tokens import count_tokens

TELLING = 20
"""A turn of fewer characters is not looked for inside other text: "Thanks!" stands in many places."""


@dataclass(frozen=True)
class EvidenceSeen:
    """How much of an item's evidence was there to answer from."""

    found: EvidenceFound
    """How much was retrieved."""
    rank: int | None = None
    """Where the last piece stands; see :class:`memeval.records.failure.Failure`."""
    read: bool = True
    """Whether all of it stands in the context as it was read; true as well where no context is on record."""


@dataclass(frozen=True)
class _Read:
    """A context, word for word."""

    text: str
    ends: Mapping[str, int]
    """Where in it each turn ends that stands in it as a line of its own."""
    whole: bool
    """Whether it is made of such turns alone."""


class EvidenceFinder:
    """A scenario with the contexts that were brought up in it.

    Evidence is found where an item names it or is its very words, or where it stands in the context: a system that
    hands over its whole history has found everything. Turns are looked for where the key and the system name turns,
    else sessions, any turn of which will do.

    Args:
        scenario: the scenario, whole.
        contexts: contexts by digest.
        reader_tokens: the most tokens of context that a model reader was sent; ``None`` where nothing was cut.
    """

    def __init__(self, scenario: Scenario, contexts: Mapping[str, Context], reader_tokens: int | None = None) -> None:
        self.history = TurnIndex(scenario, mixed=True)  # as the failure analyses of stored runs have it
        self.questions = {ask.question_id: ask.question for ask in scenario.questions()}
        self._texts = TurnTexts(scenario)
        self._contexts = contexts
        self._reader_tokens = reader_tokens
        self._spelled: dict[str, _Read | None] = {}

    def seen(self, item: ItemKey, responses: Sequence[Response], *, turns: bool = True) -> EvidenceSeen:
        """Return what of an item's evidence was there.

        Args:
            item: the item's key.
            responses: its responses, one a question.
            turns: whether turns are looked for where they are named; else sessions always are.
        """
        told = [self.history.retrieved(response.items or ()) for response in responses]
        pieces, by_turn = self._pieces(item, told, turns)
        if not pieces:
            return EvidenceSeen(EvidenceFound.UNKNOWN)
        reads = [read for response in responses if (read := self._read(response)) is not None]
        named = [one.turns or () if by_turn else one.sessions for one in told]
        ranks = {name: rank for names in named for rank, name in enumerate(names, start=1)}
        held = [piece for piece in pieces if piece in ranks or any(self._place(piece, read) for read in reads)]
        if len(held) == len(pieces):
            ranked = len(responses) == 1 and all(piece in ranks for piece in pieces)
            return EvidenceSeen(
                EvidenceFound.ALL,
                max(ranks[piece] for piece in pieces) if ranked else None,
                not reads or all(self._reaches(piece, by_turn, responses) for piece in pieces),
            )
        if not all(map(self._tells, responses)):
            return EvidenceSeen(EvidenceFound.UNKNOWN)
        return EvidenceSeen(EvidenceFound.SOME if held else EvidenceFound.NONE)

    def _pieces(self, item: ItemKey, told: Sequence[Retrieved], by_turn: bool) -> tuple[tuple[str, ...], bool]:
        """Return what is looked for, and whether that is turns."""
        turns = evidence_turns(item)
        if turns and by_turn and all(one.turns is not None or not one.sources for one in told):
            return turns, True
        return item.evidence or tuple(dict.fromkeys(map(self.history.session_of, turns))), False

    def _tells(self, response: Response) -> bool:
        """Return whether it is known where all that was retrieved comes from."""
        items = response.items
        if items is not None and (not items or any(map(self.history.knows, self.history.retrieved(items).sources))):
            return True
        read = self._read(response)
        return read is not None and read.whole

    def _read(self, response: Response) -> _Read | None:
        digest = response.context_digest
        if digest is None or digest not in self._contexts:
            return None
        if digest not in self._spelled:
            self._spelled[digest] = self._spell(self._contexts[digest])
        return self._spelled[digest]

    def _spell(self, context: Context) -> _Read | None:
        """Return a context's words; ``None`` where it was stored for another scenario that has other turns."""
        ends: dict[str, int] = {}
        lines: list[str] = []
        length = -1
        try:
            for part in context.parts:
                lines.append(self._texts.text(part))
                length += 1 + len(lines[-1])
                if part.turn_id is not None:
                    ends.setdefault(part.turn_id, length)
        except KeyError:
            return None
        text = "\n".join(lines)
        if context.scenario_id != self.history.scenario.scenario_id and digest_of_text(text) != context.digest:
            return None
        whole = all(part.turn_id is not None or not (part.text or "").strip() for part in context.parts)
        return _Read(text, ends, whole)

    def _place(self, piece: str, read: _Read) -> int | None:
        """Return where a piece of evidence first ends in a context; ``None`` where it is not in it."""
        turns = (piece,) if piece in self.history.turns else self.history.turns_of(piece)
        places = [read.ends[turn] for turn in turns if turn in read.ends]
        if not read.whole:
            places += [end for turn in turns if (end := _end(self.history.turns[turn][1].content, read)) is not None]
        return min(places, default=None)

    def _reaches(self, piece: str, by_turn: bool, responses: Sequence[Response]) -> bool:
        """Return whether a piece of evidence, or an item that names it, stands in a context as it was read."""
        for response in responses:
            read = self._read(response)
            if read is None:
                continue
            items = [item for item in response.items or () if self._names(item, piece, by_turn)]
            places = [self._place(piece, read), *(self._item_place(item, read) for item in items)]
            known = [place for place in places if place is not None]
            if known and self._within(min(known), read, response, alone=len(responses) == 1):
                return True
        return False

    def _names(self, item: RetrievedItem, piece: str, by_turn: bool) -> bool:
        found = self.history.retrieved((item,))
        return piece in ((found.turns or ()) if by_turn else found.sessions)

    def _item_place(self, item: RetrievedItem, read: _Read) -> int | None:
        return read.ends.get(item.turn_id) if item.turn_id is not None else _end(item.text or "", read, telling=1)

    def _within(self, place: int, read: _Read, response: Response, *, alone: bool) -> bool:
        """Return whether the line of a place is among the first ones that a reader's budget allows for."""
        limit, counted = self._reader_tokens, response.context_tokens
        if limit is None or counted is None or counted <= limit or not alone:
            return True
        line = read.text.find("\n", place)
        return count_tokens(read.text if line < 0 else read.text[:line]) <= limit


def _end(words: str, read: _Read, telling: int = TELLING) -> int | None:
    words = words.strip()
    start = read.text.find(words) if len(words) >= telling else -1
    return None if start < 0 else start + len(words)
