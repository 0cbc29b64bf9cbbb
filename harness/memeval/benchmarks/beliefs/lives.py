"""Generates lives: the planned items of each person with their traits, and a timeline with a topic for every item."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

from memeval.benchmarks.beliefs.wording.editions import Vocabulary
from memeval.benchmarks.beliefs.wording.packs import WordedTopic
from memeval.benchmarks.kit.people import RELATIONS, Person, people
from memeval.benchmarks.kit.streams import deck, stream
from memeval.benchmarks.kit.timeline import Act, DependentStatus, Manner, Timeline, TimelineEvent, TopicValue

STREAMS = "beliefs@1/beliefs@2"
"""First part of the name of every random stream. A shorter name would draw other data than the runs so far have."""

BELIEF, TEMPORAL, NOISE = "belief-update", "temporal-belief", "noise-resistance"
CASCADE, UNCERTAINTY, CONTEXT = "cascade-propagation", "uncertainty-abstention", "context-efficiency"

EACH: Mapping[str, tuple[int, int]] = {
    BELIEF: (3, 3),
    CASCADE: (2, 1),
    NOISE: (2, 2),
    TEMPORAL: (3, 3),
    CONTEXT: (1, 0),
    UNCERTAINTY: (1, 2),
}
"""Items of a category for every person with an even number, and with an odd number."""

MONTH, BEFORE, AFTER, BEGAN = "month", "before", "after", "began"

RETRACTED, HYPOTHETICAL, LONG_AGO, NONE = "retracted", "hypothetical", "former", "none"
"""What else is said about a topic, and misleads."""

_Cards = Mapping[str, Mapping[Any, float]]

_DEPENDENT: _Cards = {
    "twin": {DependentStatus.UNREVISITED: 4, DependentStatus.RECONFIRMED: 2, DependentStatus.UNCHANGED: 2},
    "depth": {1: 5, 2: 6, 3: 4},
    "manner": {Manner.DIRECT: 2, Manner.INDIRECT: 2, Manner.ELLIPTIC: 1},
    "reminder": {"no": 2, "yes": 1},
}
TRAITS: Mapping[str, _Cards] = {
    BELIEF: {
        "manner": {
            Manner.DIRECT: 4,
            Manner.INDIRECT: 5,
            Manner.CORRECTED: 2,
            Manner.ELLIPTIC: 3,
            Manner.THIRD_PERSON: 2,
        },
        "detour": {NONE: 4, RETRACTED: 4, HYPOTHETICAL: 3, LONG_AGO: 2},
        "depth": {2: 5, 3: 6, 4: 4, 5: 1},
    },
    TEMPORAL: {"asked": {MONTH: 5, BEFORE: 4, AFTER: 3, BEGAN: 3}},
    NOISE: {
        "manner": {Manner.DIRECT: 2, Manner.INDIRECT: 3, Manner.ELLIPTIC: 2, Manner.THIRD_PERSON: 2},
        "others": {2: 1, 3: 2, 4: 1},
    },
    CASCADE: _DEPENDENT,
    UNCERTAINTY: _DEPENDENT,
    CONTEXT: {"manner": {Manner.DIRECT: 2, Manner.CORRECTED: 1, Manner.THIRD_PERSON: 1}, "depth": {1: 1, 2: 1}},
}


@dataclass(frozen=True, slots=True)
class Need:
    category: str
    number: int
    traits: Mapping[str, str | int]

    @property
    def depth(self) -> int:
        return int(self.traits["depth"])

    @property
    def manner(self) -> Manner:
        return Manner(str(self.traits["manner"]))

    @property
    def item_id(self) -> str:
        return f"beliefs-2-{self.category}-{self.number:04d}"


@dataclass(frozen=True, slots=True)
class Cast:
    person: Person
    needs: tuple[Need, ...]

    def of(self, *categories: str) -> list[Need]:
        return [need for need in self.needs if need.category in categories]


def counts(size: int) -> dict[str, int]:
    return {name: even * ((size + 1) // 2) + odd * (size // 2) for name, (even, odd) in EACH.items()}


def plan(seed: int, size: int) -> tuple[Cast, ...]:
    needs: list[list[Need]] = [[] for _ in range(size)]
    for category, count in counts(size).items():
        rng = stream(STREAMS, seed, "plan", category)
        drawn = {trait: deck(rng, count, cards) for trait, cards in TRAITS[category].items()}
        number = 0
        for i, mine in enumerate(needs):
            for _ in range(EACH[category][i % 2]):
                traits = {trait: cards[number] for trait, cards in drawn.items()}
                number += 1
                mine.append(Need(category, number, traits))
    cast = people(size, STREAMS, seed)
    return tuple(Cast(person, tuple(mine)) for person, mine in zip(cast, needs, strict=True))


EPOCH = date(2024, 1, 8)
"""First possible day of a life."""

GAP = (66, 100)
"""Fewest and most days between two changes of a topic. At least one full month without a change is between them."""

LENGTH = 420
"""Days of a life. What is asked about begins anywhere in it, so that what was said last is not mostly what is asked."""

SPAN = 170

SETTLED = 14
"""First day of the month on which something starts that is asked for by its month: "since last week" is that month."""

OTHERS = tuple(each for each in RELATIONS if each.kin != "flatmate")
"""Whose facts are told. What a flatmate has at home is at the user's home too."""

