"""The vocabulary: a value is said only where it is meant."""

from __future__ import annotations

import string
from collections.abc import Iterator
from itertools import combinations

from memeval.benchmarks.beliefs.checks import states
from memeval.benchmarks.beliefs.vocabulary import BY_ID, GROUPS, TOPICS, Form, Topic, clause
from memeval.benchmarks.beliefs.vocabulary.frames import FRAMES
from memeval.benchmarks.beliefs.vocabulary.people import HE, RELATIONS, SHE, SURNAMES
from memeval.benchmarks.beliefs.vocabulary.smalltalk import THEMES

ALL = tuple(BY_ID.values())
NAMES = (*SHE, *HE, *SURNAMES, *(relation.first for relation in RELATIONS))


def own_text(topic: Topic) -> Iterator[str]:
    """All that a topic says, but for its values."""
    yield from (topic.label, topic.do, *topic.now, *topic.past, *topic.hints, *topic.openers, *topic.tips)
    yield from topic.because


def common_text() -> Iterator[str]:
    """All that is said whatever the topic."""
    for pool in vars(FRAMES).values():
        yield from pool
    for theme in THEMES:
        yield from (*theme.a, *theme.b, *theme.ask, *theme.reply, *theme.more, *theme.end)
    yield from (relation.kin for relation in RELATIONS)


COMMON = "\n".join((*common_text(), *NAMES))
TEMPLATES = {topic.id: "\n".join(own_text(topic)) for topic in ALL}


def test_ids_of_topics_are_unique() -> None:
    groups = [topic for group in GROUPS for topic in (group.root, *group.dependents)]
    assert len(BY_ID) == len(TOPICS) + len(groups)


def test_a_vocabulary_has_at_least_eight_families_with_a_group_each() -> None:
    assert len({topic.family for topic in TOPICS}) == len(GROUPS) == 8
    assert all(len(group.dependents) == 3 for group in GROUPS)


def test_no_phrase_of_a_value_stands_in_a_phrase_of_another() -> None:
    for topic in ALL:
        for one, other in combinations(topic.values, 2):
            for a in one.phrases:
                for b in other.phrases:
                    assert not states((a,), b), (a, b)
                    assert not states((b,), a), (a, b)


def test_every_value_is_stated_by_its_own_text() -> None:
    for topic in ALL:
        for value in topic.values:
            assert states(value.phrases, value.text), value


def test_a_value_is_never_said_by_accident() -> None:
    for topic in ALL:
        for value in topic.values:
            assert not states(value.phrases, COMMON), value
            for other, text in TEMPLATES.items():
                assert not states(value.phrases, text), (value, other)


def test_values_of_two_topics_are_not_mistaken_for_each_other() -> None:
    for topic in ALL:
        others = "\n".join(value.text for other in ALL if other.id != topic.id for value in other.values)
        for value in topic.values:
            assert not states(value.phrases, others), value


def test_every_form_of_a_topic_can_be_written() -> None:
    for topic in ALL:
        for form in Form:
            text = clause(topic, topic.values[0], form, "her")
            assert topic.values[0].text in text
            assert "{" not in text


def test_templates_use_known_slots_and_questions_name_the_person() -> None:
    known = {"v", "bare", "my", "name", "when", "do", "base"}
    for topic in ALL:
        for text in own_text(topic):
            assert {name for _, name, _, _ in string.Formatter().parse(text) if name} <= known, text
        for question in (*topic.now, *topic.past):
            assert "{name}" in question and question.endswith("?"), question
        assert all("{when}" in question for question in topic.past), topic.id
        assert all("{v}" in hint or "{bare}" in hint for hint in topic.hints), topic.id
        assert all("{do}" in text and "{base}" in text for text in topic.because), topic.id


def test_roots_and_topics_of_their_own_can_be_hinted_at() -> None:
    assert all(len(topic.hints) >= 3 for topic in (*TOPICS, *(group.root for group in GROUPS)))
    assert all(len(topic.because) >= 2 for group in GROUPS for topic in group.dependents)


def test_every_addition_to_small_talk_has_its_answer() -> None:
    assert all(len(theme.more) == len(theme.end) for theme in THEMES)


def test_no_name_is_shared_between_people_and_their_relations() -> None:
    assert len(set(NAMES)) == len(NAMES)
