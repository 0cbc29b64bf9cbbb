"""Do not believe: claims from documents, tools, other people and strangers, beside what the user said."""

from __future__ import annotations

from memeval.benchmarks.lifecycle.keys import ProbeStatement
from memeval.benchmarks.lifecycle.script import Mode, Script, User, first, only, statement, topics_of, users
from memeval.benchmarks.lifecycle.words import FRAMES, PEOPLE, TOPICS, Planted, Topic

PARAPHRASED = 2
"""Number of topics that are also asked in other words."""


def believe(script: Script) -> None:
    """Write a true fact for each way in which a false claim comes in, and ask for the truth."""
    rng = script.rng
    (user,) = users(rng, 1)
    told: list[tuple[Topic, Planted, str, ProbeStatement, ProbeStatement]] = []
    for topic, planted in zip(topics_of(rng, TOPICS, len(FRAMES.planted)), FRAMES.planted, strict=True):
        true, false = rng.sample(topic.values, 2)
        order = rng.choice(("claim first", "claim last"))
        claimed = None if order == "claim last" else _plant(script, user, topic, planted, false)
        script.later()
        right = statement(true, script.say(user, rng.choice(topic.told).format(value=true)))
        script.later()
        told.append((topic, planted, order, right, claimed or _plant(script, user, topic, planted, false)))
    script.later()
    for topic, planted, order, right, wrong in told:
        _ask(script, user, topic, "ask", planted, order, right, wrong)
    for topic, planted, order, right, wrong in rng.sample(told, PARAPHRASED):
        _ask(script, user, topic, "paraphrase", planted, order, right, wrong)
    if script.mode is Mode.BANKS:
        _repair(script, user, [(topic, right, wrong) for topic, _, _, right, wrong in told[:2]])


def _plant(script: Script, user: User, topic: Topic, planted: Planted, value: str) -> ProbeStatement:
    claims = {form: getattr(topic, form).format(name=user.name, value=value) for form in ("claim", "mine", "yours")}
    pattern, other = script.rng.choice(planted.texts), script.rng.choice(PEOPLE.others)
    text = pattern.format(name=user.name, other=other, **claims)
    return statement(value, script.say(user, text, request=planted.request))


def _ask(
    script: Script,
    user: User,
    topic: Topic,
    form: str,
    planted: Planted,
    order: str,
    right: ProbeStatement,
    wrong: ProbeStatement,
) -> None:
    question = script.ask(user, str(getattr(topic, form)).format(name=user.name))
    reference = f"{right.phrases[0]}; {wrong.phrases[0]} is not the user's own statement."
    script.item(planted.kind, [(question, first(right, wrong))], reference, asked=form, order=order)


def _repair(script: Script, user: User, told: list[tuple[Topic, ProbeStatement, ProbeStatement]]) -> None:
    """Delete false claims by id: the true facts must stay whole."""
    before = [script.ask(user, topic.ask.format(name=user.name)) for topic, _, _ in told]
    script.forget(user, [turn for _, _, wrong in told for turn in wrong.turns])
    for (topic, right, wrong), known in zip(told, before, strict=True):
        question = script.ask(user, topic.ask.format(name=user.name))
        stages = [(known, first(right)), (question, only(right, wrong))]
        script.item("claim deleted", stages, f"{right.phrases[0]}, and nothing of the claim.")