BACKGROUND = 3

UNDATED = frozenset({Manner.INDIRECT, Manner.THIRD_PERSON})
"""Manners that leave open since when a value holds."""

_PLAIN = (Manner.DIRECT, Manner.DIRECT, Manner.INDIRECT, Manner.ELLIPTIC, Manner.CORRECTED, Manner.THIRD_PERSON)


@dataclass(frozen=True, slots=True)
class Life:
    person: Person
    timeline: Timeline
    focus: dict[str, WordedTopic]
    needs: tuple[Need, ...]


class _Values:
    def __init__(self, topic: WordedTopic, rng: random.Random) -> None:
        self._left = rng.sample(topic.values, len(topic.values))

    def take(self, number: int) -> list[TopicValue]:
        """Return up to ``number`` values, of which at least one stays unused for slips of the tongue."""
        taken = self._left[: max(0, min(number, len(self._left) - 1))]
        del self._left[: len(taken)]
        return taken


class _Weaver:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.start = EPOCH + timedelta(days=rng.randint(0, 60))
        self.events: list[TimelineEvent] = []
        self.rests_on: dict[str, str] = {}
        self._taken: set[date] = set()

    def day(self, after: date, least: int, most: int) -> date:
        """Return a day ``least`` to ``most`` days after ``after``, or the next free one."""
        wanted = after + timedelta(days=self.rng.randint(least, most))
        while wanted in self._taken:
            wanted += timedelta(days=1)
        return wanted

    def begin(self, span: int) -> date:
        """Return a random day on which something of about ``span`` days can begin."""
        return self.day(self.start, 0, max(30, LENGTH - span))

    def put(self, event: TimelineEvent) -> date:
        self._taken.add(event.on)
        self.events.append(event)
        return event.on

    def manner(self) -> Manner:
        return self.rng.choice(_PLAIN)

    def chain(
        self,
        topic: WordedTopic,
        values: Sequence[TopicValue],
        first: date,
        manners: Sequence[Manner],
        *,
        settled: bool = False,
    ) -> None:
        """Announce values one by one.

        ``settled``: whether changes come on or after the day :data:`SETTLED` of a month.
        """
        on = first
        for i, (value, manner) in enumerate(zip(values, manners, strict=True)):
            on = on if i == 0 else self.day(on, *GAP)
            if settled and on.day < SETTLED:
                on = self.day(on.replace(day=SETTLED), 0, 6)
            self.put(TimelineEvent(on, topic.id, Act.ANNOUNCE, value, manner))

    def announce_and_retract(self, topic: str, value: TopicValue, after: date) -> None:
        on = self.put(TimelineEvent(self.day(after, 16, 30), topic, Act.ANNOUNCE, value))
        self.put(TimelineEvent(self.day(on, 6, 14), topic, Act.RETRACT, value))

    def others(self, topic: str, values: Sequence[TopicValue], start: date, end: date) -> None:
        busy = {event.about for event in self.events if event.topic == topic}
        people = self.rng.sample([each for each in OTHERS if each not in busy], len(values))
        width = max(1, (end - start).days // max(1, len(values)))
        for i, (value, relation) in enumerate(zip(values, people, strict=True)):
            on = self.day(start, i * width, (i + 1) * width - 1)
            manner = self.rng.choice((Manner.DIRECT, Manner.DIRECT, Manner.INDIRECT))
            self.put(TimelineEvent(on, topic, Act.ANNOUNCE, value, manner, relation))

    def days_of(self, topic: str) -> list[date]:
        return [e.on for e in self.events if e.topic == topic and e.act is Act.ANNOUNCE and e.about is None]


def live(seed: int, cast: Cast, vocabulary: Vocabulary) -> Life:
    weaver = _Weaver(stream(STREAMS, seed, "life", cast.person.slug))
    topics = weaver.rng.sample(vocabulary.topics, len(vocabulary.topics))
    chains = weaver.rng.sample(vocabulary.chains, len(vocabulary.chains))
    focus: dict[str, WordedTopic] = {}
    for belief, temporal in zip(cast.of(BELIEF), cast.of(TEMPORAL), strict=True):
        focus[belief.item_id] = focus[temporal.item_id] = topic = topics.pop()
        _changing(weaver, topic, belief, str(temporal.traits["asked"]))
    for need in cast.of(NOISE):
        focus[need.item_id] = topic = topics.pop()
        _noisy(weaver, topic, need)
    for need in cast.of(CASCADE, UNCERTAINTY):
        focus[need.item_id] = _dependent(weaver, chains.pop(), need)
    for need in cast.of(CONTEXT):
        focus[need.item_id] = topic = topics.pop()
        _lean(weaver, topic, need)
    for topic in topics[:BACKGROUND]:
        values = _Values(topic, weaver.rng).take(weaver.rng.randint(1, 2))
        first = weaver.begin(100)
        weaver.chain(topic, values, first, [weaver.manner() for _ in values])
    return Life(cast.person, Timeline(tuple(weaver.events), weaver.rests_on), focus, cast.needs)


def _changing(weaver: _Weaver, topic: WordedTopic, need: Need, asked: str) -> None:
    """Create the events of a topic with several values, for a question about the last one and one about time."""
    rng, values = weaver.rng, _Values(topic, weaver.rng)
    # With two values, a question before or after one would name one, so only the other could be the answer.
    depth = max(need.depth, 3 if asked in (BEFORE, AFTER) else 2)
    own = values.take(depth)
    manners = [weaver.manner() for _ in own[1:]] + [need.manner]
    if asked == BEGAN and UNDATED.issuperset(manners[1:]):
        manners[1] = Manner.DIRECT
    weaver.chain(topic, own, weaver.begin(sum(GAP) // 2 * (depth - 1) + 60), manners, settled=asked == BEGAN)
    days = weaver.days_of(topic.id)
    detour = need.traits["detour"]
    if detour == RETRACTED and (spare := values.take(1)):
        weaver.announce_and_retract(topic.id, spare[0], days[-1])
    if (detour == HYPOTHETICAL or rng.random() < 0.2) and (spare := values.take(1)):
        weaver.put(TimelineEvent(weaver.day(rng.choice(days), 14, 40), topic.id, Act.MUSE, spare[0]))
    if detour == LONG_AGO and (spare := values.take(1)):
        weaver.put(TimelineEvent(weaver.day(rng.choice(days), 14, 40), topic.id, Act.FORMER, spare[0]))
    if rng.random() < 0.25:
        on = weaver.day(max(event.on for event in weaver.events if event.topic == topic.id), 10, 30)
        weaver.put(TimelineEvent(on, topic.id, Act.CONFIRM, own[-1]))
    weaver.others(topic.id, values.take(rng.choice((1, 1, 2))), days[0], days[-1] + timedelta(days=40))


def _noisy(weaver: _Weaver, topic: WordedTopic, need: Need) -> None:
    values, rng = _Values(topic, weaver.rng), weaver.rng
    own, others = values.take(1), values.take(int(need.traits["others"]))
    # The user's own turn comes at any place among those about others, so that neither order nor day gives it away.
    before, width = rng.randint(0, len(others)), SPAN // (len(others) + 1)
    first = weaver.begin(SPAN)
    on = weaver.day(first, before * width, (before + 1) * width - 1)
    weaver.chain(topic, own, on, [need.manner])
    weaver.others(topic.id, others[:before], first, first + timedelta(days=before * width))
    weaver.others(topic.id, others[before:], first + timedelta(days=(before + 1) * width), first + timedelta(days=SPAN))
    if rng.random() < 0.3 and (spare := values.take(1)):
        act = rng.choice((Act.MUSE, Act.FORMER))
        weaver.put(TimelineEvent(weaver.day(on - timedelta(days=40), 0, 80), topic.id, act, spare[0]))


def _lean(weaver: _Weaver, topic: WordedTopic, need: Need) -> None:
    values = _Values(topic, weaver.rng)
    own = values.take(need.depth)
    manners = [*(weaver.manner() for _ in own[1:]), need.manner]
    weaver.chain(topic, own, weaver.begin(sum(GAP) // 2 * need.depth), manners)
    on = weaver.days_of(topic.id)[-1]
    match weaver.rng.randrange(3):
        case 0:
            weaver.announce_and_retract(topic.id, values.take(1)[0], on)
        case 1:
            weaver.put(TimelineEvent(weaver.day(on - timedelta(days=40), 0, 80), topic.id, Act.MUSE, values.take(1)[0]))
        case _:
            weaver.others(topic.id, values.take(1), on - timedelta(days=40), on + timedelta(days=40))


def _dependent(weaver: _Weaver, chain: Sequence[WordedTopic], need: Need) -> WordedTopic:
    """Create the events of a root and its dependents to the required depth; return the last dependent."""
    rng, traits = weaver.rng, need.traits
    root, topic = chain[0], chain[need.depth]
    roots = _Values(root, rng)
    first, second = roots.take(2)
    on = weaver.begin(180)
    weaver.chain(root, [first], on, [rng.choice((Manner.DIRECT, Manner.INDIRECT))])
    values = _Values(topic, rng)
    for base, each in pairwise(chain[: need.depth + 1]):
        value = (values if each is topic else _Values(each, rng)).take(1)[0]
        weaver.rests_on[each.id] = base.id
        on = weaver.put(TimelineEvent(weaver.day(on, 6, 20), each.id, Act.ANNOUNCE, value))
    if traits["reminder"] == "yes":
        on = weaver.put(TimelineEvent(weaver.day(on, 10, 25), topic.id, Act.CONFIRM, value))
    change = weaver.day(on, 50, 90)
    twin = DependentStatus(str(traits["twin"]))
    if twin is DependentStatus.UNCHANGED:
        if need.number % 3 == 0:
            weaver.put(TimelineEvent(change, root.id, Act.MUSE, second))
        elif need.number % 3 == 1:
            weaver.announce_and_retract(root.id, second, change)
    else:
        changed = weaver.put(TimelineEvent(change, root.id, Act.ANNOUNCE, second, need.manner))
        if twin is DependentStatus.RECONFIRMED:
            weaver.put(TimelineEvent(weaver.day(changed, 12, 40), topic.id, Act.CONFIRM, value))
    if rng.random() < 0.4:
        weaver.others(topic.id, values.take(1), on, on + timedelta(days=120))
    return topic
