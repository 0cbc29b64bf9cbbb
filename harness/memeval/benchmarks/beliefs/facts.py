"""Facts in the wording of answer keys, and slices for the difficulty of items."""

from __future__ import annotations

from datetime import date

from memeval.benchmarks.beliefs.timeline import Act, Manner, Timeline, TimelineEvent
from memeval.benchmarks.beliefs.vocabulary import BY_ID, Form, TopicValue, clause
from memeval.benchmarks.beliefs.vocabulary.people import Person
from memeval.keys import Fact

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def holds(person: Person, topic: str, value: TopicValue) -> Fact:
    """Return the fact that ``value`` holds."""
    return Fact(text=f"{person.name} {clause(BY_ID[topic], value, Form.THIRD, person.her)}.", phrases=value.phrases)


def held(person: Person, topic: str, value: TopicValue) -> Fact:
    """Return the fact that ``value`` once held."""
    text = f"{person.name} once {clause(BY_ID[topic], value, Form.PAST, person.her)}, and no longer does."
    return Fact(text=text, phrases=value.phrases)


def never_held(person: Person, event: TimelineEvent) -> Fact:
    """Return the fact that a value was only announced and taken back, or only a daydream."""
    doing = clause(BY_ID[event.topic], event.value, Form.GERUND, person.her)
    how = "only daydreamed of" if event.act is Act.MUSE else "announced, and then took back,"
    return Fact(text=f"{person.name} {how} {doing}.", phrases=event.value.phrases)


def of_another(person: Person, event: TimelineEvent) -> Fact:
    """Return the fact that ``event`` states about another person."""
    who = event.about
    if who is None:
        raise ValueError("not about somebody else.")
    text = f"{person.name}'s {who.kin} {who.first} {clause(BY_ID[event.topic], event.value, Form.THIRD, who.her)}."
    return Fact(text=text, phrases=event.value.phrases)


def not_taken_up(person: Person, timeline: Timeline, topic: str) -> tuple[Fact, ...]:
    """Return the values of ``topic`` that were mentioned but never became true."""
    events = (*timeline.taken_back(topic), *(e for e in timeline.of(topic) if e.act is Act.MUSE))
    return tuple(never_held(person, event) for event in events)


def month(day: date) -> str:
    """Return the month of ``day`` in words: ``March 2025``."""
    return f"{MONTHS[day.month - 1]} {day.year}"


def month_phrases(day: date) -> tuple[str, ...]:
    """Return the texts of a right answer to when something began: the month of the day, or the day."""
    name = MONTHS[day.month - 1]
    phrases = (
        month(day),
        f"{name[:3]} {day.year}",
        f"{day.year}-{day.month:02d}",
        day.isoformat(),
        f"{name} {day.day}, {day.year}",
    )
    return tuple(dict.fromkeys(phrases))


def began(person: Person, topic: str, value: TopicValue, day: date) -> Fact:
    """Return the fact that ``value`` began on ``day``. The month alone is a correct answer."""
    text = f"{person.name} began {clause(BY_ID[topic], value, Form.GERUND, person.her)} in {month(day)}."
    return Fact(text=text, phrases=month_phrases(day))


def difficulty(points: int) -> str:
    """Return the difficulty of an item from its points (links, detours, remarks in passing)."""
    return "easy" if points <= 1 else "medium" if points == 2 else "hard"


def announced(timeline: Timeline, topic: str) -> str:
    """Return the slice ``announced``: how the last value of ``topic`` was announced."""
    if timeline.taken_back(topic):
        return "retracted"
    if any(event.act is Act.MUSE for event in timeline.of(topic)):
        return "hypothetical"
    last = [event for event in timeline.of(topic) if event.act is Act.ANNOUNCE][-1]
    return last.manner.value


def detours(timeline: Timeline, topic: str) -> int:
    """Return the difficulty points for the way in which ``topic`` was announced."""
    last = [event for event in timeline.of(topic) if event.act is Act.ANNOUNCE][-1]
    return int(announced(timeline, topic) in ("retracted", "hypothetical")) + int(last.manner is Manner.INDIRECT)


def noise(all_sessions: int, focus_sessions: int) -> str:
    """Return the slice ``noise``: how many sessions of a history are about other topics."""
    other = all_sessions - focus_sessions
    return "none" if other == 0 else "light" if other < 25 else "heavy"
