"""Retrieved sessions and turns of a question, measured against the key's evidence."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import fsum, log2

from memeval.keys import ItemKey
from memeval.records.response import Response, RetrievedItem
from memeval.records.scenario import Ingest, Scenario, Session, Turn, dated_line
from memeval.remembered import OfScenarios

DEPTHS = (1, 5, 10, 25, 50)
"""The cut-off ranks."""


def measures(ranking: Sequence[str], relevant: AbstractSet[str], depths: Sequence[int] = DEPTHS) -> dict[str, float]:
    """Return recall, all-evidence recall, hit, precision and nDCG at each depth, and the reciprocal rank.

    With ``rel_i`` 1 for a relevant rank i and 0 otherwise, ``DCG@k = Σ_{i≤k} rel_i / log2(i + 1)``; nDCG divides it by
    the ideal DCG, in which the first ``min(|relevant|, k)`` ranks are relevant. ``ranking``: the retrieved ids, best
    first, without duplicates. ``relevant``: the relevant ids; not empty. Raises ``ValueError``: ``relevant`` is empty,
    or ``ranking`` has duplicates.
    """
    if not relevant or len(set(ranking)) != len(ranking):
        raise ValueError("a ranking needs relevant ids and no duplicates")
    ranks = [rank for rank, one in enumerate(ranking, 1) if one in relevant]
    found = {}
    for k in depths:
        within = [rank for rank in ranks if rank <= k]
        ideal = fsum(1 / log2(rank + 1) for rank in range(1, min(len(relevant), k) + 1))
        found[f"recall@{k}"] = len(within) / len(relevant)
        found[f"recall_all@{k}"] = float(len(within) == len(relevant))
        found[f"hit@{k}"] = float(bool(within))
        found[f"precision@{k}"] = len(within) / k
        found[f"ndcg@{k}"] = fsum(1 / log2(rank + 1) for rank in within) / ideal
    found["mrr"] = 1 / ranks[0] if ranks else 0.0
    return found


CACHED_TURNS = 1024
"""Size of the cache of a streamed history's turns; the items of one question are read repeatedly."""

FEW = ("session_recall@5", "session_recall@10", "session_mrr", "turn_recall@10")
"""The retrieval measures of graders that grade the answer."""


@dataclass(frozen=True)
class Retrieved:
    """The retrieved sources of a question, best first, each once at its first rank.

    An item with several sources takes as many ranks, so that naming every source gains nothing. An unknown source, and
    an item without sources, takes a rank and is never relevant.
    """

    sources: tuple[str, ...]
    """Ordinals of sessions and turns, as named by the system."""
    sessions: tuple[str, ...]
    """Ordinals of sessions."""
    turns: tuple[str, ...] | None
    """Ordinals of turns; ``None`` if no item names a turn, or if a session is named without one of its turns. Such a
    system returns sessions, so turn ranks would measure its output format, not its memory."""
    firsts: Mapping[str, str] = field(default_factory=dict)
    """The first copy of sessions and turns that the source lists again, by ordinal; only first copies are above."""

    def relevant(self, evidence: Iterable[str]) -> set[str]:
        """Return the ordinals of evidence, each by its first copy."""
        return {self.firsts.get(each, each) for each in evidence}


