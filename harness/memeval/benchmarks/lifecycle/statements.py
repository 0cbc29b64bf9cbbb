"""Parts about what is true: corrections, claims of others, sources, and facts hidden in unrelated talk."""

import random
from collections.abc import Iterator

from memeval.benchmarks.kit.streams import stream
from memeval.benchmarks.lifecycle.keys import ProbeRule, ProbeStage, ProbeStatement
from memeval.benchmarks.lifecycle.script import Mode, Script, User, first, only, statement, topics_of, users
from memeval.benchmarks.lifecycle.words import FILLER, FRAMES, PEOPLE, TOPICS, Planted, Topic

GAP = (32, 45)
"""Days between a value and its change: always another month."""

PARAPHRASED = 2

UNIT = 8
"""Number of unrelated texts at the size 1."""

SIZES = (1, 10, 100)

NAMING = 8
"""Of so many unrelated texts, one names a fact of another person."""


def correct(script: Script) -> None:
    """Write updates, retractions, corrections of corrections and contradicting sources; ask for present and past."""
    rng = script.rng
    (user,) = users(rng, 1)
    updated, restored, retracted, contradicted = topics_of(rng, 4)
    form = _old_form(script, user, contradicted)
    values = rng.sample(updated.values, 2)
    old, month = _told(script, user, updated, values[0]), script.month
    one, other = rng.sample(restored.values, 2)
    early = _told(script, user, restored, one)
    held = _told(script, user, retracted, rng.choice(retracted.values))
    if rng.random() < 0.5:  # a current source before the old one is filed, or after it
        valid = _told(script, user, contradicted, form[0])
        stale = _filed(script, user, form)
    else:
        stale = _filed(script, user, form)
        valid = _told(script, user, contradicted, form[0])
    script.later(*GAP)
    change = rng.choice(updated.changed).format(value=values[1])
    new = statement(values[1], script.say(user, change))
    middle = statement(other, script.say(user, rng.choice(restored.changed).format(value=other)))
    none = statement(retracted.without, script.say(user, retracted.retracted))
    script.later(5, 9)
    again = script.say(user, restored.back.format(value=one))
    script.later()

    _corrected(script, user, updated, "ask", "updated", new, old)
    _corrected(script, user, updated, "paraphrase", "updated", new, old)
    question = script.ask(user, updated.past.format(name=user.name, month=month))
    script.item("past value", [(question, first(old, new))], f"{old.phrases[0]}, before the change.")
    _corrected(script, user, restored, "ask", "corrected twice", statement(one, *early.turns, again), middle)
    _corrected(script, user, retracted, "ask", "retracted", none, held)
    for each in ("ask", "paraphrase"):
        _corrected(script, user, contradicted, each, "contradicted by an old source", valid, stale)


def _old_form(script: Script, user: User, topic: Topic) -> tuple[str, str, str]:
    now, before = script.rng.sample(topic.values, 2)
    month = f"{script.rng.choice(('March', 'June', 'October'))} {script.day.year - script.rng.randint(3, 6)}"
    text = FRAMES.forms.text.format(month=month, name=user.name, form=topic.form.format(value=before))
    return now, before, text


def _told(script: Script, user: User, topic: Topic, value: str) -> ProbeStatement:
    return statement(value, script.say(user, script.rng.choice(topic.told).format(value=value)))


def _filed(script: Script, user: User, form: tuple[str, str, str]) -> ProbeStatement:
    return statement(form[1], script.say(user, form[2], request=FRAMES.forms.request))


def _corrected(
    script: Script, user: User, topic: Topic, form: str, probe: str, right: ProbeStatement, wrong: ProbeStatement
) -> None:
    question = script.ask_about(user, topic, form)
    script.item(probe, [(question, first(right, wrong))], f"{right.phrases[0]}; not {wrong.phrases[0]}.", asked=form)


# Claims ---------------------------------------------------------------------------------------------------------------


def believe(script: Script) -> None:
    """Write a true fact for each way in which a false claim comes in, and ask for the truth."""
    rng = script.rng
    (user,) = users(rng, 1)
    told: list[tuple[Topic, Planted, str, ProbeStatement, ProbeStatement]] = []
    for topic, planted in zip(topics_of(rng, len(FRAMES.planted)), FRAMES.planted, strict=True):
        true, false = rng.sample(topic.values, 2)
        order = rng.choice(("claim first", "claim last"))
        claimed = None if order == "claim last" else _plant(script, user, topic, planted, false)
        script.later()
        right = _told(script, user, topic, true)
        script.later()
        told.append((topic, planted, order, right, claimed or _plant(script, user, topic, planted, false)))
    script.later()
    asked = [("ask", each) for each in told] + [("paraphrase", each) for each in rng.sample(told, PARAPHRASED)]
    for form, (topic, planted, order, right, wrong) in asked:
        question = script.ask_about(user, topic, form)
        reference = f"{right.phrases[0]}; {wrong.phrases[0]} is not the user's own statement."
        script.item(planted.kind, [(question, first(right, wrong))], reference, asked=form, order=order)
    if script.mode is Mode.BANKS:
        _repair(script, user, [(topic, right, wrong) for topic, _, _, right, wrong in told[:2]])


