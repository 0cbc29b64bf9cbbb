"""The generated data: its counts, its rules, equal bytes, and probes that an empty memory cannot pass."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from memeval.benchmarks.kit.checks import BrokenRule
from memeval.benchmarks.lifecycle.benchmark import LifecycleBenchmark
from memeval.benchmarks.lifecycle.generate import GROWTH, LARGEST_CLUSTER, PROTOCOLS, check, generate
from memeval.benchmarks.lifecycle.grading import AnsweredProbes, FoundText, fault_of_texts
from memeval.benchmarks.lifecycle.keys import ProbeKey, ProbeRule, ProbeStage, ProbeStatement
from memeval.benchmarks.lifecycle.script import Written
from memeval.benchmarks.lifecycle.words import FILLER, FRAMES, PEOPLE, TOPICS, phrases_of
from memeval.judging.text import states
from memeval.records.scenario import Forget, Ingest, Retain


def stages(protocol: str) -> list[ProbeStage]:
    keys = [item.key for written in generate(42, 3, protocol) for item in written.items]
    return [stage for key in keys if isinstance(key, ProbeKey) for stage in key.stages]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_catalogue_has_the_counts_of_the_data(protocol: str) -> None:
    made = Counter(item.category for written in generate(42, 14, protocol) for item in written.items)
    categories = LifecycleBenchmark().table(protocol)
    assert {each.name: each.items for each in categories} == dict(made)
    assert sum(each.weight or 0 for each in categories) == pytest.approx(1)
    assert len({each.weight for each in categories}) == 1


def test_there_are_at_least_400_items_in_small_clusters() -> None:
    items = [item for written in generate(42, 14, "search") for item in written.items]
    assert len(items) >= 400
    assert max(Counter(item.cluster for item in items).values()) <= LARGEST_CLUSTER


def test_scenarios_hold_no_key_and_no_request_to_forget_without_the_method() -> None:
    for protocol in ("search", "answers"):
        for written in generate(42, 1, protocol):
            assert all(not isinstance(step, Forget | Retain) for step in written.scenario.steps)
            for step in written.scenario.steps:
                if isinstance(step, Ingest):
                    assert "lifecycle" not in step.session.to_json()
    assert any(isinstance(step, Forget) for written in generate(42, 1, "banks") for step in written.scenario.steps)


def test_growth_asks_the_same_in_memories_of_three_sizes() -> None:
    asked: dict[str, set[tuple[str, ...]]] = {}
    sizes: dict[str, list[int]] = {}
    for written in generate(42, 2, "search"):
        if written.items[0].category == GROWTH:
            cluster = written.items[0].cluster
            asked.setdefault(cluster, set()).add(tuple(each.question for each in written.scenario.questions()))
            sizes.setdefault(cluster, []).append(len(written.scenario.sessions()))
    assert all(len(questions) == 1 for questions in asked.values())
    assert list(sizes.values()) == [[10, 82, 802]] * 2


def test_no_two_topics_share_a_value() -> None:
    values = [phrase.lower() for topic in TOPICS for value in topic.values for phrase in phrases_of(value)]
    assert len(values) == len(set(values))


def test_a_value_may_be_stated_without_title_or_comma_and_in_the_singular() -> None:
    assert phrases_of("Mrs. Svoboda") == ("Mrs. Svoboda", "Svoboda")
    assert phrases_of("41,300") == ("41,300", "41300")
    assert phrases_of("bee stings") == ("bee stings", "bee sting")
    assert phrases_of("The Anchor Inn") == ("The Anchor Inn", "Anchor Inn")
    assert phrases_of("Saab") == ("Saab",)


def test_nobody_else_has_the_value_of_a_user_in_a_growing_memory() -> None:
    named: dict[str, list[int]] = {}
    for written in generate(42, 3, "search"):
        for item in written.items:
            if item.category == GROWTH and isinstance(item.key, ProbeKey):
                named.setdefault(item.slices["size"], []).append(len(item.key.stages[0].wrong))
    assert set(named["1x"]) == {0, 1}
    assert min(named["10x"]) >= 1
    assert min(named["100x"]) > max(named["1x"])


def test_every_pattern_takes_every_value_and_states_it_as_a_whole_word() -> None:
    slots = {"name": "Tobias Ekström", "month": "May 2025", "relation": "boss"}
    for topic in TOPICS:
        assert topic.without in topic.retracted
        for value in topic.values:
            stating = (*topic.told, *topic.changed, topic.back, topic.remark, topic.claim, topic.mine, topic.yours)
            for pattern in (*stating, topic.form, topic.other):
                assert states(pattern.format(value=value, **slots), (value,)), (topic.id, pattern)
            asking = (topic.ask, topic.paraphrase, topic.partial, topic.indirect, topic.past, topic.about)
            for pattern in (*asking, topic.retracted):
                assert not states(pattern.format(**slots), phrases_of(value)), (topic.id, pattern)


def test_talk_and_frames_hold_no_value_of_a_topic() -> None:
    values = [phrase for topic in TOPICS for value in topic.values for phrase in phrases_of(value)]
    frames = [text for planted in FRAMES.planted for text in (planted.request, *planted.texts)]
    replies = [text for each in FRAMES.replies.values() for text in each]
    talk = [*FILLER.patterns, *FILLER.places, *FILLER.things, *FILLER.states, *FRAMES.retracted.negatives]
    for text in (*frames, *replies, *talk, FRAMES.forms.request, FRAMES.forms.text, *PEOPLE.others, *PEOPLE.relations):
        assert not [value for value in values if states(text, (value,))], text


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_wrong_statement_was_made(protocol: str) -> None:
    assert all(part.turns for stage in stages(protocol) for part in stage.wrong)


def test_a_broken_rule_is_an_error() -> None:
    written = generate(42, 1, "search")[0]
    item = written.items[0]
    assert isinstance(item.key, ProbeKey)
    (stage,) = item.key.stages
    bad = stage.model_copy(update={"wrong": stage.expected})
    key = item.key.model_copy(update={"stages": (bad,)})
    with pytest.raises(BrokenRule, match="an expected value is also wrong"):
        check(replace(written, items=(item.model_copy(update={"key": key}), *written.items[1:])))


def test_a_clock_that_goes_backwards_and_an_id_used_twice_are_errors() -> None:
    written = next(each for each in generate(42, 1, "banks") if each.items[0].category == "correct")
    first, second, *others = written.scenario.steps
    assert isinstance(first, Retain) and isinstance(second, Retain)

    def changed(step: Retain) -> Written:
        return replace(written, scenario=written.scenario.model_copy(update={"steps": (first, step, *others)}))

    check(changed(second))
    with pytest.raises(BrokenRule, match="dates are inverted"):
        check(changed(second.model_copy(update={"occurred_at": first.occurred_at})))
    with pytest.raises(BrokenRule, match="an id names two texts"):
        check(changed(second.model_copy(update={"text_id": first.text_id})))


OLD = ProbeStatement(phrases=("Dr. Old",), turns=("s001:t01",))
NEW = ProbeStatement(phrases=("Dr. New",), turns=("s002:t01",))


def text(words: str, *sources: str, known: bool = True) -> FoundText:
    return FoundText(words, frozenset(sources), known)


def fault(rule: ProbeRule, texts: Sequence[FoundText], *, expected: bool = True) -> str:
    stage = ProbeStage(rule=rule, expected=(NEW,) if expected else (), wrong=(OLD,))
    return fault_of_texts(stage, texts)


def test_the_expected_value_must_come_first() -> None:
    new, old = text("It is Dr. New.", "s002"), text("It is Dr. Old.", "s001")
    assert fault(ProbeRule.FIRST, [new, old]) == ""
    assert fault(ProbeRule.FIRST, [old, new]) == "'Dr. Old' comes before 'Dr. New'."
    assert fault(ProbeRule.FIRST, [text("Dr. Old, then Dr. New.", "s002")]) == "'Dr. Old' comes before 'Dr. New'."
    assert fault(ProbeRule.FIRST, [old]) == "No text says 'Dr. New'."
    assert fault(ProbeRule.FIRST, [text("It is Dr. New.", "s001")]) == "No text says 'Dr. New'.", "another source"


def test_a_deleted_value_is_found_by_its_words_or_by_its_source() -> None:
    assert fault(ProbeRule.ONLY, [], expected=False) == ""
    assert fault(ProbeRule.ONLY, [text("Something else.", "s003")], expected=False) == ""
    leaked = "Text 1 is about 'Dr. Old', which must not be returned."
    assert fault(ProbeRule.ONLY, [text("dr.  old again")], expected=False) == leaked
    assert fault(ProbeRule.ONLY, [text("[redacted]", "s001")], expected=False) == leaked
    assert fault(ProbeRule.ONLY, [text("Dr. Older.")], expected=False) == "", "whole words only"


def test_a_text_of_another_bank_fails_even_if_the_own_one_is_first() -> None:
    stage = ProbeStage(rule=ProbeRule.ONLY, expected=(NEW,), wrong=(OLD,))
    own, theirs = text("It is Dr. New.", "s002"), text("It is Dr. Old.", "s001")
    assert fault_of_texts(stage, [own]) == ""
    assert fault_of_texts(stage, [own, theirs]) == "Text 2 is about 'Dr. Old', which must not be returned."
    assert fault_of_texts(stage, [own, text("It is Dr. Old.")]) != "", "without a source, its words show it"


def test_an_export_without_texts_states_nothing_and_still_shows_deleted_sources() -> None:
    known = ProbeStage(rule=ProbeRule.ONLY, expected=(OLD,))
    gone = ProbeStage(rule=ProbeRule.ONLY, wrong=(OLD,))
    assert fault_of_texts(known, []) == fault_of_texts(known, [text("", "s001")]) == "No text says 'Dr. Old'."
    assert fault_of_texts(gone, []) == ""
    assert fault_of_texts(gone, [text("", "s001")]) == "Text 1 is about 'Dr. Old', which must not be returned."


@pytest.mark.parametrize(
    ("named", "known", "sentence"),
    [
        (("s002",), True, ""),
        (("s002", "s001"), True, ""),
        ((), True, "The text that says 'Dr. New' names no source."),
        (("s001",), True, "The text that says 'Dr. New' names a wrong source."),
        (("s001", "s002", "s003"), True, "The text that says 'Dr. New' names a wrong source."),
        (("s002", "x"), False, "The text that says 'Dr. New' names a source that does not exist."),
    ],
)
def test_the_first_text_with_the_value_must_name_its_source(named: tuple[str, ...], known: bool, sentence: str) -> None:
    stage = ProbeStage(rule=ProbeRule.SOURCE, expected=(NEW,))
    assert fault_of_texts(stage, [text("Dr. New", *named, known=known), text("Dr. New", "s002")]) == sentence


def test_a_text_about_somebody_else_with_the_same_value_is_passed_over() -> None:
    same = ProbeStatement(phrases=("Dr. New",), turns=("s001:t01",))
    stage = ProbeStage(rule=ProbeRule.SOURCE, expected=(NEW,), wrong=(same,))
    theirs, mine = text("My brother sees Dr. New", "s001"), text("I see Dr. New", "s002")
    assert fault_of_texts(stage, [theirs, mine]) == ""
    assert fault_of_texts(stage, [theirs]) == "The text that says 'Dr. New' names a wrong source."
    assert fault_of_texts(stage, [text("I see Dr. New"), mine]) == "The text that says 'Dr. New' names no source."
    assert fault_of_texts(stage, [text("I see Dr. New", "s001", "s002")]) == "", "a text about both"


def test_an_answer_states_the_right_value_and_no_wrong_one() -> None:
    grader, stage = AnsweredProbes(), ProbeStage(rule=ProbeRule.FIRST, expected=(NEW,), wrong=(OLD,))
    assert grader.fault(stage, [], "Dr. New.") == ""
    assert grader.fault(stage, [], "Dr. New, before that Dr. Old.") == "The answer says 'Dr. Old'."
    assert grader.fault(stage, [], "") == "The answer does not say 'Dr. New'."


def test_the_same_words_about_somebody_else_are_not_wrong_in_an_answer() -> None:
    same = ProbeStatement(phrases=("Dr. New",), turns=("s001:t01",))
    stage = ProbeStage(rule=ProbeRule.SOURCE, expected=(NEW,), wrong=(same,))
    assert AnsweredProbes().fault(stage, [text("I see Dr. New", "s002")], "Dr. New.") == ""


def test_an_answer_may_say_in_other_words_that_there_is_none() -> None:
    none = ProbeStatement(phrases=("no dentist",), turns=("s003:t01",))
    stage = ProbeStage(rule=ProbeRule.FIRST, expected=(none,), wrong=(OLD,))
    assert AnsweredProbes().fault(stage, [], "She does not have one.") == ""
    assert AnsweredProbes().fault(stage, [], "She no longer sees Dr. Old.") == "The answer says 'Dr. Old'."
