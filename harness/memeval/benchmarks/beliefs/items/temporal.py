"""temporal-belief: the value at another time, and the time of a change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from memeval.benchmarks.beliefs import facts
from memeval.benchmarks.beliefs.history import Made, Writer, ordinals
from memeval.benchmarks.beliefs.items.common import one_question, surround
from memeval.benchmarks.beliefs.timeline import Act, Manner, ValuePeriod
from memeval.benchmarks.beliefs.vocabulary import BY_ID, Form, Topic, TopicValue, clause
from memeval.keys import Fact, TemporalKey


@dataclass(frozen=True, slots=True)
class _TemporalQuestion:
    """A question with its time and its correct answer."""

    question: str
    as_of: date
    gold: Fact
    named: TopicValue | None
    """The value that the question names; an answer may repeat it."""
    gold_state: ValuePeriod
    others: tuple[Fact, ...] | None = None
    """Wrong answers; ``None`` for all other values."""


def make(writer: Writer) -> Made:
    """Return an item that asks for one of several values."""
    life, person = writer.life, writer.life.person
    timeline, topic = life.timeline, BY_ID[life.focus[writer.need.scenario_id]]
    own = timeline.of(topic.id)
    writer.tell(own)
    writer.tell(timeline.others(topic.id))
    surround(writer, frozenset((topic.id,)))
    now, sessions = writer.later(), writer.sessions()
    states = timeline.states(topic.id, now)
    kind = str(writer.need.traits["asked"])
    asked = _KINDS[kind](writer, topic, states, now)
    others = asked.others
    if others is None:
        values = [
            facts.held(person, topic.id, s.value)
            for s in states
            if s.value not in (asked.named, asked.gold_state.value)
        ]
        others = (*values, *facts.not_taken_up(person, timeline, topic.id))
    points = len(states) - 2 + int(kind in ("before", "after")) + facts.detours(timeline, topic.id)
    return one_question(
        writer,
        sessions,
        asked.question,
        asked.as_of,
        TemporalKey(reference=asked.gold, others=others),
        ordinals(sessions, [event for event in own if event.act is not Act.MUSE]),
        {
            "announced": facts.announced(timeline, topic.id),
            "asked": kind,
            "depth": str(len(states)),
            "difficulty": facts.difficulty(points),
            "family": topic.family,
            "noise": facts.noise(len(sessions), len(own)),
        },
    )


def quiet_months(
    writer: Writer, topic: Topic, states: tuple[ValuePeriod, ...], now: date
) -> list[tuple[ValuePeriod, date]]:
    """Return, per state, the middles of the months that lie whole within it, those without any announcement first.

    Months of announcements that were taken back are used only where there is no other.
    """
    noisy = {
        (e.on.year, e.on.month) for e in writer.life.timeline.of(topic.id, now) if e.act in (Act.ANNOUNCE, Act.RETRACT)
    }
    found: list[tuple[ValuePeriod, date]] = []
    for state in states:
        middle = (state.since.replace(day=1) + timedelta(days=32)).replace(day=15)
        until = (state.until or now).replace(day=1)
        while middle < until:
            found.append((state, middle))
            middle = (middle + timedelta(days=30)).replace(day=15)
    past = [pair for pair in found if pair[0].until is not None] or found
    return [(s, m) for s, m in past if (m.year, m.month) not in noisy] or past


def _past(writer: Writer, topic: Topic, when: str) -> str:
    question = writer.rng.choice(topic.past)
    return question.format(name=writer.name(), my=writer.life.person.her, when=when)


def _explicit(writer: Writer, topic: Topic, states: tuple[ValuePeriod, ...], now: date) -> _TemporalQuestion:
    state, middle = writer.rng.choice(quiet_months(writer, topic, states, now))
    if any((day.year, day.month) == (middle.year, middle.month) for day in (s.since for s in states)):
        raise ValueError(f"{writer.need.scenario_id}: asks for a month of change.")
    month = facts.month(middle)
    when = writer.rng.choice((f"in {month}", f"back in {month}", f"in the middle of {month}", f"around mid-{month}"))
    gold = facts.held(writer.life.person, topic.id, state.value)
    if state.until is None:
        gold = facts.holds(writer.life.person, topic.id, state.value)
    return _TemporalQuestion(_past(writer, topic, when), middle, gold, None, state)


def _before(writer: Writer, topic: Topic, states: tuple[ValuePeriod, ...], now: date) -> _TemporalQuestion:
    named = writer.rng.choice(states[1:]).value
    state = writer.life.timeline.previous(topic.id, named, now)
    if state is None:
        raise ValueError(f"{topic.id}: nothing came before {named.text}.")
    person = writer.life.person
    when = writer.rng.choice(
        (f"right before {person.she} switched to", f"immediately before {person.she} went over to")
    )
    gold = facts.held(person, topic.id, state.value)
    return _TemporalQuestion(_past(writer, topic, f"{when} {named.text}"), now, gold, named, state)


def _after(writer: Writer, topic: Topic, states: tuple[ValuePeriod, ...], now: date) -> _TemporalQuestion:
    named = writer.rng.choice(states[:-1][-3:]).value
    state = writer.life.timeline.following(topic.id, named, now)
    if state is None:
        raise ValueError(f"{topic.id}: nothing came after {named.text}.")
    person = writer.life.person
    when = writer.rng.choice((f"straight after {person.she} gave up on", f"right after {person.she} moved on from"))
    fact = facts.holds if state.until is None else facts.held
    gold = fact(person, topic.id, state.value)
    return _TemporalQuestion(_past(writer, topic, f"{when} {named.text}"), now, gold, named, state)


def _when(writer: Writer, topic: Topic, states: tuple[ValuePeriod, ...], now: date) -> _TemporalQuestion:
    """Ask when a value began. Only for direct announcements, because a remark leaves the day open."""
    person = writer.life.person
    plain = {e.on for e in writer.life.timeline.of(topic.id, now) if e.manner is Manner.DIRECT}
    state = writer.rng.choice([state for state in states[1:] if state.since in plain])
    doing = clause(topic, state.value, Form.GERUND, person.her)
    name = writer.name()
    question = writer.rng.choice((f"When did {name} start {doing}?", f"In which month did {name} begin {doing}?"))
    others = tuple(facts.began(person, topic.id, s.value, s.since) for s in states if s is not state)
    return _TemporalQuestion(
        question, now, facts.began(person, topic.id, state.value, state.since), state.value, state, others
    )


def _current(writer: Writer, topic: Topic, states: tuple[ValuePeriod, ...], now: date) -> _TemporalQuestion:
    person, state = writer.life.person, states[-1]
    question = writer.rng.choice(topic.now).format(name=writer.name(), my=person.her)
    return _TemporalQuestion(question, now, facts.holds(person, topic.id, state.value), None, state)


_KINDS: dict[str, Callable[[Writer, Topic, tuple[ValuePeriod, ...], date], _TemporalQuestion]] = {
    "explicit-date": _explicit,
    "before": _before,
    "after": _after,
    "when": _when,
    "current": _current,
}
"""Maker of the question for each value of the trait ``asked``."""
