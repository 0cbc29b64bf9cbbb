"""Correct: updates, retractions, corrections of corrections, and sources that contradict each other."""

from __future__ import annotations

from memeval.benchmarks.lifecycle.keys import ProbeStatement
from memeval.benchmarks.lifecycle.script import Script, User, first, statement, topics_of, users
from memeval.benchmarks.lifecycle.words import FRAMES, TOPICS, Topic

GAP = (32, 45)
"""Days between a value and its change: always another month."""


def correct(script: Script) -> None:
    """Write four histories of one user, and ask for the present and the past."""
    (user,) = users(script.rng, 1)
    updated, restored, retracted, contradicted = topics_of(script.rng, TOPICS, 4)
    form = _old_form(script, user, contradicted)
    values = script.rng.sample(updated.values, 2)
    old, month = _told(script, user, updated, values[0]), script.month
    one, other = script.rng.sample(restored.values, 2)
    early = _told(script, user, restored, one)
    held = _told(script, user, retracted, script.rng.choice(retracted.values))
    if script.rng.random() < 0.5:  # a current source before the old one is filed, or after it
        valid = _valid(script, user, contradicted, form)
        stale = _filed(script, user, contradicted, form)
    else:
        stale = _filed(script, user, contradicted, form)
        valid = _valid(script, user, contradicted, form)
    script.later(*GAP)
    change = script.rng.choice(updated.changed).format(value=values[1])
    new = statement(values[1], script.say(user, change))
    middle = statement(other, script.say(user, script.rng.choice(restored.changed).format(value=other)))
    none = statement(retracted.without, script.say(user, retracted.retracted))
    script.later(5, 9)
    again = script.say(user, restored.back.format(value=one))
    script.later()

    _ask(script, user, updated, "ask", "updated", new, old)
    _ask(script, user, updated, "paraphrase", "updated", new, old)
    question = script.ask(user, updated.past.format(name=user.name, month=month))
    script.item("past value", [(question, first(old, new))], f"{old.phrases[0]}, before the change.")
    _ask(script, user, restored, "ask", "corrected twice", statement(one, *early.turns, again), middle)
    _ask(script, user, retracted, "ask", "retracted", none, held)
    _ask(script, user, contradicted, "ask", "contradicted by an old source", valid, stale)
    _ask(script, user, contradicted, "paraphrase", "contradicted by an old source", valid, stale)


def _old_form(script: Script, user: User, topic: Topic) -> tuple[str, str, str]:
    """Return the value of now, the value of an old form, and its text."""
    now, before = script.rng.sample(topic.values, 2)
    month = f"{script.rng.choice(('March', 'June', 'October'))} {script.day.year - script.rng.randint(3, 6)}"
    text = FRAMES.forms.text.format(month=month, name=user.name, form=topic.form.format(value=before))
    return now, before, text


def _told(script: Script, user: User, topic: Topic, value: str) -> ProbeStatement:
    return statement(value, script.say(user, script.rng.choice(topic.told).format(value=value)))


def _valid(script: Script, user: User, topic: Topic, form: tuple[str, str, str]) -> ProbeStatement:
    return _told(script, user, topic, form[0])


def _filed(script: Script, user: User, topic: Topic, form: tuple[str, str, str]) -> ProbeStatement:
    return statement(form[1], script.say(user, form[2], request=FRAMES.forms.request))


def _ask(
    script: Script, user: User, topic: Topic, form: str, probe: str, right: ProbeStatement, wrong: ProbeStatement
) -> None:
    question = script.ask(user, str(getattr(topic, form)).format(name=user.name))
    script.item(probe, [(question, first(right, wrong))], f"{right.phrases[0]}; not {wrong.phrases[0]}.", asked=form)
