"""Rules of probes: what passes, and each way to fail."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memeval.benchmarks.lifecycle.grading import AnsweredProbes, FoundText, fault_of_texts
from memeval.benchmarks.lifecycle.keys import ProbeRule, ProbeStage, ProbeStatement

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
