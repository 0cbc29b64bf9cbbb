"""The protocol ``shared``: the histories of all people in one memory, with the questions between the sessions.

Sessions and questions are those of the separate histories, word for word, in order of days. Each question is asked on
its day, after the sessions of that day. Keys name the same turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from memeval.benchmarks.beliefs.generate import MadeLife, generate
from memeval.benchmarks.beliefs.keys import EvidenceKey
from memeval.benchmarks.beliefs.wording.editions import Vocabulary
from memeval.benchmarks.kit.checks import BrokenRule
from memeval.benchmarks.kit.talk import FullNames, numbered
from memeval.keys import ItemKey
from memeval.records.scenario import Ask, Ingest, Scenario, Step

SCENARIO = "beliefs-2-shared"
"""Id of the only scenario; systems never see it."""


@lru_cache(maxsize=2)
def shared(seed: int, size: int, vocabulary: Vocabulary) -> tuple[tuple[Scenario, ...], tuple[ItemKey, ...]]:
    """Return the only scenario, and the keys of all items, person by person.

    Raises ``BrokenRule``: two people have one name.
    """
    return joined(generate(seed, size, vocabulary))


def joined(lives: Sequence[MadeLife]) -> tuple[tuple[Scenario, ...], tuple[ItemKey, ...]]:
    """Return the scenario and the keys of people who share a memory.

    Raises ``BrokenRule``: two people have one name.
    """
    people = [each.life.person.name for each in lives]
    if twice := [name for name, times in Counter(people).items() if times > 1]:
        raise BrokenRule(f"{twice[0]}: two people of one memory share a name.")
    names = FullNames(people)
    placed = [
        (_day(step), isinstance(step, Ask), who, place)
        for who, each in enumerate(lives)
        for place, step in enumerate(each.scenario.steps)
    ]
    steps: list[Step] = []
    told = 0
    ordinals: list[dict[str, str]] = [{} for _ in lives]
    for _, _, who, place in sorted(placed):
        step = lives[who].scenario.steps[place]
        if isinstance(step, Ingest):
            told += 1
            ordinal = ordinals[who][step.session.session_id] = f"s{told:05d}"
            steps.append(numbered(step, ordinal))
        elif isinstance(step, Ask):
            steps.append(step.model_copy(update={"question": names.within(step.question, people[who])}))
    keys = tuple(_moved(key, ordinals[who]) for who, each in enumerate(lives) for key in each.keys(searched=True))
    return (Scenario(scenario_id=SCENARIO, steps=tuple(steps)),), keys


def _day(step: Step) -> str:
    if isinstance(step, Ingest):
        return step.session.date
    return (step.timestamp or "") if isinstance(step, Ask) else ""


def _moved(key: ItemKey, ordinals: dict[str, str]) -> ItemKey:
    if not isinstance(key.key, EvidenceKey):
        raise TypeError(f"{key.item_id}: a key of kind {key.key.kind!r} names no turns.")
    evidence = tuple(ordinals[session] for session in key.evidence or ())
    return key.model_copy(update={"scenario_id": SCENARIO, "evidence": evidence, "key": key.key.moved(ordinals)})