class TurnIndex:
    """The sessions and turns of a scenario, by ordinal; turns of a streamed history are created on access."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.turns: Mapping[str, tuple[Session, Turn]] = (
            StreamedTurns(scenario)
            if scenario.is_streamed
            else {turn.turn_id: (session, turn) for session in scenario.sessions() for turn in session.turns}
        )
        """Turns by their ordinals."""

    @cached_property
    def questions(self) -> Mapping[str, str]:
        return {ask.question_id: ask.question for ask in self.scenario.questions()}

    @cached_property
    def session_count(self) -> int:
        if self.scenario.is_streamed:
            return len(self.scenario.steps) - len(self.scenario.questions())
        return len(self._turns_of)

    def turns_of(self, session_id: str) -> tuple[str, ...]:
        """Return the ordinals of a session's turns; empty for an unknown session."""
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

    @cached_property
    def _firsts(self) -> Mapping[str, str]:
        """The first copy of each session and turn that the source lists again under the same session id, by ordinal.

        Turns are matched by their place in the session.
        """
        if self.scenario.is_streamed:
            return {}
        found: dict[str, str] = {}
        first_of: dict[str, Session] = {}
        for step in self.scenario.steps:
            if not isinstance(step, Ingest) or not step.source_id:
                continue
            first = first_of.setdefault(step.source_id, step.session)
            if first is not step.session:
                found[step.session.session_id] = first.session_id
                copies = zip(step.session.turns, first.turns, strict=False)
                found |= {turn.turn_id: original.turn_id for turn, original in copies}
        return found

    def retrieved(self, items: Sequence[RetrievedItem]) -> Retrieved:
        sources = tuple(
            dict.fromkeys(source for number, item in enumerate(items) for source in self._sources_of(number, item))
        )
        return Retrieved(
            sources=sources,
            sessions=tuple(dict.fromkeys(self.session_of(source) for source in sources)),
            turns=self.firsts_of(sources) if self._are_turns(sources) else None,
            firsts=self._firsts,
        )

    def ranked_turns(self, items: Sequence[RetrievedItem]) -> tuple[str, ...]:
        """Return the ordinals of retrieved turns, best first, each once.

        A session counts as its turns in their order, so that returning whole sessions gains nothing. An unknown source
        takes one rank.
        """
        sources = self.retrieved(items).sources
        return tuple(dict.fromkeys(turn for source in sources for turn in self.turns_of(source) or (source,)))

    def firsts_of(self, ordinals: Iterable[str]) -> tuple[str, ...]:
        """Return ordinals with the first copy in place of each session or turn that is listed again, each once."""
        return tuple(dict.fromkeys(self._firsts.get(each, each) for each in ordinals))

    def _are_turns(self, sources: Sequence[str]) -> bool:
        turns = [source for source in sources if source in self.turns]
        named = {self.session_of(turn) for turn in turns}
        return bool(turns) and all(
            source in self.turns or self.session_of(source) in named or not self.knows(source) for source in sources
        )

    def knows(self, source: str) -> bool:
        if source in self.turns:
            return True
        if self.scenario.is_streamed:
            return _session(self.scenario, source) is not None
        return source in self._turns_of

    def session_of(self, source: str) -> str:
        """Return the session of a source, its first copy if it is listed twice; unknown sources are unchanged."""
        session = self.turns[source][0].session_id if source in self.turns else source
        return self._firsts.get(session, session)

    def _sources_of(self, number: int, item: RetrievedItem) -> tuple[str, ...]:
        """Return an item's sources: the turn with its text, else the sources named by the system."""
        turn_id, named = item.turn_id, item.source_ids
        if turn_id is not None and turn_id in self.turns:
            if named and named[0] != turn_id:
                text = self._text(turn_id, item)
                turn_id = next((one for one in named if one in self.turns and self._text(one, item) == text), turn_id)
            return (turn_id,)
        return named or (f"item {number}",)

    def text_of(self, item: RetrievedItem) -> str:
        """Return the text of an item, which is not stored if it is that of a turn."""
        turn_id = item.turn_id
        return self._text(turn_id, item) if turn_id is not None and turn_id in self.turns else item.text or ""

    def _text(self, turn_id: str, item: RetrievedItem) -> str:
        session, turn = self.turns[turn_id]
        return dated_line(session, turn) if item.dated else turn.content


class StreamedTurns(Mapping[str, tuple[Session, Turn]]):
    """The turns of a streamed history by ordinal, created on access."""

    def __init__(self, scenario: Scenario) -> None:
        self._turn = lru_cache(maxsize=CACHED_TURNS)(scenario.turn)
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


index_of = OfScenarios(TurnIndex)
"""Returns the turn index of a scenario, the same for each run on it. Nobody may change it."""


def evidence_measures(item: ItemKey, retrieved: Retrieved) -> dict[str, float | None]:
    """Return the retrieval measures by name, such as ``session_recall@5``.

    Without evidence in the key there are none. Turn measures are ``None`` if the key or the system names no turns.
    """
    if not item.evidence:
        return {}
    turns = item.key.relevant_turns
    found: dict[str, float | None] = {
        f"session_{name}": value
        for name, value in measures(retrieved.sessions, retrieved.relevant(item.evidence)).items()
    }
    by_turn: Mapping[str, float | None] = dict.fromkeys(measures((), {""}))
    if turns and retrieved.turns is not None:
        by_turn = measures(retrieved.turns, retrieved.relevant(turns))
    return found | {f"turn_{name}": value for name, value in by_turn.items()}


def few_measures(item: ItemKey, history: TurnIndex, response: Response) -> dict[str, float | None]:
    """Return the measures in :data:`FEW`, for graders of answers; none if the system returned no items."""
    if response.items is None:
        return {}
    found = evidence_measures(item, history.retrieved(response.items))
    return {name: found[name] for name in FEW if name in found}


def without_choice(history: TurnIndex) -> dict[str, float | None]:
    """Return, by depth, whether it covers all sessions, as 1 or 0."""
    return {f"no_retrieval@{k}": float(k >= history.session_count) for k in DEPTHS}
