"""Two more protocols over the same lives.

``shared``: the histories of all people in one memory, with the questions between the sessions. Sessions and questions
are those of the separate histories, word for word, in order of days. Each question is asked on its day, after the
sessions of that day. Keys name the same turns. ``stored``: the history of a person, then an export of all memories.
"""

from collections import Counter
from collections.abc import Sequence, Set
from datetime import date
from functools import lru_cache

from memeval.benchmarks.beliefs.generate import MadeLife, generate
from memeval.benchmarks.beliefs.items import held, holds, never_held
from memeval.benchmarks.beliefs.keys import EvidenceKey
from memeval.benchmarks.beliefs.lives import Life
from memeval.benchmarks.beliefs.wording.editions import Vocabulary
from memeval.benchmarks.beliefs.wording.packs import WordedTopic
from memeval.benchmarks.kit.checks import BrokenRule, text_of
from memeval.benchmarks.kit.talk import FullNames, numbered
from memeval.benchmarks.kit.timeline import Act, DependentStatus
from memeval.grading.stored import Mentions
from memeval.keys import ItemKey, StoredTopic, StoreKey
from memeval.records.scenario import Ask, Export, Ingest, Scenario, Step

SCENARIO = "beliefs-2-shared"


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
    evidence = tuple(ordinals[session] for session in key.evidence or ())
    moved = key.key_as(EvidenceKey, "the protocol shared").moved(ordinals)
    return key.model_copy(update={"scenario_id": SCENARIO, "evidence": evidence, "key": moved})


Phrases = tuple[str, ...]

CATEGORY = "stored-facts"

QUESTION = "What do you keep?"


@lru_cache(maxsize=2)
def stored(seed: int, size: int, vocabulary: Vocabulary) -> tuple[tuple[Scenario, ...], tuple[ItemKey, ...]]:
    """Return a scenario and a key for each person. The sessions are those of the other protocols.

    Raises ``BrokenRule``: a key contradicts its history.
    """
    values = Mentions(
        (phrase, value.phrases)
        for topic in vocabulary.by_id.values()
        for value in topic.values
        for phrase in value.phrases
    )
    made = [_item(each, number, vocabulary, values) for number, each in enumerate(generate(seed, size, vocabulary), 1)]
    return tuple(scenario for scenario, _ in made), tuple(key for _, key in made)


def _item(made: MadeLife, number: int, words: Vocabulary, values: Mentions[Phrases]) -> tuple[Scenario, ItemKey]:
    item_id = f"beliefs-2-{CATEGORY}-{number:04d}"
    sessions = tuple(step for step in made.scenario.steps if isinstance(step, Ingest))
    on = made.scenario.questions()[0].timestamp or ""
    export = Export(question_id=item_id, question=QUESTION, timestamp=on)
    scenario = Scenario(scenario_id=made.scenario.scenario_id, steps=(*sessions, export))
    said = values.within(text_of(scenario))
    key = store_key(made.life, date.fromisoformat(on), said, words)
    for fact in (*key.current, *key.stale):
        if fact.phrases not in said:
            raise BrokenRule(f"{item_id}: {fact.phrases[0]!r} is nowhere said.")
    return scenario, ItemKey(
        item_id=item_id,
        scenario_id=scenario.scenario_id,
        question_ids=(item_id,),
        category=CATEGORY,
        cluster=scenario.scenario_id,
        key=key,
    )


def store_key(life: Life, now: date, said: Set[Phrases], words: Vocabulary) -> StoreKey:
    """Return the facts that a memory of a life should contain.

    Daydreams, memories of long before and facts of other people are neither required nor wrong. A fact is open if its
    basis changed and nobody mentioned the fact again. ``said``: the values that occur in the sessions, for any person,
    each as its phrases.
    """
    topics = sorted({e.topic for e in life.timeline.events if e.about is None and e.act is Act.ANNOUNCE})
    return StoreKey(subjects=tuple(_subject(life, words.by_id[topic], now, said) for topic in topics))


def _subject(life: Life, topic: WordedTopic, now: date, said: Set[Phrases]) -> StoredTopic:
    person, timeline = life.person, life.timeline
    *past, last = timeline.states(topic.id, now)
    is_open = timeline.standing(topic.id, now) is DependentStatus.UNREVISITED
    taken_back = (never_held(person, topic, event) for event in timeline.taken_back(topic.id, now))
    return StoredTopic(
        topic=topic.id,
        current=None if is_open else holds(person, topic, last.value),
        stale=(*taken_back, *(held(person, topic, state.value) for state in past)),
        never=tuple(holds(person, topic, value) for value in topic.values if value.phrases not in said),
    )
