"""Makes two scenarios, which systems see, and answer keys, which they do not, from the released files."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.precisionmembench.fixtures import (
    LIMIT,
    USER,
    Belief,
    Case,
    ConversationTurn,
    Expectation,
    Fixtures,
)
from memeval.benchmarks.precisionmembench.keys import BeliefSearchKey
from memeval.keys import ItemKey
from memeval.records.scenario import Recall, Retain, Scenario, Step

SEARCHES, TURNS = "searches", "conversations"
"""The scenarios: all cases over one store, and all conversations over another."""

MATCHES = "match-one", "match-two", "match-many"
"""The categories of searches with matching beliefs, by their number."""

NO_MATCH, ALWAYS_PASSED, CONVERSATION = "no-match", "always-passed", "conversation"

_NEW_USER = "Cross-user isolation", "Cold start behavior"
"""Categories of the file in which separate users are enough to pass."""


@dataclass(frozen=True)
class Stored:
    beliefs: tuple[Belief, ...]

    @property
    def ordinals(self) -> dict[str, str]:
        named: dict[str, str] = {}
        for number, belief in enumerate(self.beliefs, 1):
            named.setdefault(belief.belief_id, ordinal(number))
        return named

    @property
    def updated(self) -> dict[str, str]:
        """The ordinal of the first text of a belief, by the ordinals of its later texts."""
        first = self.ordinals
        names = ((ordinal(number), first[belief.belief_id]) for number, belief in enumerate(self.beliefs, 1))
        return {name: earlier for name, earlier in names if name != earlier}

    def pinned(self, user: str, scope: Sequence[str]) -> tuple[Belief, ...]:
        """Return the pinned beliefs of a user in some scopes: neither questions nor outdated."""
        return tuple(
            belief
            for belief in self.beliefs
            if belief.pinned
            and belief.is_seen(user, scope)
            and not (belief.is_question or belief.superseded_by or belief.resolved_at)
        )

    def questions(self, user: str, scope: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            belief.belief_id
            for belief in self.beliefs
            if belief.pinned and belief.is_question and belief.is_seen(user, scope) and not belief.resolved_at
        )

    def key(self, expect: Expectation, scope: Sequence[str], user: str = USER, limit: int = LIMIT) -> BeliefSearchKey:
        names, by_id = self.ordinals, {belief.belief_id: belief for belief in self.beliefs}
        pinned = tuple(dict.fromkeys(names[belief.belief_id] for belief in self.pinned(user, scope)))[:limit]
        noise = tuple(names[name] for name in expect.noise.surface)
        expected = tuple(names[name] for name in expect.relevant.only or ())
        return BeliefSearchKey(
            absent=not expected,
            expected=expected,
            exact=expect.relevant.only is not None,
            forbidden=(*(names[name] for name in expect.relevant.exclude), *noise),
            noise=noise,
            pinned=pinned,
            room=limit - len(pinned),
            expansions={
                names[belief.belief_id]: tuple(names[n] for n in belief.participants if by_id[n].is_seen(user, scope))
                for belief in self.beliefs
                if belief.participants
            },
            updated=self.updated,
        )

    def turn_key(self, turn: ConversationTurn) -> BeliefSearchKey:
        return self.key(turn.expect, turn.scope).model_copy(update={"of_turn": True})


class PrecisionDataset(Dataset):
    def __init__(self, fixtures: Fixtures) -> None:
        self.fixtures = fixtures
        self.digest, self.parameters = fixtures.digest, {}
        self.store = Stored(fixtures.beliefs)

    def scenarios(self) -> Iterator[Scenario]:
        texts = [_retain(number, belief) for number, belief in enumerate(self.fixtures.beliefs, 1)]
        searches = (_recall(each.case_id, each.query, each.scope, each.user, each.limit) for each in self.cases)
        yield Scenario(scenario_id=SEARCHES, steps=(*texts, *searches))
        steps: list[Step] = list(texts)
        for name, turn, store in self.turns():
            steps.append(_recall(name, turn.query, turn.scope))
            added = _changed(store, turn).beliefs[len(store.beliefs) :]
            steps += [_retain(len(store.beliefs) + place, belief) for place, belief in enumerate(added, 1)]
        yield Scenario(scenario_id=TURNS, steps=tuple(steps))

    def answer_keys(self) -> Iterator[ItemKey]:
        for case in self.cases:
            key = self.store.key(case.expect, case.scope, case.user, case.limit)
            yield ItemKey(
                item_id=case.case_id,
                scenario_id=SEARCHES,
                question_ids=(case.case_id,),
                category=_category(case, key),
                cluster=key.expected[0] if key.expected else case.case_id,
                slices={"category": case.category},
                evidence=key.expected or None,
                key=key,
            )
        for name, turn, store in self.turns():
            key = store.turn_key(turn)
            yield ItemKey(
                item_id=name,
                scenario_id=TURNS,
                question_ids=(name,),
                category=CONVERSATION,
                cluster=TURNS,
                evidence=key.expected or None,
                key=key,
            )

    def ordinals(self, scenario_id: str) -> Mapping[str, str]:
        """Map the ids of the beliefs to the ordinals of their first texts; see the base class."""
        created = [turn.created for _, turn, _ in self.turns() if turn.created and scenario_id == TURNS]
        return Stored((*self.fixtures.beliefs, *created)).ordinals if scenario_id in (SEARCHES, TURNS) else {}

    def verify(self) -> str:
        counts = Counter(key.category for key in self.answer_keys())
        return f"the three released files; {sum(counts[each] for each in MATCHES)} searches have a matching belief"

    @property
    def cases(self) -> tuple[Case, ...]:
        return tuple(case for case in self.fixtures.cases if case.is_sent)

    def turns(self) -> Iterator[tuple[str, ConversationTurn, Stored]]:
        store = self.store
        for conversation in self.fixtures.conversations:
            for turn in conversation.turns:
                yield turn_id(conversation.case_id, turn.number), turn, store
                store = _changed(store, turn)


def turn_id(case_id: str, number: int) -> str:
    return f"{case_id}:{number}"


def ordinal(number: int) -> str:
    return f"s{number:03}"


def _category(case: Case, key: BeliefSearchKey) -> str:
    if key.expected:
        return MATCHES[min(len(key.expected), len(MATCHES)) - 1]
    return ALWAYS_PASSED if key.room == 0 or case.category in _NEW_USER else NO_MATCH


def _changed(store: Stored, turn: ConversationTurn) -> Stored:
    """Return the store after a turn. An updated belief is retained again."""
    added = [] if turn.created is None else [turn.created]
    if turn.updated is not None:
        latest = next(each for each in reversed(store.beliefs) if each.belief_id == turn.updated.belief_id)
        added.append(latest.with_aliases(turn.updated.aliases))
    return Stored((*store.beliefs, *added))


def _retain(number: int, belief: Belief) -> Retain:
    return Retain(
        text_id=ordinal(number),
        content=belief.text,
        bank=belief.user_id,
        tags=belief.scope[:1],
        source_id=belief.belief_id,
    )


def _recall(name: str, query: str, scope: Sequence[str], user: str = USER, limit: int = LIMIT) -> Recall:
    return Recall(question_id=name, question=query, k=limit, bank=user, tags=tuple(scope[:1]))
