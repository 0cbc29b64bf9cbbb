"""Keep apart: users with the same kinds of facts, with similar names, who speak in turn."""

from __future__ import annotations

from memeval.benchmarks.lifecycle.keys import ProbeStatement
from memeval.benchmarks.lifecycle.script import (
    Mode,
    Script,
    User,
    first,
    none_of,
    only,
    statement,
    topics_of,
    users,
)
from memeval.benchmarks.lifecycle.words import TOPICS, Topic

USERS = 3

IN_FLIGHT = 4
"""Number of concurrent searches of banks."""


def apart(script: Script) -> None:
    """Write near-identical facts of several users, in turn, and ask for each user's own."""
    rng = script.rng
    shared, own = topics_of(rng, TOPICS, 2)
    extra = rng.choice([topic for topic in TOPICS if topic not in (shared, own)])
    people = users(rng, USERS)
    held: dict[tuple[str, Topic], ProbeStatement] = {}
    for topic in (shared, own):
        for user, value in zip(rng.sample(people, USERS), rng.sample(topic.values, USERS), strict=True):
            held[user.name, topic] = statement(value, script.say(user, topic.told[0].format(value=value)))
    owner, *others = rng.sample(people, USERS)
    value = rng.choice(extra.values)
    held[owner.name, extra] = statement(value, script.say(owner, extra.told[0].format(value=value)))
    script.later()
    asked = [(user, shared, "ask") for user in people] + [(user, own, "partial") for user in people]
    stages = []
    for user, topic, form in asked:
        question = script.ask(user, str(getattr(topic, form)).format(name=user.name), in_flight=IN_FLIGHT)
        wrong = [held[each.name, topic] for each in people if each != user]
        stages.append((user, topic, form, question, held[user.name, topic], wrong))
    for user, _, form, question, mine, wrong in stages:
        rule = only if script.mode is Mode.BANKS else first
        script.item(f"own fact: {form}", [(question, rule(mine, *wrong))], _says(user, mine))
    if script.mode is Mode.SESSIONS:
        question = script.ask(owner, extra.ask.format(name=owner.name))
        mine = held[owner.name, extra]
        script.item("fact of one user", [(question, first(mine))], _says(owner, mine))
        return
    _never_told(script, others[0], held[others[0].name, shared], shared, extra, held[owner.name, extra])
    _other_user_deleted(script, people, shared, held)


def _never_told(
    script: Script, user: User, mine: ProbeStatement, topic: Topic, extra: Topic, theirs: ProbeStatement
) -> None:
    """Ask a bank for a fact that only another bank has; the bank must be found to work by another question."""
    known = script.ask(user, topic.ask.format(name=user.name))
    unknown = script.ask(user, extra.ask.format(name=user.name))
    script.item("never told", [(known, only(mine)), (unknown, none_of(theirs))], "Nothing of the other user.")


def _other_user_deleted(
    script: Script, people: list[User], topic: Topic, held: dict[tuple[str, Topic], ProbeStatement]
) -> None:
    """Delete the user whose bank differs least from another bank, whose facts must stay."""
    gone, kept = people[0], people[1]
    deleted, mine = held[gone.name, topic], held[kept.name, topic]
    script.forget(gone)
    before = script.ask(gone, topic.ask.format(name=gone.name))
    after = script.ask(kept, topic.ask.format(name=kept.name))
    script.item(
        "other user deleted", [(before, none_of(deleted, mine)), (after, only(mine, deleted))], _says(kept, mine)
    )


def _says(user: User, mine: ProbeStatement) -> str:
    return f"{mine.phrases[0]}, as {user.name} said."
