"""What a system retrieved for a question, as sessions and as turns, against what the key rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from memeval.grading.ranking import DEPTHS, measures
from memeval.keys import ItemKey, LocomoKey, LongMemEvalKey
from memeval.records.response import Response, RetrievedItem
from memeval.records.scenario import Scenario, Session, Turn, dated_line

Version = Literal[1, 2]
"""Version of the graders that measure turns: see :class:`Retrieved` for what differs."""

KEPT_TURNS = 1024
"""Turns of a streamed history that are kept once they were made: the items of one question are looked at repeatedly."""

FEW = ("session_recall@5", "session_recall@10", "session_mrr", "turn_recall@10")
"""What is told of retrieval where the answer is what counts."""


@dataclass(frozen=True)
class Retrieved:
    """What came back for a question, best first and each once, at its first rank.

    An item that names several sources takes as many ranks, so that naming everything gains nothing. What is unknown, or
    names nothing, has its rank and is relevant to nothing.
    """

    sources: tuple[str, ...]
    """Ordinals of sessions and turns as they were named."""
    sessions: tuple[str, ...]
    """Sessions."""
    turns: tuple[str, ...] | None
    """Turns; ``None`` where no item names one, and where a session is named without a turn of it: such a system returns
    sessions, and a rank among turns would measure its form, not its memory."""


class TurnIndex:
    """Where the turns of a scenario stand; those of a streamed history are made when they are looked at.

    Args:
        scenario: the scenario, whole.
        mixed: whether turns are ranked among sessions, as version 1 of the graders does.
    """

    def __init__(self, scenario: Scenario, *, mixed: bool = False) -> None:
        self.scenario = scenario
        self._mixed = mixed
        self.turns: Mapping[str, tuple[Session, Turn]] = (
            StreamedTurns(scenario)
            if scenario.is_streamed
            else {turn.turn_id: (session, turn) for session in scenario.sessions() for turn in session.turns}
        )
        """Turns by their ordinals."""

    @cached_property
    def session_count(self) -> int:
        """How many sessions there are."""
        if self.scenario.is_streamed:
            return len(self.scenario.steps) - len(self.scenario.questions())
        return len(self._turns_of)

    def turns_of(self, session_id: str) -> tuple[str, ...]:
        """Return the ordinals of a session's turns; none where there is no such session."""
        if not self.scenario.is_streamed:
            return self._turns_of.get(session_id, ())
        session = _session(self.scenario, session_id)
        return () if session is None else tuple(turn.turn_id for turn in session.turns)

    @cached_property
    def _turns_of(self) -> dict[str, tuple[str, ...]]:
        return {
            session.session_id: tuple(turn.turn_id for turn in session.turns)
            for session in self.scenario.each_session()
        }

    def retrieved(self, items: Sequence[RetrievedItem]) -> Retrieved:
        """Return what a response's items come to."""
        sources = tuple(dict.fromkeys(source for number, item in enumerate(items) for source in self._of(number, item)))
        return Retrieved(
            sources=sources,
            sessions=tuple(dict.fromkeys(self.session_of(source) for source in sources)),
            turns=sources if self._are_turns(sources) else None,
        )

    def _are_turns(self, sources: Sequence[str]) -> bool:
        turns = [source for source in sources if source in self.turns]
        if self._mixed or not turns:
            return bool(turns)
        named = {self.session_of(turn) for turn in turns}
        return all(source in self.turns or source in named or not self.knows(source) for source in sources)

    def knows(self, source: str) -> bool:
        """Return whether a source is a session or a turn of the scenario."""
        if source in self.turns:
            return True
        if self.scenario.is_streamed:
            return _session(self.scenario, source) is not None
        return source in self._turns_of

    def session_of(self, source: str) -> str:
        """Return the session that a source is or stands in; what is unknown stays as it is."""
        return self.turns[source][0].session_id if source in self.turns else source

    def _of(self, number: int, item: RetrievedItem) -> Iterator[str]:
        """Yield an item's sources: the turn whose text it is, else what the system says it comes from."""
        if item.turn_id is not None and item.turn_id in self.turns:
            said_again = (one for one in item.source_ids if self._text(one, item) == self._text(item.turn_id, item))
            yield next(said_again, item.turn_id)
        elif item.source_ids:
            yield from item.source_ids
        else:
            yield f"item {number}"

    def _text(self, turn_id: str, item: RetrievedItem) -> str | None:
        if turn_id not in self.turns:
            return None
        session, turn = self.turns[turn_id]
        return dated_line(session, turn) if item.dated else turn.content


class StreamedTurns(Mapping[str, tuple[Session, Turn]]):
    """The turns of a streamed history, by their ordinals: each made when it is looked up.

    Args:
        scenario: the history.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._turn = lru_cache(maxsize=KEPT_TURNS)(scenario.turn)
        self._scenario = scenario

    def __getitem__(self, turn_id: str) -> tuple[Session, Turn]:
        return self._turn(turn_id)

    def __iter__(self) -> Iterator[str]:
        return (turn.turn_id for session in self._scenario.each_session() for turn in session.turns)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _session(scenario: Scenario, session_id: str) -> Session | None:
    try:
        return scenario.session(session_id)
    except KeyError:
        return None


class TurnIndexes:
    """Gives the history of a scenario, and keeps the last one: items of one scenario come in a row.

    Args:
        mixed: see :class:`TurnIndex`.
    """

    def __init__(self, *, mixed: bool = False) -> None:
        self._mixed = mixed
        self._last: TurnIndex | None = None

    def of(self, scenario: Scenario) -> TurnIndex:
        """Return the history of a scenario."""
        last = self._last
        if last is None or last.scenario is not scenario:
            self._last = last = TurnIndex(scenario, mixed=self._mixed)
        return last


def evidence_measures(item: ItemKey, retrieved: Retrieved) -> dict[str, float | None]:
    """Return the measures of what was retrieved, by name, such as ``session_recall@5``.

    There are none where the key names no evidence. Those of turns are ``None`` where the key or the system names none.
    """
    if not item.evidence:
        return {}
    turns = evidence_turns(item)
    found: dict[str, float | None] = {
        f"session_{name}": value for name, value in measures(retrieved.sessions, set(item.evidence)).items()
    }
    by_turn: Mapping[str, float | None] = dict.fromkeys(measures((), {""}))
    if turns and retrieved.turns is not None:
        by_turn = measures(retrieved.turns, set(turns))
    return found | {f"turn_{name}": value for name, value in by_turn.items()}


def few_measures(item: ItemKey, history: TurnIndex, response: Response) -> dict[str, float | None]:
    """Return a handful of the measures, for graders of answers; none where the system tells no items."""
    if response.items is None:
        return {}
    found = evidence_measures(item, history.retrieved(response.items))
    return {name: found[name] for name in FEW if name in found}


def evidence_turns(item: ItemKey) -> tuple[str, ...]:
    """Return the ordinals of the turns that an item's key rests on; none where the benchmark names none."""
    return item.key.evidence_turns if isinstance(item.key, LocomoKey | LongMemEvalKey) else ()


def without_choice(history: TurnIndex) -> dict[str, float | None]:
    """Return, per depth, 1 where it is not below the number of sessions, so that all of them are within it."""
    return {f"no_retrieval@{k}": float(k >= history.session_count) for k in DEPTHS}
