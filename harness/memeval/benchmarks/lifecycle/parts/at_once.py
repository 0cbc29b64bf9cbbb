"""Write at the same time: two users tell the same kinds of facts, and all their texts arrive at once."""

from __future__ import annotations

from memeval.benchmarks.lifecycle.script import Script, only, statement, topics_of, users
from memeval.benchmarks.lifecycle.words import TOPICS

KINDS = 4
"""Number of facts of each user."""

USERS = 2

SEARCHES = 4
"""Number of concurrent searches of banks."""


def at_once(script: Script) -> None:
    """Write all facts of two users at the same time, and ask for each."""
    rng = script.rng
    people = users(rng, USERS)
    told = []
    for topic in topics_of(rng, TOPICS, KINDS):
        for user, value in zip(people, rng.sample(topic.values, USERS), strict=True):
            told.append((user, topic, value))
    rng.shuffle(told)
    held = {}
    for user, topic, value in told:
        turn = script.say(user, topic.told[0].format(value=value), in_flight=len(told))
        held[user.name, topic] = statement(value, turn)
    script.later()
    for user, topic, _ in told:
        question = script.ask(user, topic.ask.format(name=user.name), in_flight=SEARCHES)
        mine = held[user.name, topic]
        others = [held[each.name, topic] for each in people if each != user]
        script.item("own fact", [(question, only(mine, *others))], f"{mine.phrases[0]}, as {user.name} said.")
