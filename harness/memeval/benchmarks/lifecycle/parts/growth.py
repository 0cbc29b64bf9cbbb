"""Hold under growth: the same probes in a small memory, and with ten and a hundred times as much unrelated talk."""

from __future__ import annotations

import random
from collections.abc import Iterator

from memeval.benchmarks.kit.streams import stream
from memeval.benchmarks.lifecycle.keys import ProbeStatement
from memeval.benchmarks.lifecycle.script import Script, first, statement, topics_of, users
from memeval.benchmarks.lifecycle.words import FILLER, PEOPLE, TOPICS, Topic

UNIT = 8
"""Number of unrelated texts at the size 1."""

SIZES = (1, 10, 100)
"""Multiples of :data:`UNIT`."""

NAMING = 8
"""Of so many unrelated texts, one names a fact of another person."""


def growth(script: Script, size: int, cluster: str) -> None:
    """Write two facts, hidden in unrelated talk, and ask for both.

    Args:
        script: the scenario; its random stream is the same at each size.
        size: one of :data:`SIZES`.
        cluster: the cluster of the probes, the same at each size.
    """
    rng, script.gap = script.rng, 1
    (user,) = users(rng, 1)
    topics = topics_of(rng, TOPICS, 2)
    values = [rng.choice(topic.values) for topic in topics]
    patterns = [rng.choice(topic.told) for topic in topics]
    talk = _talk(stream(cluster, "talk"), topics, values)
    count = UNIT * size
    places = {count // 3: 0, 2 * count // 3: 1}
    held: dict[int, ProbeStatement] = {}
    others: dict[int, list[ProbeStatement]] = {}
    for place in range(count):
        if place in places:
            number = places[place]
            value = values[number]
            held[number] = statement(value, script.say(user, patterns[number].format(value=value)))
        text, about, named = next(talk)
        turn = script.say(user, text, replies="asked")
        if about in topics:
            others.setdefault(topics.index(about), []).append(statement(named, turn))
    for number, (topic, form) in enumerate(zip(topics, ("ask", "paraphrase"), strict=True)):
        question = script.ask(user, str(getattr(topic, form)).format(name=user.name))
        stage = first(held[number], *others.get(number, ()))
        reference = f"{values[number]}, as the user said."
        script.item(form, [(question, stage)], reference, cluster=cluster, size=f"{size}x")


def _named(rng: random.Random, topics: list[Topic], values: list[str]) -> Iterator[tuple[str, Topic, str]]:
    """Yield facts of other people, each of a different person or topic: first of the asked topics, the last one first.

    Args:
        rng: a random stream.
        topics: the asked topics.
        values: the user's values of them, which nobody else has.
    """
    pairs = [(relation, topic) for topic in TOPICS for relation in PEOPLE.relations]
    rng.shuffle(pairs)
    opening = [next(pair for pair in pairs if pair[1] is topic) for topic in reversed(topics)]
    free = {topic.id: [value for value in topic.values if value not in values] for topic in TOPICS}
    for relation, topic in (*opening, *(pair for pair in pairs if pair not in opening)):
        value = free[topic.id].pop(rng.randrange(len(free[topic.id])))
        yield topic.other.format(relation=relation, value=value), topic, value


def _talk(rng: random.Random, topics: list[Topic], values: list[str]) -> Iterator[tuple[str, Topic | None, str]]:
    """Yield unrelated texts, each with the topic and the value that it names of another person, if any."""
    named = _named(rng, topics, values)
    place = 0
    while True:
        place += 1
        if place % NAMING == 0:
            yield next(named)
            continue
        yield (
            rng.choice(FILLER.patterns).format(
                day=rng.choice(FILLER.days),
                thing=rng.choice(FILLER.things),
                place=rng.choice(FILLER.places),
                state=rng.choice(FILLER.states),
                other=rng.choice(PEOPLE.others),
            ),
            None,
            "",
        )