def _plant(script: Script, user: User, topic: Topic, planted: Planted, value: str) -> ProbeStatement:
    claims = {form: getattr(topic, form).format(name=user.name, value=value) for form in ("claim", "mine", "yours")}
    pattern, other = script.rng.choice(planted.texts), script.rng.choice(PEOPLE.others)
    text = pattern.format(name=user.name, other=other, **claims)
    return statement(value, script.say(user, text, request=planted.request))


def _repair(script: Script, user: User, told: list[tuple[Topic, ProbeStatement, ProbeStatement]]) -> None:
    before = [script.ask_about(user, topic, "ask") for topic, _, _ in told]
    script.forget(user, [turn for _, _, wrong in told for turn in wrong.turns])
    for (topic, right, wrong), known in zip(told, before, strict=True):
        question = script.ask_about(user, topic, "ask")
        stages = [(known, first(right)), (question, only(right, wrong))]
        script.item("claim deleted", stages, f"{right.phrases[0]}, and nothing of the claim.")


# Sources --------------------------------------------------------------------------------------------------------------


def provenance(script: Script) -> None:
    """Write facts that are said once, twice, changed, or also said about somebody else; sources must be named."""
    rng = script.rng
    (user,) = users(rng, 1)
    once, twice, changed, shared = topics_of(rng, 4)
    single, first_told, old = (_told_plainly(script, user, topic) for topic in (once, twice, changed))
    elsewhere = rng.choice(shared.values)
    relation = rng.choice(PEOPLE.relations)
    other = statement(elsewhere, script.say(user, shared.other.format(relation=relation, value=elsewhere)))
    value = first_told.phrases[0]
    repeated = statement(value, *first_told.turns, script.say(user, twice.told[1].format(value=value)))
    new_value = rng.choice([each for each in changed.values if each != old.phrases[0]])
    new = statement(new_value, script.say(user, rng.choice(changed.changed).format(value=new_value)))
    same = _told(script, user, shared, elsewhere)
    script.later()
    _sourced(script, user, once, "ask", "said once", single)
    _sourced(script, user, once, "paraphrase", "said once", single)
    _sourced(script, user, twice, "ask", "said twice", repeated)
    _sourced(script, user, changed, "ask", "changed", new)
    _sourced(script, user, shared, "ask", "also said of somebody else", same, other)
    _sourced(script, user, shared, "paraphrase", "also said of somebody else", same, other)


def _told_plainly(script: Script, user: User, topic: Topic) -> ProbeStatement:
    value = script.rng.choice(topic.values)
    return statement(value, script.say(user, topic.told[0].format(value=value)))


def _sourced(
    script: Script, user: User, topic: Topic, form: str, probe: str, right: ProbeStatement, *wrong: ProbeStatement
) -> None:
    question = script.ask_about(user, topic, form)
    stage = ProbeStage(rule=ProbeRule.SOURCE, expected=(right,), wrong=wrong)
    sources = " or ".join(sorted(right.sessions))
    script.item(probe, [(question, stage)], f"{right.phrases[0]}, from {sources}.", asked=form)


# Growth ---------------------------------------------------------------------------------------------------------------


def growth(script: Script, size: int, cluster: str) -> None:
    """Write two facts, hidden in unrelated talk, and ask for both.

    ``script``: the scenario; its random stream is the same at each size. ``size``: one of :data:`SIZES`. ``cluster``:
    the cluster of the probes, the same at each size.
    """
    rng, script.gap = script.rng, 1
    (user,) = users(rng, 1)
    topics = topics_of(rng, 2)
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
        question = script.ask_about(user, topic, form)
        stage = first(held[number], *others.get(number, ()))
        reference = f"{values[number]}, as the user said."
        script.item(form, [(question, stage)], reference, cluster=cluster, size=f"{size}x")


def _named(rng: random.Random, topics: list[Topic], values: list[str]) -> Iterator[tuple[str, Topic, str]]:
    """Yield facts of other people, each of a different person or topic: first of the asked topics, the last one first.

    ``topics``: the asked topics. ``values``: the user's values of them, which nobody else has.
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
        text = rng.choice(FILLER.patterns).format(
            day=rng.choice(FILLER.days),
            thing=rng.choice(FILLER.things),
            place=rng.choice(FILLER.places),
            state=rng.choice(FILLER.states),
            other=rng.choice(PEOPLE.others),
        )
        yield text, None, ""
