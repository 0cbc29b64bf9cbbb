"""The protocol ``shared``: everyone's history in one live memory, with the questions between the sessions.

The sessions are those of the separate scenarios, word for word, in order of days; what several items of one person tell
of the same day's event is told once. Every question keeps its id and its words, so that an item's answers here and in
the default protocol are a pair: the same question after the same sessions, with everyone else's around them.

Delta efficiency has no part in it. Its rule compares the contexts of twenty questions in one conversation, and other
people's questions and sessions would come between them; its facts are those that its own scenario has told by then, and
other items of the same person tell more.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from memeval.benchmarks.beliefs.checks import BrokenRule
from memeval.benchmarks.beliefs.generate import generate
from memeval.benchmarks.beliefs.history import DraftSession, Made
from memeval.benchmarks.beliefs.plan import WEIGHTS
from memeval.benchmarks.beliefs.timeline import TimelineEvent
from memeval.keys import BeliefKey, CascadeKey, Fact, ItemKey, NoiseKey, TemporalKey, UncertaintyKey
from memeval.records.scenario import Ask, Ingest, Scenario, Step, Turn

SCENARIO = "beliefs-1-shared"
"""The id of the one scenario; stays in memeval."""

LEFT_OUT = "delta-efficiency"

ASKED = 1.0 - WEIGHTS[LEFT_OUT][1]
"""The weight of the categories that are asked, of which each keeps its share."""


Named = tuple[int, int]
"""A session: the number of its item, and its place in the item's own history, from 1."""

Kept = Mapping[Named, Named]
"""For each session, the one in which what it tells is told."""


@dataclass(frozen=True, slots=True)
class _Put:
    """A session or a question on its day."""

    on: date
    asks: bool
    """Questions of a day come after its sessions."""
    item: int
    """Which item it is of."""
    place: int
    """Which session of its item; 0 for the question."""
    step: Ingest | Ask


@lru_cache(maxsize=2)
def shared(seed: int, size: int) -> tuple[tuple[Scenario, ...], tuple[ItemKey, ...]]:
    """Return the one scenario of a generation, and the keys of its items by category and number.

    Args:
        seed: of the generation.
        size: items of the generation, those of delta efficiency among them.

    Raises:
        BrokenRule: a key would not be right in company.
    """
    items = tuple(item for item in generate(seed, size) if item.key.category != LEFT_OUT)
    check_company(items)
    kept = _each_told_once(items)
    puts = [put for number, item in enumerate(items) for put in _laid_out(number, item, kept)]
    puts.sort(key=lambda put: (put.on, put.asks, put.item, put.place))
    names = _Names(items)
    steps: list[Step] = []
    ordinals: dict[Named, str] = {}
    for put in puts:
        if isinstance(put.step, Ingest):
            ordinal = ordinals[put.item, put.place] = f"s{len(ordinals) + 1:03d}"
            steps.append(_numbered(put.step, ordinal))
        else:
            steps.append(put.step.model_copy(update={"question": names.spelt_out(put.item, put.step.question)}))
    keys = tuple(_key(number, item, kept, ordinals) for number, item in enumerate(items))
    scenario = Scenario(scenario_id=SCENARIO, steps=tuple(steps))
    return (scenario,), keys


def check_company(items: Sequence[Made]) -> None:
    """Refuse items of which one says something about what another asks.

    Args:
        items: the items that share a memory.

    Raises:
        BrokenRule: two people share a full name; or a session of the same person, outside an item's own scenario,
            tells what its item does not know, or uses the words of its key.
    """
    people: dict[str, list[Made]] = defaultdict(list)
    for item in items:
        people[item.key.cluster].append(item)
    named = Counter(_speaker(mine[0]) for mine in people.values())
    if twice := [name for name, times in named.items() if times > 1]:
        raise BrokenRule(f"{twice[0]}: two people of one memory share a name.")
    for mine in people.values():
        for item in mine:
            own = {told.event for told in item.told}
            elsewhere = [
                (told.event, session)
                for other in mine
                if other is not item
                for told, session in zip(other.told, other.scenario.each_session(), strict=True)
                if told.event is None or told.event not in own
            ]
            asked = {told.event.topic for place, told in _places(item) if told.event and _is_evidence(item, place)}
            if any(event is not None and event.topic in asked for event, _ in elsewhere):
                raise BrokenRule(f"{item.key.item_id}: another item tells more of what it asks about.")
            said = "\n".join(turn.content for _, session in elsewhere for turn in session.turns)
            if found := _words_of(item.key).search(said):
                raise BrokenRule(f"{item.key.item_id}: {found.group()!r} is said in another item.")


