"""Generates lives: for each person, a timeline with a topic for every planned item."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta

from memeval.benchmarks.beliefs.plan import Cast, Need
from memeval.benchmarks.beliefs.streams import stream
from memeval.benchmarks.beliefs.timeline import Act, Manner, Timeline, TimelineEvent
from memeval.benchmarks.beliefs.vocabulary import GROUPS, TOPICS, Topic, TopicGroup, TopicValue
from memeval.benchmarks.beliefs.vocabulary.people import RELATIONS, Person

EPOCH = date(2024, 1, 8)
"""First possible day of main topics."""

GAP = (68, 104)
"""Minimum and maximum days between two changes of a topic. At least one full month without a change is between them."""

EARLY = 7
LATE = 4
"""Numbers of additional topics in a life: from the start, and from later on."""


@dataclass(frozen=True, slots=True)
class Life:
    """A person, their timeline, and the topic that each planned item is about."""

    person: Person
    timeline: Timeline
    focus: dict[str, str]
    """Topic of each scenario id, without delta-efficiency, which has many topics."""
    needs: tuple[Need, ...]


class _Weaver:
    """Places events on free days of one life."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.start = EPOCH + timedelta(days=rng.randint(0, 40))
        self.events: list[TimelineEvent] = []
        self.rests_on: dict[str, str] = {}
        self._taken: set[date] = set()

    def day(self, after: date, least: int, most: int) -> date:
        """Return a day ``least`` to ``most`` days after ``after``, or the next free one."""
        wanted = after + timedelta(days=self.rng.randint(least, most))
        while wanted in self._taken:
            wanted += timedelta(days=1)
        return wanted

    def within(self, start: date, end: date) -> date:
        """Return a free day from ``start`` to ``end``, or the next free one after ``end``."""
        days = [start + timedelta(days=i) for i in range((end - start).days + 1)]
        free = [day for day in days if day not in self._taken]
        return self.rng.choice(free) if free else self.day(end, 1, 1)

    def put(self, event: TimelineEvent) -> date:
        """Add an event and mark its day as taken."""
        self._taken.add(event.on)
        self.events.append(event)
        return event.on

    def manner(self) -> Manner:
        """Return a random manner."""
        return self.rng.choice((Manner.DIRECT, Manner.INDIRECT))

    def chain(self, topic: Topic, values: list[TopicValue], first: date, last: Manner) -> list[date]:
        """Announce ``values`` one by one from the day ``first`` on; the last one in the manner ``last``."""
        days: list[date] = []
        for i, value in enumerate(values):
            on = first if i == 0 else self.day(days[-1], *GAP)
            manner = last if i == len(values) - 1 else self.manner()
            days.append(self.put(TimelineEvent(on, topic.id, Act.ANNOUNCE, value, manner)))
        return days

    def announce_and_retract(self, topic: str, value: TopicValue, after: date) -> None:
        """Announce ``value`` some weeks after ``after``, and take it back within two weeks."""
        on = self.put(TimelineEvent(self.day(after, 16, 30), topic, Act.ANNOUNCE, value))
        self.put(TimelineEvent(self.day(on, 6, 14), topic, Act.RETRACT, value))

    def muse(self, topic: str, value: TopicValue, after: date) -> None:
        """Add a daydream about ``value`` some weeks after ``after``."""
        self.put(TimelineEvent(self.day(after, 14, 40), topic, Act.MUSE, value))

    def others(self, topic: str, values: list[TopicValue], start: date, end: date) -> None:
        """Add events with values of other people between ``start`` and ``end``."""
        people = self.rng.sample(RELATIONS, len(values))
        width = (end - start).days
        for i, (value, relation) in enumerate(zip(values, people, strict=True)):
            low, high = width * i // len(values), width * (i + 1) // len(values)
            on = self.within(start + timedelta(days=low), start + timedelta(days=max(low, high - 1)))
            self.put(TimelineEvent(on, topic, Act.ANNOUNCE, value, Manner.DIRECT, relation))


def _chain_topic(weaver: _Weaver, need: Need, topic: Topic) -> None:
    """Create the events for an item on several values of a topic (belief-update, temporal-belief)."""
    rng = weaver.rng
    depth, announced = int(need.traits["depth"]), need.traits["announced"]
    asked = need.traits.get("asked")
    if asked in (
        "before",
        "after",
    ):  # With two values, the question would name one, so only the other could be the answer.
        depth = max(depth, 3)
    extra = rng.choice((0, 1, 1, 2))
    values = rng.sample(topic.values, depth + 1 + extra)
    last = Manner(str(announced)) if announced in ("direct", "indirect") else weaver.manner()
    if asked == "when":
        last = Manner.DIRECT
    days = weaver.chain(topic, values[:depth], weaver.day(weaver.start, 0, 50), last)
    at = days[-1] if need.category == "belief-update" else rng.choice(days)
    if announced == "retracted":
        weaver.announce_and_retract(topic.id, values[depth], at)
    elif announced == "hypothetical":
        weaver.muse(topic.id, values[depth], at)
    weaver.others(topic.id, values[depth + 1 :], days[0], days[-1] + timedelta(days=40))


