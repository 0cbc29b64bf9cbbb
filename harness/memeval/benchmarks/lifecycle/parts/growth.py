"""Hold under growth: the same probes in a small memory, and with ten and a hundred times as much unrelated talk."""

from __future__ import annotations

import random
from collections.abc import Iterator

from memeval.benchmarks.lifecycle.keys import ProbeStatement
from memeval.benchmarks.lifecycle.script import Script, first, statement, topics_of, users
from memeval.benchmarks.lifecycle.wording.words import FILLER, PEOPLE, TOPICS, Topic

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
    values = [rng.sample(topic.values, 2) for topic in topics]
    patterns = [rng.choice(topic.told) for topic in topics]
    talk = _talk(random.Random(f"{cluster}/talk"), topics, [other for _, other in values])  # noqa: S311
    count = UNIT * size
    places = {count // 3: 0, 2 * count // 3: 1}
    held: dict[int, ProbeStatement] = {}
    others: dict[int, list[str]] = {}
    for place in range(count):
        if place in places:
            number = places[place]
            value = values[number][0]
            held[number] = statement(value, script.say(user, patterns[number].format(value=value)))
        text, named = next(talk)
        turn = script.say(user, text, replies="asked")
        if named is not None:
            others.setdefault(named, []).append(turn)
    for number, (topic, form) in enumerate(zip(topics, ("ask", "paraphrase"), strict=True)):
        question = script.ask(user, str(getattr(topic, form)).format(name=user.name))
        wrong = [statement(values[number][1], *others[number])] if number in others else []
        stage = first(held[number], *wrong)
        value = values[number][0]
        script.item(form, [(question, stage)], f"{value}, as the user said.", cluster=cluster, size=f"{size}x")


def _talk(rng: random.Random, topics: list[Topic], values: list[str]) -> Iterator[tuple[str, int | None]]:
    """Yield unrelated texts without end, each with the number of the topic on which it names another person's value."""
    place = 0
    while True:
        place += 1
        if place % NAMING == 0:
            number = place // NAMING % len(topics)
            yield topics[number].other.format(relation=rng.choice(PEOPLE.relations), value=values[number]), number
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
        )