def _places(item: Made) -> Iterator[tuple[int, DraftSession]]:
    """Yield what an item's sessions tell, each with its place in the item's own history."""
    return enumerate(item.told, start=1)


def _is_evidence(item: Made, place: int) -> bool:
    return f"s{place:03d}" in (item.key.evidence or ())


def _words_of(key: ItemKey) -> re.Pattern[str]:
    """Return what finds any phrase that a right or a wrong answer would hold; dates are everyone's."""
    facts: tuple[Fact, ...] = ()
    match key.key:
        case BeliefKey(current=current, stale=stale):
            facts = (current, *stale)
        case NoiseKey(reference=reference, distractors=distractors):
            facts = (reference, *distractors)
        case TemporalKey(reference=reference, others=others) if key.slices["asked"] != "when":
            facts = (reference, *others)
        case CascadeKey(dependent=dependent) | UncertaintyKey(dependent=dependent):
            facts = (dependent,)
    phrases = "|".join(re.escape(phrase) for fact in facts for phrase in fact.phrases)
    return re.compile(rf"(?<!\w)(?:{phrases})(?!\w)" if phrases else r"(?!)", re.IGNORECASE)


def _each_told_once(items: Sequence[Made]) -> Kept:
    """Return, for each session, the one that stays: itself, or that in which the same event is told.

    Where an event is evidence of an item, that
    item's telling of it stays; else the first one does.
    """
    tellings: dict[tuple[str, TimelineEvent], list[tuple[bool, int, int]]] = defaultdict(list)
    stays: dict[Named, Named] = {}
    for number, item in enumerate(items):
        for place, told in _places(item):
            if told.event is None:
                stays[number, place] = number, place
            else:
                tellings[item.key.cluster, told.event].append((not _is_evidence(item, place), number, place))
    for found in tellings.values():
        _, *chosen = min(found)
        for _, number, place in found:
            stays[number, place] = chosen[0], chosen[1]
    return stays


def _laid_out(number: int, item: Made, kept: Kept) -> list[_Put]:
    """Return the sessions of an item that stay, and its question: on the day it is asked, after all of them.

    A question that is asked as of an earlier time is put the day after the last session.
    """
    sessions = [step for step in item.scenario.steps if isinstance(step, Ingest)]
    (question,) = (step for step in item.scenario.steps if isinstance(step, Ask))
    puts = [
        _Put(date.fromisoformat(step.session.date), False, number, place, step)
        for place, step in enumerate(sessions, start=1)
        if kept[number, place] == (number, place)
    ]
    last = date.fromisoformat(sessions[-1].session.date)
    asked = max(last + timedelta(days=1), date.fromisoformat(question.timestamp or sessions[-1].session.date))
    return [*puts, _Put(asked, True, number, 0, question)]


def _numbered(step: Ingest, ordinal: str) -> Ingest:
    """Return a session under its ordinal in the shared history."""
    turns = tuple(
        Turn(turn_id=f"{ordinal}:t{i:02d}", role=turn.role, content=turn.content, speaker=turn.speaker)
        for i, turn in enumerate(step.session.turns, start=1)
    )
    session = step.session.model_copy(update={"session_id": ordinal, "turns": turns})
    return Ingest(session=session, source_id=step.source_id)


def _key(number: int, item: Made, kept: Kept, ordinals: Mapping[Named, str]) -> ItemKey:
    """Return an item's key in the shared scenario."""
    evidence = tuple(ordinals[kept[number, int(name[1:])]] for name in item.key.evidence or ())
    return item.key.model_copy(update={"scenario_id": SCENARIO, "evidence": evidence})


def _speaker(item: Made) -> str:
    """Return the full name of the person an item is about."""
    turns = (turn for session in item.scenario.each_session() for turn in session.turns)
    return next(turn.speaker or "" for turn in turns if turn.role == "user")


class _Names:
    """Whose first name is enough to know them by."""

    def __init__(self, items: Sequence[Made]) -> None:
        self._of = [_speaker(item) for item in items]
        self._firsts = Counter(name.partition(" ")[0] for name in set(self._of))

    def spelt_out(self, item: int, question: str) -> str:
        """Return a question with the person's full name where somebody else has the same first name."""
        name = self._of[item]
        first = name.partition(" ")[0]
        if self._firsts[first] == 1 or name in question:
            return question
        return re.sub(rf"\b{re.escape(first)}\b", name, question)
