"""Forget: texts by id, a user, a topic. Probes before and after, and what must stay."""

from __future__ import annotations

from collections.abc import Sequence

from memeval.benchmarks.lifecycle.keys import ProbeRule, ProbeStage, ProbeStatement
from memeval.benchmarks.lifecycle.script import Script, User, none_of, only, statement, topics_of, users
from memeval.benchmarks.lifecycle.words import TOPICS, Topic

FORMS = ("ask", "paraphrase", "partial", "indirect")
"""The forms of the questions for a deleted value."""


class _Memory:
    """Two users who told values of the same topics, in words of the questions, so that a search finds them.

    Args:
        script: the scenario.
        facts: number of topics.
    """

    def __init__(self, script: Script, facts: int) -> None:
        self.script, self.topics = script, topics_of(script.rng, TOPICS, facts)
        self.users = users(script.rng, 2)
        self.held: dict[tuple[User, Topic], ProbeStatement] = {}
        for topic in self.topics:
            values = script.rng.sample(topic.values, 2)
            for user, value in zip(self.users, values, strict=True):
                turn = script.say(user, topic.told[0].format(value=value))
                self.held[user, topic] = statement(value, turn)

    def known(self, user: User, topic: Topic) -> str:
        """Ask for a value before anything is deleted."""
        return self.script.ask(user, topic.ask.format(name=user.name))

    def probe(self, user: User, topic: Topic, form: str) -> str:
        """Ask for a value in one of the forms of a question."""
        return self.script.ask(user, str(getattr(topic, form)).format(name=user.name))


def _gone(memory: _Memory, before: str, user: User, topic: Topic, forms: Sequence[str], probe: str, how: str) -> None:
    """Ask in several forms for a deleted value: no form may bring it back."""
    held = memory.held[user, topic]
    after = [(memory.probe(user, topic, form), none_of(held)) for form in forms]
    memory.script.item(
        probe,
        [(before, only(held)), *after],
        f"{held.phrases[0]} before the deletion, nothing of it afterwards.",
        deletion=how,
    )


def _kept(memory: _Memory, before: str, user: User, topic: Topic, probe: str, how: str) -> None:
    held = memory.held[user, topic]
    after = memory.probe(user, topic, "ask")
    memory.script.item(
        probe,
        [(before, only(held)), (after, only(held))],
        f"{held.phrases[0]}, before and after the deletion.",
        deletion=how,
    )


def _told_again(memory: _Memory, before: str, user: User, topic: Topic, how: str) -> None:
    """Tell a deleted value again: it must come back."""
    held = memory.held[user, topic]
    gone = memory.probe(user, topic, "ask")
    again = statement(held.phrases[0], memory.script.say(user, topic.told[0].format(value=held.phrases[0])))
    back = memory.probe(user, topic, "ask")
    memory.script.item(
        "told again",
        [(before, only(held)), (gone, none_of(held)), (back, only(again))],
        f"{held.phrases[0]}, but not between its deletion and the new text.",
        deletion=how,
    )


def by_id(script: Script, topic_query: bool = False) -> None:
    """Delete one text, by its id or by its topic."""
    memory = _Memory(script, 3)
    user, neighbour = memory.users
    topic, other, third = memory.topics
    how = "by topic" if topic_query else "by id"
    asked = [memory.known(user, topic) for _ in range(3)]
    kept = [memory.known(user, other), memory.known(neighbour, topic)]
    if topic_query:
        script.forget(user, query=topic.about.format(name=user.name))
    else:
        script.forget(user, memory.held[user, topic].turns)
    _gone(memory, asked[0], user, topic, FORMS, "deleted", how)
    _kept(memory, kept[0], user, other, "kept: same user", how)
    _kept(memory, kept[1], neighbour, topic, "kept: other user", how)
    new = script.rng.choice([value for value in third.values if value not in _values(memory)])
    script.say(user, third.changed[0].format(value=new))
    _gone(memory, asked[1], user, topic, FORMS[:1], "deleted, then others told", how)
    _told_again(memory, asked[2], user, topic, how)


def said_twice(script: Script) -> None:
    """Delete both texts that name a value: nothing derived from them may stay."""
    memory = _Memory(script, 2)
    user, neighbour = memory.users
    topic, other = memory.topics
    held = memory.held[user, topic]
    remark = script.say(user, topic.remark.format(value=held.phrases[0]))
    memory.held[user, topic] = statement(held.phrases[0], *held.turns, remark)
    asked = memory.known(user, topic)
    kept = [memory.known(user, other), memory.known(neighbour, topic)]
    script.forget(user, memory.held[user, topic].turns)
    _gone(memory, asked, user, topic, FORMS, "deleted", "by id, said twice")
    _kept(memory, kept[0], user, other, "kept: same user", "by id, said twice")
    _kept(memory, kept[1], neighbour, topic, "kept: other user", "by id, said twice")


def by_user(script: Script) -> None:
    """Delete all of one user."""
    memory = _Memory(script, 3)
    user, neighbour = memory.users
    asked = [memory.known(user, topic) for topic in (*memory.topics, memory.topics[0])]
    kept = [memory.known(neighbour, topic) for topic in memory.topics]
    script.forget(user)
    for before, topic in zip(asked, memory.topics, strict=False):
        _gone(memory, before, user, topic, FORMS, "deleted", "by user")
    for before, topic in zip(kept, memory.topics, strict=True):
        _kept(memory, before, neighbour, topic, "kept: other user", "by user")
    _told_again(memory, asked[-1], user, memory.topics[0], "by user")


def exported(script: Script, whole_user: bool) -> None:
    """Export the store before and after a deletion."""
    memory = _Memory(script, 3)
    user, topic = memory.users[0], memory.topics[0]
    deleted = [memory.held[user, each] for each in (memory.topics if whole_user else [topic])]
    stays = [held for held in memory.held.values() if held not in deleted]
    how = "by user" if whole_user else "by id"
    before = [script.export(), script.export()]
    script.forget(user, None if whole_user else deleted[0].turns)
    after = [script.export(), script.export()]
    known, gone = ProbeStage(rule=ProbeRule.ONLY, expected=tuple(deleted)), none_of(*deleted)
    stay = ProbeStage(rule=ProbeRule.ONLY, expected=tuple(stays))
    script.item("deleted", [(before[0], known), (after[0], gone)], f"No {deleted[0].phrases[0]}.", deletion=how)
    script.item("kept", [(before[1], stay), (after[1], stay)], f"{stays[0].phrases[0]}, as before.", deletion=how)


def _values(memory: _Memory) -> set[str]:
    return {held.phrases[0] for held in memory.held.values()}
