"""Facts in the words of answer keys."""

from __future__ import annotations

from datetime import date

from memeval.benchmarks.beliefs.wording.packs import WordedTopic
from memeval.benchmarks.kit.months import month, month_phrases
from memeval.benchmarks.kit.people import Person
from memeval.benchmarks.kit.timeline import Act, TimelineEvent
from memeval.benchmarks.kit.values import Form, TopicValue
from memeval.keys import Fact


def holds(person: Person, topic: WordedTopic, value: TopicValue) -> Fact:
    """Return the fact that a value holds."""
    return Fact(text=f"{person.name} {topic.clause(value, Form.THIRD, person.her)}.", phrases=value.phrases)


def held(person: Person, topic: WordedTopic, value: TopicValue) -> Fact:
    """Return the fact that a value once held."""
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
    """Return the fact that an event states about another person.

    Raises:
        ValueError: the event is about the user.
    """
    who = event.about
    if who is None:
        raise ValueError("the event is about the user.")
    does = topic.clause(event.value, Form.THIRD, who.her)
    return Fact(text=f"{person.name}'s {who.kin} {who.first} {does}.", phrases=event.value.phrases)


def began(person: Person, topic: WordedTopic, value: TopicValue, day: date) -> Fact:
    """Return the fact that a value began on a day. The month alone is a right answer."""
    doing = topic.clause(value, Form.GERUND, person.her)
    return Fact(text=f"{person.name} began {doing} in {month(day)}.", phrases=month_phrases(day))
