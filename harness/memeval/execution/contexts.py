"""Contexts in stored form: each distinct text of a scenario once, and turns of its history by id instead of text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import groupby

from memeval.records.base import Digest, digest_bytes
from memeval.records.response import Context, ContextPart, Response, RetrievedItem
from memeval.records.scenario import Scenario, Session, dated_line
from memeval.remembered import OfScenarios
from memeval.systems.messages import FoundItem
from memeval.tokens import begins_apart, count_tokens

SCORE_DECIMALS = 6
"""Decimals of a stored score. Ranks are those of the stored order, so that scores may be equal."""


class Contexts:
    def __init__(self, rows: Iterable[Context] = ()) -> None:
        self._in_scenario: dict[str, dict[Digest, Context]] = {}
        for row in rows:
            self.add(row)

    def __iter__(self) -> Iterator[Context]:
        return (context for own in self._in_scenario.values() for context in own.values())

    def add(self, context: Context) -> bool:
        """Add a context, and return whether it must be stored.

        One text can have several forms if turns are equal. The smallest form counts, whichever comes first, so that
        equal runs store equal rows.
        """
        own = self._in_scenario.setdefault(context.scenario_id, {})
        known = own.get(context.digest)
        if known is not None and (known == context or known.to_json() <= context.to_json()):
            return False
        own[context.digest] = context
        return True

    def has(self, response: Response) -> bool:
        """Return whether the context of a response, if it names one, is here in its own scenario."""
        digest = response.context_digest
        return digest is None or digest in self._in_scenario.get(response.scenario_id, {})

    def of(self, response: Response) -> Context | None:
        """Return the context of a response; ``None`` if it names none, or a missing one."""
        digest = response.context_digest
        return None if digest is None else self.of_scenario(response.scenario_id).get(digest)

    def of_scenario(self, scenario_id: str) -> Mapping[Digest, Context]:
        return self._in_scenario.get(scenario_id, {})


class TurnTexts:
    """Converts between texts and turns of a scenario.

    A streamed history is not in memory; only turns of sessions that an item names are found.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario_id = scenario.scenario_id
        self._scenario = scenario
        self._is_streamed = scenario.is_streamed  # looked at for every line of every context
        self._counts: dict[tuple[str, bool, str], int] = {}

    @cached_property
    def _texts(self) -> dict[tuple[str, bool], str]:
        return dict(_texts_of(self._scenario.each_session()))

    @cached_property
    def _turns(self) -> dict[str, tuple[str, bool]]:
        return _by_text(self._texts.items())

    def _turns_named(self, source_ids: Iterable[str]) -> Mapping[str, tuple[str, bool]]:
        if not self._is_streamed:
            return self._turns
        sessions = []
        for session_id in dict.fromkeys(source.partition(":")[0] for source in source_ids):
            with suppress(KeyError):
                sessions.append(self._scenario.session(session_id))
        return _by_text(_texts_of(sessions))

    def item(self, text: str, source_ids: tuple[str, ...], score: float | None) -> RetrievedItem:
        """Return a retrieved item in stored form, with a score of ``SCORE_DECIMALS``."""
        turn_id, dated = self._turns_named(source_ids).get(text, (None, False))
        return RetrievedItem(
            turn_id=turn_id,
            dated=dated,
            text=None if turn_id else text,
            source_ids=source_ids,
            score=None if score is None else round(score, SCORE_DECIMALS),
        )

    def context(self, text: str, items: Sequence[FoundItem] = ()) -> Context:
        """Return a context in stored form. ``items``: the items of the context, if the system returned them."""
        parts: list[ContextPart] = []
        turns = self._turns_named(source for item in items for source in item.source_ids)
        for is_turn, lines in groupby(text.split("\n"), turns.__contains__):
            if is_turn:
                named = map(turns.__getitem__, lines)
                parts += (ContextPart(turn_id=turn_id, dated=dated) for turn_id, dated in named)
            else:  # one part per line would need many times the memory of a long text
                parts.append(ContextPart(text="\n".join(lines)))
        return Context(digest=digest_of_text(text), scenario_id=self.scenario_id, parts=tuple(parts))

    def joined(self, context: Context) -> str:
        """Return the text of a stored context.

        Raises KeyError: a part names a turn that this scenario does not have.
        """
        if self._is_streamed:
            return "\n".join(map(self.text, context.parts))
        texts = self._texts
        return "\n".join(
            [(part.text or "") if part.turn_id is None else texts[part.turn_id, part.dated] for part in context.parts]
        )

    def tokens(self, context: Context) -> int:
        """Return the number of tokens of a stored context. Those of a turn are counted once for all contexts."""
        if self._is_streamed or not context.parts:
            return count_tokens(self.joined(context))
        texts = [self.text(part) for part in context.parts]
        if not all(map(begins_apart, texts[1:])):
            return count_tokens("\n".join(texts))
        ends = ["\n"] * (len(texts) - 1) + [""]
        return sum(map(self._part_tokens, context.parts, texts, ends))

    def _part_tokens(self, part: ContextPart, text: str, end: str) -> int:
        if part.turn_id is None:
            return count_tokens(text + end)
        place = part.turn_id, part.dated, end
        if place not in self._counts:
            self._counts[place] = count_tokens(text + end)
        return self._counts[place]

    def require(self, context: Context) -> None:
        """Look up all turns of a stored context. Raises KeyError: this scenario does not have one of them."""
        if self._is_streamed:
            self.joined(context)
        elif not all(part.turn_id is None or (part.turn_id, part.dated) in self._texts for part in context.parts):
            raise KeyError(context.digest)

    def text(self, part: ContextPart | RetrievedItem) -> str:
        if part.turn_id is None:
            return part.text or ""
        if not self._is_streamed:
            return self._texts[part.turn_id, part.dated]
        session, turn = self._scenario.turn(part.turn_id)
        return dated_line(session, turn) if part.dated else turn.content


texts_of = OfScenarios(TurnTexts)


def _texts_of(sessions: Iterable[Session]) -> Iterator[tuple[tuple[str, bool], str]]:
    for session in sessions:
        for turn in session.turns:
            for dated in (False, True):
                yield (turn.turn_id, dated), dated_line(session, turn) if dated else turn.content


def _by_text(texts: Iterable[tuple[tuple[str, bool], str]]) -> dict[str, tuple[str, bool]]:
    """Return turns by text; of equal texts, the first turn."""
    found: dict[str, tuple[str, bool]] = {}
    for place, text in texts:
        found.setdefault(text, place)
    return found


def digest_of_text(text: str) -> Digest:
    return digest_bytes(text.encode())