def _noise_topic(weaver: _Weaver, need: Need, topic: Topic) -> None:
    """Create the events of a topic with one value of the user and several of other people."""
    level = str(need.traits["cell"]).partition("/")[0]
    values = weaver.rng.sample(topic.values, 1 + (2 if level == "light" else 4))
    on = weaver.day(weaver.start, 110, 135)
    weaver.chain(topic, values[:1], on, Manner(str(need.traits["announced"])))
    half = len(values[1:]) // 2
    weaver.others(topic.id, values[1 : 1 + half], on - timedelta(days=14), on - timedelta(days=1))
    weaver.others(topic.id, values[1 + half :], on + timedelta(days=1), on + timedelta(days=14))


def _group(weaver: _Weaver, need: Need, group: TopicGroup) -> str:
    """Create the events of a root and its dependents to the required depth; return the asked dependent."""
    rng, traits = weaver.rng, need.traits
    depth, twin = int(traits["depth"]), traits["twin"]
    roots = rng.sample(group.root.values, 3)
    rooted = weaver.chain(group.root, roots[:1], weaver.day(weaver.start, 0, 15), weaver.manner())[0]
    base, on = group.root.id, rooted
    for topic in group.dependents[:depth]:
        values = rng.sample(topic.values, 2)
        weaver.rests_on[topic.id], base = base, topic.id
        on = weaver.put(TimelineEvent(weaver.day(on, 6, 15), topic.id, Act.ANNOUNCE, values[0]))
        dependent, value, spare = topic.id, values[0], values[1]
    if traits["decoy"] == "trap":
        weaver.put(TimelineEvent(weaver.day(on, 10, 25), dependent, Act.CONFIRM, value))
    change = weaver.day(on, 50, 90)
    if twin == "unchanged":
        if need.number % 3 == 0:
            weaver.muse(group.root.id, roots[1], change)
        elif need.number % 3 == 1:
            weaver.announce_and_retract(group.root.id, roots[1], change)
    else:
        new = TimelineEvent(change, group.root.id, Act.ANNOUNCE, roots[1], Manner(str(traits["announced"])))
        changed = weaver.put(new)
        if twin == "reconfirmed":
            weaver.put(TimelineEvent(weaver.day(changed, 12, 40), dependent, Act.CONFIRM, value))
        elif rng.random() < 0.25:
            weaver.put(TimelineEvent(weaver.day(changed, *GAP), group.root.id, Act.ANNOUNCE, roots[2], weaver.manner()))
    if rng.random() < 0.4:
        weaver.others(dependent, [spare], on, on + timedelta(days=120))
    return dependent


def _everyday(weaver: _Weaver, topics: list[Topic]) -> None:
    """Create the events of additional topics: some from the start, some from later on."""
    rng = weaver.rng
    for i, topic in enumerate(topics):
        early = i < EARLY
        depth = (2, 3, 1)[i % 3] if early else 1 + i % 2
        first = weaver.day(weaver.start, 0, 55) if early else weaver.day(weaver.start, 85, 210)
        weaver.chain(topic, rng.sample(topic.values, depth), first, weaver.manner())


def live(seed: int | str, cast: Cast) -> Life:
    """Return the life of one person, with the topics of their items and additional ones."""
    weaver = _Weaver(stream(seed, "life", cast.person.slug))
    topics = weaver.rng.sample(TOPICS, len(TOPICS))
    groups = weaver.rng.sample(GROUPS, len(GROUPS))
    focus: dict[str, str] = {}
    for need in cast.needs:
        if need.category in ("cascade-propagation", "uncertainty-abstention"):
            focus[need.scenario_id] = _group(weaver, need, groups.pop())
        elif need.category != "delta-efficiency":
            topic = topics.pop()
            focus[need.scenario_id] = topic.id
            lay = _noise_topic if need.category == "noise-resistance" else _chain_topic
            lay(weaver, need, topic)
    _everyday(weaver, topics[: EARLY + LATE])
    return Life(cast.person, Timeline(tuple(weaver.events), weaver.rests_on), focus, cast.needs)
