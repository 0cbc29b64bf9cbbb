"""Questions about a life with their keys: the right answer, and the turns that it follows from."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from memeval.benchmarks.beliefs.keys import EvidenceKey, Kind, MisleadingValue, StatedValue
from memeval.benchmarks.beliefs.lives import (
    AFTER,
    BEFORE,
    BELIEF,
    CASCADE,
    CONTEXT,
    MONTH,
    NOISE,
    TEMPORAL,
    UNDATED,
    Need,
)
from memeval.benchmarks.beliefs.talk import History
from memeval.benchmarks.beliefs.wording.editions import Vocabulary
from memeval.benchmarks.beliefs.wording.packs import WordedTopic
from memeval.benchmarks.kit.people import Person
from memeval.benchmarks.kit.talk import month, month_phrases
from memeval.benchmarks.kit.timeline import Act, DependentStatus, Form, TimelineEvent, TopicValue, ValuePeriod
from memeval.keys import AnswerKey, BeliefKey, CascadeKey, Fact, NoiseKey, Stance, TemporalKey, UncertaintyKey


def holds(person: Person, topic: WordedTopic, value: TopicValue) -> Fact:
    return Fact(text=f"{person.name} {topic.clause(value, Form.THIRD, person.her)}.", phrases=value.phrases)


def held(person: Person, topic: WordedTopic, value: TopicValue) -> Fact:
    text = f"{person.name} once {topic.clause(value, Form.PAST, person.her)}, and no longer does."
    return Fact(text=text, phrases=value.phrases)


def never_held(person: Person, topic: WordedTopic, event: TimelineEvent) -> Fact:
    """Return the fact that a value was only announced and taken back, only a daydream, or true long before."""
    doing = topic.clause(event.value, Form.GERUND, person.her)
    how = {
        Act.MUSE: "only thought aloud about",
        Act.FORMER: "spoke of a time long before, of",
    }.get(event.act, "announced, and then took back,")
    return Fact(text=f"{person.name} {how} {doing}.", phrases=event.value.phrases)


def of_another(person: Person, topic: WordedTopic, event: TimelineEvent) -> Fact:
    who = event.about
    if who is None:
        raise ValueError("the event is about the user.")
    does = topic.clause(event.value, Form.THIRD, who.her)
    return Fact(text=f"{person.name}'s {who.kin} {who.first} {does}.", phrases=event.value.phrases)


def began(person: Person, topic: WordedTopic, value: TopicValue, day: date) -> Fact:
    """Return the fact that a value began on a day. The month alone is a right answer."""
    doing = topic.clause(value, Form.GERUND, person.her)
    return Fact(text=f"{person.name} began {doing} in {month(day)}.", phrases=month_phrases(day))


_WHY = {Act.ANNOUNCE: Kind.DROPPED, Act.MUSE: Kind.HYPOTHETICAL, Act.FORMER: Kind.HYPOTHETICAL}


@dataclass(frozen=True, slots=True)
class Made:
    need: Need
    question: str
    answer: AnswerKey
    evidence: EvidenceKey
    slices: dict[str, str]


class Asker:
    def __init__(self, history: History, vocabulary: Vocabulary, rng: random.Random) -> None:
        self.history, self.life = history, history.life
        self.person, self.timeline = history.life.person, history.life.timeline
        self.words, self.rng = vocabulary, rng
        self.now = history.last + timedelta(days=rng.randint(2, 12))

    def make(self, need: Need) -> Made:
        topic = self.life.focus[need.item_id]
        if need.category in (BELIEF, CONTEXT):
            return self._current(need, topic)
        if need.category == NOISE:
            return self._noise(need, topic)
        return self._temporal(need, topic) if need.category == TEMPORAL else self._dependent(need, topic)

    def _current(self, need: Need, topic: WordedTopic) -> Made:
        states = self.timeline.states(topic.id, self.now)
        current = states[-1]
        right = holds(self.person, topic, current.value)
        stale = [held(self.person, topic, state.value) for state in states[:-1]]
        key = BeliefKey(current=right, stale=(*stale, *self._never(topic)))
        question = self.rng.choice(topic.now).format(name=self._name(), my=self.person.her)
        evidence = self._evidence(topic, [self._period(topic, current)], right.text)
        return self._made(need, topic, question, key, evidence, depth=str(len(states)))

    def _noise(self, need: Need, topic: WordedTopic) -> Made:
        (state,) = self.timeline.states(topic.id, self.now)
        right = holds(self.person, topic, state.value)
        others = [of_another(self.person, topic, event) for event in self.timeline.others(topic.id)]
        key = NoiseKey(reference=right, distractors=(*others, *self._never(topic)))
        question = self.rng.choice(topic.now).format(name=self._name(), my=self.person.her)
        evidence = self._evidence(topic, [self._period(topic, state)], right.text)
        return self._made(need, topic, question, key, evidence)

    # Questions about time ---------------------------------------------------------------------------------------------

    def _temporal(self, need: Need, topic: WordedTopic) -> Made:
        states = self.timeline.states(topic.id, self.now)
        kind = str(need.traits["asked"])
        if kind == MONTH:
            state, when = self._month(topic, states)
            question, parts, named = self._past(topic, when), [self._period(topic, state)], None
        elif kind in (BEFORE, AFTER):
            place = self.rng.randrange(len(states) - 1)
            earlier, later = states[place : place + 2]
            state, other = (earlier, later) if kind == BEFORE else (later, earlier)
            named = other.value
            pool = self.words.frames["right_before"] if kind == BEFORE else self.words.frames["right_after"]
            when = self.rng.choice(pool).format(she=self.person.she, v=named.text)
            question = self._past(topic, when)
            # A turn that gives up one value for another one states both.
            parts = [self._period(topic, state, other), self._period(topic, other, state)]
        else:
            return self._began(need, topic, states)
        fact = holds if state.until is None else held
        right = fact(self.person, topic, state.value)
        wrong = [held(self.person, topic, s.value) for s in states if s.value not in (named, state.value)]
        key = TemporalKey(reference=right, others=(*wrong, *self._never(topic)))
        evidence = self._evidence(topic, parts, right.text)
        return self._made(need, topic, question, key, evidence, asked=kind, depth=str(len(states)))

    def _began(self, need: Need, topic: WordedTopic, states: Sequence[ValuePeriod]) -> Made:
        plain = {e.on for e in self.timeline.of(topic.id) if e.act is Act.ANNOUNCE and e.manner not in UNDATED}
        state = self.rng.choice([state for state in states[1:] if state.since in plain])
        right = began(self.person, topic, state.value, state.since)
        others = tuple(began(self.person, topic, s.value, s.since) for s in states if s is not state)
        doing = topic.clause(state.value, Form.GERUND, self.person.her)
        question = self.rng.choice(self.words.frames["began"]).format(
            name=self._name(), doing=doing, v=state.value.text, label=topic.label
        )
        announced = self._announcement(topic, state)
        part = StatedValue(phrases=state.value.phrases, turns=self.history.stating([announced], state.value))
        key = TemporalKey(reference=right, others=tuple(o for o in others if not set(o.phrases) & set(right.phrases)))
        evidence = self._evidence(topic, [part], right.text)
        return self._made(need, topic, question, key, evidence, asked="began", depth=str(len(states)))

    def _month(self, topic: WordedTopic, states: Sequence[ValuePeriod]) -> tuple[ValuePeriod, str]:
        """Return a former state with a month that lies whole within it and has no announcement, as a time in words."""
        noisy = {(event.on.year, event.on.month) for event in self.timeline.of(topic.id)}
        found: list[tuple[ValuePeriod, date]] = []
        for state in states:
            day = (state.since.replace(day=1) + timedelta(days=32)).replace(day=15)
            while day < (state.until or self.now).replace(day=1):
                if (day.year, day.month) not in noisy:
                    found.append((state, day))
                day = (day + timedelta(days=30)).replace(day=15)
        past = [pair for pair in found if pair[0].until is not None] or found
        state, day = self.rng.choice(past)
        return state, self.rng.choice(self.words.frames["in_month"]).format(month=month(day))

    # Facts that depend on others --------------------------------------------------------------------------------------

    def _dependent(self, need: Need, topic: WordedTopic) -> Made:
        status = self.timeline.standing(topic.id, self.now)
        state = self.timeline.current(topic.id, self.now)
        if state is None:
            raise ValueError(f"{need.item_id}: nothing is known of {topic.id}.")
        root = self.words.by_id[self.timeline.ground(topic.id)[-1]]
        roots = self.timeline.states(root.id, self.now)
        change = f"{root.label}: " + (" → ".join(s.value.text for s in roots) if len(roots) > 1 else "unchanged")
        fact = holds(self.person, topic, state.value)
        stance = Stance.DOUBT if status is DependentStatus.UNREVISITED else Stance.CONFIDENT
        reference = self._reference(topic, state, status, change)
        links = [self.timeline.current(name, self.now) for name in (topic.id, *self.timeline.ground(topic.id)[:-1])]
        values = [roots[0].value.text, *(link.value.text for link in reversed(links) if link is not None)]
        grounds = ", ".join(f"{values[i + 1]} because of {values[i]}" for i in range(len(values) - 1))
        key: CascadeKey | UncertaintyKey
        if need.category == CASCADE:
            question = self.rng.choice(topic.now).format(name=self._name(), my=self.person.her)
            key = CascadeKey(root_change=change, dependent=fact, stance=stance, reference=reference)
        else:
            does = topic.clause(state.value, Form.THIRD, self.person.her)
            question = self.rng.choice(self.words.frames["still_asked"]).format(
                name=self._name(), does=does, she=self.person.she, label=topic.label
            )
            certain = "" if stance is Stance.DOUBT else "Not uncertain. "
            reason = f"{certain}It rested on something else: {grounds}. ({change})"
            key = UncertaintyKey(reason=reason, dependent=fact, stance=stance, reference=reference)
        evidence = self._dependent_evidence(topic, state, status, root, roots, reference)
        depth = str(len(self.timeline.ground(topic.id)))
        return self._made(need, topic, question, key, evidence, depth=depth, twin=status.value)

    def _reference(self, topic: WordedTopic, state: ValuePeriod, status: DependentStatus, change: str) -> str:
        does = topic.clause(state.value, Form.THIRD, self.person.her)
        if status is DependentStatus.UNREVISITED:
            did = topic.clause(state.value, Form.PAST, self.person.her)
            return (
                f"That is not certain. When last heard, {self.person.first} {did}, but what that rested on has "
                f"changed since ({change}), and it has not come up again."
            )
        if status is DependentStatus.RECONFIRMED:
            return f"{self.person.name} {does}, and said so after what it rested on had changed ({change})."
        return f"{self.person.name} {does}."

    def _dependent_evidence(
        self,
        topic: WordedTopic,
        state: ValuePeriod,
        status: DependentStatus,
        root: WordedTopic,
        roots: Sequence[ValuePeriod],
        reference: str,
    ) -> EvidenceKey:
        """Return the evidence: the fact, and the change of its root; or the fact as confirmed after the change."""
        said = [e for e in self.timeline.of(topic.id, self.now) if e.act in (Act.ANNOUNCE, Act.CONFIRM)]
        if status is DependentStatus.RECONFIRMED:
            said = [event for event in said if event.on > roots[-1].since]
        parts = [StatedValue(phrases=state.value.phrases, turns=self.history.stating(said, state.value))]
        if status is DependentStatus.UNREVISITED:
            parts.append(self._period(root, roots[-1]))
        misleading = self._misleading(topic, parts)
        if status is not DependentStatus.RECONFIRMED:
            misleading = (*misleading, *self._never_true(root, parts))
        return EvidenceKey(expected=tuple(parts), misleading=misleading, reference=reference)

    # Parts of keys ----------------------------------------------------------------------------------------------------

    def _announcement(self, topic: WordedTopic, state: ValuePeriod) -> TimelineEvent:
        return next(
            event
            for event in self.timeline.of(topic.id)
            if event.act is Act.ANNOUNCE and event.on == state.since and event.value == state.value
        )

    def _period(self, topic: WordedTopic, state: ValuePeriod, *others: ValuePeriod) -> StatedValue:
        """Return a value with all turns that state it: its announcement, and where it was kept; and those of others."""
        kept = [
            event
            for event in self.timeline.of(topic.id, self.now)
            if event.act in (Act.CONFIRM, Act.RETRACT)
            and state.since < event.on
            and (state.until is None or event.on < state.until)
        ]
        said = [*(self._announcement(topic, each) for each in (state, *others)), *kept]
        return StatedValue(phrases=state.value.phrases, turns=self.history.stating(said, state.value))

    def _evidence(self, topic: WordedTopic, parts: Sequence[StatedValue], reference: str) -> EvidenceKey:
        return EvidenceKey(expected=tuple(parts), misleading=self._misleading(topic, parts), reference=reference)

    def _misleading(self, topic: WordedTopic, parts: Iterable[StatedValue]) -> tuple[MisleadingValue, ...]:
        """Return what else is said about a topic: other values, values that never became true, and other people's."""
        needed = {part.phrases for part in parts}
        stale = [
            MisleadingValue(
                phrases=state.value.phrases,
                turns=self.history.stating([self._announcement(topic, state)], state.value),
                why=Kind.STALE,
            )
            for state in self.timeline.states(topic.id, self.now)
            if state.value.phrases not in needed
        ]
        others = [
            MisleadingValue(
                phrases=event.value.phrases, turns=self.history.stating([event], event.value), why=Kind.OTHER_PERSON
            )
            for event in self.timeline.others(topic.id, self.now)
        ]
        return (*stale, *self._never_true(topic, parts), *others)

    def _never_true(self, topic: WordedTopic, parts: Iterable[StatedValue]) -> tuple[MisleadingValue, ...]:
        needed = {part.phrases for part in parts}
        return tuple(
            MisleadingValue(
                phrases=event.value.phrases, turns=self.history.stating([event], event.value), why=_WHY[event.act]
            )
            for event in self._untrue(topic)
            if event.value.phrases not in needed
        )

    def _untrue(self, topic: WordedTopic) -> list[TimelineEvent]:
        """Return the events whose value never became true in the time of the history."""
        own = [e for e in self.timeline.of(topic.id, self.now) if e.act in (Act.MUSE, Act.FORMER)]
        return [*self.timeline.taken_back(topic.id, self.now), *own]

    def _never(self, topic: WordedTopic) -> tuple[Fact, ...]:
        return tuple(never_held(self.person, topic, event) for event in self._untrue(topic))

    def _past(self, topic: WordedTopic, when: str) -> str:
        return self.rng.choice(topic.past).format(name=self._name(), my=self.person.her, when=when)

    def _name(self) -> str:
        return self.person.name if self.rng.random() < 0.6 else self.person.first

    def _made(
        self, need: Need, topic: WordedTopic, question: str, key: AnswerKey, evidence: EvidenceKey, **slices: str
    ) -> Made:
        announced = [e for e in self.timeline.of(topic.id, self.now) if e.act is Act.ANNOUNCE][-1]
        slices |= {"said": announced.manner.value, "misleading": str(min(3, len(evidence.misleading)))}
        return Made(need, question, key, evidence, slices)
