"""Provenance: what is returned must name the session or text that it is from."""

from __future__ import annotations

from memeval.benchmarks.lifecycle.keys import ProbeRule, ProbeStage, ProbeStatement
from memeval.benchmarks.lifecycle.script import Script, User, statement, topics_of, users
from memeval.benchmarks.lifecycle.words import PEOPLE, TOPICS, Topic


def provenance(script: Script) -> None:
    """Write facts that are said once, twice, changed, or also said about somebody else."""
    rng = script.rng
    (user,) = users(rng, 1)
    once, twice, changed, shared = topics_of(rng, TOPICS, 4)
    single = _told(script, user, once, 0)
    first_told = _told(script, user, twice, 0)
    old = _told(script, user, changed, 0)
    elsewhere = rng.choice(shared.values)
    relation = rng.choice(PEOPLE.relations)
    other = statement(elsewhere, script.say(user, shared.other.format(relation=relation, value=elsewhere)))
    value = first_told.phrases[0]
    repeated = statement(value, *first_told.turns, script.say(user, twice.told[1].format(value=value)))
    new_value = rng.choice([each for each in changed.values if each != old.phrases[0]])
    new = statement(new_value, script.say(user, rng.choice(changed.changed).format(value=new_value)))
    same = statement(elsewhere, script.say(user, rng.choice(shared.told).format(value=elsewhere)))
    script.later()
    _ask(script, user, once, "ask", "said once", single)
    _ask(script, user, once, "paraphrase", "said once", single)
    _ask(script, user, twice, "ask", "said twice", repeated)
    _ask(script, user, changed, "ask", "changed", new)
    _ask(script, user, shared, "ask", "also said of somebody else", same, other)
    _ask(script, user, shared, "paraphrase", "also said of somebody else", same, other)


def _told(script: Script, user: User, topic: Topic, pattern: int) -> ProbeStatement:
    value = script.rng.choice(topic.values)
    return statement(value, script.say(user, topic.told[pattern].format(value=value)))


def _ask(
    script: Script, user: User, topic: Topic, form: str, probe: str, right: ProbeStatement, *wrong: ProbeStatement
) -> None:
    question = script.ask(user, str(getattr(topic, form)).format(name=user.name))
    stage = ProbeStage(rule=ProbeRule.SOURCE, expected=(right,), wrong=wrong)
    sources = " or ".join(sorted(right.sessions))
    script.item(probe, [(question, stage)], f"{right.phrases[0]}, from {sources}.", asked=form)
