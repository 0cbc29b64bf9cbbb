"""The protocol ``shared``: the histories of all people in one memory, with the questions between the sessions.

The sessions are those of the separate scenarios, word for word, in order of days. If several items of a person state
the same event, it appears once. Questions keep ids and words, so the answers of both protocols form pairs: the same
question after the same sessions, here among the sessions of other people.

Delta efficiency is left out. Its rule compares the contexts of twenty questions in one conversation, but other people's
questions and sessions would come between them. Also, other items of the same person would add facts.
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
from memeval.benchmarks.beliefs.timeline import TimelineEvent
from memeval.keys import BeliefKey, CascadeKey, Fact, ItemKey, NoiseKey, TemporalKey, UncertaintyKey
from memeval.records.scenario import Ask, Ingest, Scenario, Step, Turn

SCENARIO = "beliefs-1-shared"
"""Id of the only scenario; systems never see it."""

LEFT_OUT = "delta-efficiency"


Named = tuple[int, int]
"""A session: index of its item, and position in the history of the item, from 1."""

Kept = Mapping[Named, Named]
"""For each session, the kept session that states the same event."""


@dataclass(frozen=True, slots=True)
class _Put:
    """A session or a question on its day."""

    on: date
    asks: bool
    """Questions of a day come after its sessions."""
    item: int
    """Index of its item."""
    place: int
    """Position of the session in its item, from 1; 0 for the question."""
    step: Ingest | Ask


@lru_cache(maxsize=2)
def shared(seed: int, size: int) -> tuple[tuple[Scenario, ...], tuple[ItemKey, ...]]:
    """Return the only scenario, and the keys of its items by category and number.

    Args:
        seed: seed of the generator.
        size: number of items, with those of delta efficiency.

    Raises:
        BrokenRule: another item would make a key wrong.
    """
    items = tuple(item for item in generate(seed, size) if item.key.category != LEFT_OUT)
    check_company(items)
    kept = _without_duplicates(items)
    puts = [put for number, item in enumerate(items) for put in _laid_out(number, item, kept)]
    puts.sort(key=lambda put: (put.on, put.asks, put.item, put.place))
    people = [_speaker(item) for item in items]
    names = FullNames(people)
    steps: list[Step] = []
    ordinals: dict[Named, str] = {}
    for put in puts:
        if isinstance(put.step, Ingest):
            ordinal = ordinals[put.item, put.place] = f"s{len(ordinals) + 1:03d}"
            steps.append(numbered(put.step, ordinal))
        else:
            steps.append(put.step.model_copy(update={"question": names.within(put.step.question, people[put.item])}))
    keys = tuple(_key(number, item, kept, ordinals) for number, item in enumerate(items))
    scenario = Scenario(scenario_id=SCENARIO, steps=tuple(steps))
    return (scenario,), keys


def check_company(items: Sequence[Made]) -> None:
    """Check that no item says something about the question of another.

    Args:
        items: the items that share a memory.

    Raises:
        BrokenRule: two people share a full name; or another session of the same person states an event that the item
            does not have, or contains words of its key.
    """
    people: dict[str, list[Made]] = defaultdict(list)
    for item in items:
        people[item.key.cluster].append(item)
    named = Counter(_speaker(mine[0]) for mine in people.values())
    if twice := [name for name, times in named.items() if times > 1]:
        raise BrokenRule(f"{twice[0]}: two people of one memory share a name.")
    for mine in people.values():
        for item in mine:
            own = {draft.event for draft in item.drafts}
            elsewhere = [
                (draft.event, session)
                for other in mine
                if other is not item
                for draft, session in zip(other.drafts, other.scenario.each_session(), strict=True)
                if draft.event is None or draft.event not in own
            ]
            asked = {draft.event.topic for place, draft in _places(item) if draft.event and _is_evidence(item, place)}
            if any(event is not None and event.topic in asked for event, _ in elsewhere):
                raise BrokenRule(f"{item.key.item_id}: another item says more about its topic.")
            said = "\n".join(turn.content for _, session in elsewhere for turn in session.turns)
            if found := _words_of(item.key).search(said):
                raise BrokenRule(f"{item.key.item_id}: {found.group()!r} is said in another item.")


def _places(item: Made) -> Iterator[tuple[int, DraftSession]]:
    """Yield the drafts of the sessions of an item, each with its position, from 1."""
    return enumerate(item.drafts, start=1)


def _is_evidence(item: Made, place: int) -> bool:
    return f"s{place:03d}" in (item.key.evidence or ())


def _words_of(key: ItemKey) -> re.Pattern[str]:
    """Return a pattern for all phrases of correct and wrong answers, without dates, which all people share."""
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


def _without_duplicates(items: Sequence[Made]) -> Kept:
    """Return, for each session, the kept session that states the same event.

    If the event is evidence of an item, the session of that item is kept, else the first one.
    """
    sessions_of: dict[tuple[str, TimelineEvent], list[tuple[bool, int, int]]] = defaultdict(list)
    stays: dict[Named, Named] = {}
    for number, item in enumerate(items):
        for place, draft in _places(item):
            if draft.event is None:
                stays[number, place] = number, place
            else:
                sessions_of[item.key.cluster, draft.event].append((not _is_evidence(item, place), number, place))
    for found in sessions_of.values():
        _, *chosen = min(found)
        for _, number, place in found:
            stays[number, place] = chosen[0], chosen[1]
    return stays


def _laid_out(number: int, item: Made, kept: Kept) -> list[_Put]:
    """Return the kept sessions of an item and its question, with their days.

    The question is on its own day; if it asks about an earlier time, on the day after the last session.
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


def _key(number: int, item: Made, kept: Kept, ordinals: Mapping[Named, str]) -> ItemKey:
    """Return the key of an item in the shared scenario."""
    evidence = tuple(ordinals[kept[number, int(name[1:])]] for name in item.key.evidence or ())
    return item.key.model_copy(update={"scenario_id": SCENARIO, "evidence": evidence})


def _speaker(item: Made) -> str:
    """Return the full name of the person an item is about."""
    turns = (turn for session in item.scenario.each_session() for turn in session.turns)
    return next(turn.speaker or "" for turn in turns if turn.role == "user")


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
