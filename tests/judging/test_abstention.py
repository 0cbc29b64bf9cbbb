"""Abstentions in many words, and sentences that only look like one. All of them are made up."""

import time
from pathlib import Path

import pytest

from memeval.judging.hedging import abstains, begins_missing, says_missing, withholds

ABSTENTIONS = Path(__file__).with_name("abstentions.txt").read_text("utf-8").splitlines()

ANSWERS = Path(__file__).with_name("plain_answers.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize("answer", ABSTENTIONS)
def test_an_abstention_in_any_words_begins_by_saying_that_this_was_not_told(answer: str) -> None:
    assert begins_missing(answer)
    assert abstains(answer, "What is the name of my pet?")


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_speaks_of_a_lack_is_no_abstention(answer: str) -> None:
    assert not begins_missing(answer) and not withholds(answer)
    assert not abstains(answer, "What happened?") or "not sure" in answer


@pytest.mark.parametrize(
    "answer",
    [
        "A raft. It is not mentioned which one.",
        "Rome. The year was not told.",
        "I am not sure: what I know about this may be out of date, so please confirm it.",
        "",
        "Sorry.",
    ],
)
def test_an_answer_that_says_something_else_first_does_not_begin_so(answer: str) -> None:
    assert not begins_missing(answer)


@pytest.mark.parametrize(
    ("answer", "withheld"),
    [
        ("Rome, but the year was not mentioned.", False),
        ("He bought rice, though the amount was not mentioned.", False),
        ("The year was not mentioned, but it was Rome.", True),
        ("I have no record of that; it may have been Rome.", True),
    ],
)
def test_what_stands_before_a_missing_detail_is_an_answer(answer: str, withheld: bool) -> None:
    assert begins_missing(answer)
    assert withholds(answer) is withheld


def test_what_an_answer_says_only_to_itself_is_no_abstention() -> None:
    assert not abstains("<think>There is no record of that?</think>Rome", "Where?")
    assert abstains("<think>Rome?</think>There is no record of that.", "Where?")


@pytest.mark.parametrize(
    "part", ["the information ", "you only ", "no ", "not ", "conversation history of the ", "i have "]
)
def test_long_texts_are_searched_in_bounded_time(part: str) -> None:
    began = time.process_time()
    says_missing(part * 10_000)
    abstains(part * 1_000 + ".", "?")
    assert time.process_time() - began < 5
