"""The rule set against references in words. All questions and answers here are synthetic."""

import time

import pytest

from memeval.benchmarks.locomo.keys import LocomoCategory, LocomoKey
from memeval.benchmarks.longmemeval.keys import LongMemEvalKey, LongMemEvalType
from memeval.judging.base import Case
from memeval.judging.hedging import says_missing
from memeval.judging.rules import RulesJudge
from memeval.keys import AnswerKey
from memeval.records.grade import Flag
from tests.grading.builders import scenario
from tests.judging.cases import KEYS

SINGLE, MULTI, TEMPORAL, OPEN = (
    LocomoCategory.SINGLE_HOP,
    LocomoCategory.MULTI_HOP,
    LocomoCategory.TEMPORAL,
    LocomoCategory.OPEN_DOMAIN,
)


def ruled(key: AnswerKey, answer: str, question: str = "What about Ada?") -> bool | None:
    return RulesJudge().rule(Case("i", question, answer, key, scenario())).verdict


def locomo(category: LocomoCategory, reference: str) -> LocomoKey:
    return LocomoKey(category=category, answer=reference)


def lme(kind: LongMemEvalType, reference: str) -> LongMemEvalKey:
    return LongMemEvalKey(question_type=kind, abstention=False, answer=reference)


@pytest.mark.parametrize(
    ("reference", "answer", "right"),
    [
        ("A red kayak", "She bought red kayaks.", True),
        ("A red kayak", "She bought a kayak.", False),
        ("seven boats", "It was 7 boats", True),
        ("seven boats", "It was 17 boats", False),
        ("Kayak (a folding one)", "A kayak.", True),
        ('"This"', 'It is called "This".', True),
        ('"This"', "It is called That.", False),
    ],
)
def test_every_telling_word_and_number_must_stand_in_the_answer(reference: str, answer: str, right: bool) -> None:
    assert ruled(locomo(SINGLE, reference), answer) is right


def test_what_the_question_says_need_not_be_said_again_unless_nothing_else_is_left() -> None:
    key = locomo(SINGLE, "Ada and Bo rowed for nine hours.")
    assert ruled(key, "Nine hours.", "How long did Ada and Bo row?") is True
    choice = locomo(SINGLE, "The red kayak")
    assert ruled(choice, "The red kayak", "The red kayak or the blue one?") is True
    assert ruled(choice, "The blue one", "The red kayak or the blue one?") is False


def test_a_repeated_question_is_not_an_answer() -> None:
    question = "Would Ada rather have the red kayak or the blue one?"
    assert ruled(locomo(SINGLE, "The red kayak"), question, question) is False


@pytest.mark.parametrize(
    ("answer", "right"),
    [("Rowing, chess, yoga", True), ("yoga and chess and rowing", True), ("Rowing and chess", False)],
)
def test_all_parts_of_a_list_are_needed_in_any_order(answer: str, right: bool) -> None:
    assert ruled(locomo(MULTI, "rowing, chess, yoga"), answer) is right


@pytest.mark.parametrize(
    ("reference", "answer", "right"),
    [
        ("5 March 2021", "on 2021-03-05", True),
        ("5 March 2021", "March 5", False),
        ("5 March 2021", "March 6, 2021", False),
        ("5 March 2021", "the week before 5 March 2021", False),
        ("The week before 5 March 2021", "the week before March 5th, 2021", True),
        ("The week before 5 March 2021", "5 March 2021", False),
        ("March 2021", "14 March 2021", True),
        ("13 August", "August 13, 2021", True),
        ("two weeks", "about 2 weeks", True),
        ("two weeks", "two days and three weeks", False),
    ],
)
def test_a_date_matches_in_any_format(reference: str, answer: str, right: bool) -> None:
    assert ruled(locomo(TEMPORAL, reference), answer) is right


def test_a_year_that_the_question_names_need_not_be_said_again() -> None:
    key = locomo(TEMPORAL, "5 March 2021")
    assert ruled(key, "March 5", "On which day in 2021?") is True
    assert ruled(key, "March 5, 2020", "On which day in 2021?") is False


@pytest.mark.parametrize(
    ("reference", "answer", "right"),
    [
        ("Yes; she grew up there", "Yes.", True),
        ("Likely yes", "yes, I think so", True),
        ("Yes; she grew up there", "In short: yes", True),
        ("Yes", "No, yes would be wrong.", False),
        ("Likely no", "Probably not.", True),
        ("No", "No information available", False),
        ("Yes", "She grew up there.", False),
        ("A raft; since it is what she has", "A raft", True),
        ("Rafts or canoes, because both are there", "canoes", True),
        ("Rafts or canoes, because both are there", "because both are there", False),
    ],
)
def test_of_an_open_reference_the_answer_counts_and_not_the_reasons(reference: str, answer: str, right: bool) -> None:
    assert ruled(locomo(OPEN, reference), answer) is right


@pytest.mark.parametrize(
    ("kind", "reference", "answer", "question", "right"),
    [
        ("knowledge-update", "12 minutes and 5 seconds (or 12:05)", "It was 12:05.", "Which time?", True),
        ("knowledge-update", "12 minutes and 5 seconds (or 12:05)", "It was 13:05.", "Which time?", False),
        ("knowledge-update", "$1,200", "First $900, and now $1200.", "How much?", True),
        ("temporal-reasoning", "7 days. 8 days (the last one too) is also acceptable.", "8 days", "How long?", True),
        ("temporal-reasoning", "7 days.", "6 days", "How many days ago?", True),
        ("temporal-reasoning", "7 days.", "5 days", "How many days ago?", False),
        ("multi-session", "7 days.", "6 days", "How many days ago?", False),
        ("multi-session", "3", "3 kayaks in all", "How many?", True),
        ("multi-session", "3", "2 kayaks:\n1. red\n2. blue\n3. none [id 3]", "How many?", False),
        ("multi-session", "3", "These:\n1. red\n2. blue\n3. green", "How many?", False),
        ("multi-session", "8 days", "3 days and then 5 days, so 8 days", "How many days?", True),
        ("single-session-preference", "Things that float", "Things that float", "What do I like?", False),
    ],
)
def test_longmemevals_ways_of_being_right(kind: str, reference: str, answer: str, question: str, right: bool) -> None:
    assert ruled(lme(LongMemEvalType(kind), reference), answer, question) is right


def test_a_rubric_is_not_judged_by_rules() -> None:
    ruling = RulesJudge().rule(Case("i", "?", "Sure.", KEYS["longmemeval-preference"], scenario()))
    assert (ruling.verdict, ruling.reason) == (False, "The reference is a rubric, which rules cannot read.")


class TestUnanswerable:
    """Where the right answer is that this was never told."""

    TRAP = LocomoKey(category=LocomoCategory.ADVERSARIAL, answer=None, trap="a red kayak")
    ABSENT = LongMemEvalKey(
        question_type=LongMemEvalType.MULTI_SESSION, abstention=True, answer="Boats were talked of, and no kayak."
    )

    @pytest.mark.parametrize("key", [TRAP, ABSENT])
    @pytest.mark.parametrize(
        "answer",
        [
            "Not mentioned in the conversation",
            "No information available.",
            "I don't know.",
            "There is no record of that.",
            "I couldn't find any mention of this. Shall I look again?",
            "You never told me what it was.",
            "The conversation doesn't say.",
        ],
    )
    def test_to_say_so_is_right(self, key: AnswerKey, answer: str) -> None:
        assert ruled(key, answer) is True

    @pytest.mark.parametrize(
        "answer",
        [
            "A red kayak.",
            "A raft. It is not mentioned which one.",
            "I am not sure: what I know about this may be out of date, so please confirm it.",
            "",
            "What about Ada?",
        ],
    )
    def test_to_say_anything_else_first_is_wrong(self, answer: str) -> None:
        assert ruled(self.TRAP, answer) is False
        assert ruled(self.ABSENT, answer) is False

    def test_to_take_the_bait_beside_it_is_wrong(self) -> None:
        assert ruled(self.TRAP, "It is not mentioned, but it must be a red kayak.") is False

    def test_a_trap_that_says_nothing_is_no_trap(self) -> None:
        key = LocomoKey(category=LocomoCategory.ADVERSARIAL, answer=None, trap="Not mentioned")
        assert ruled(key, "Not mentioned.") is True

    def test_where_there_is_an_answer_to_say_so_is_wrong_whatever_follows(self) -> None:
        key = locomo(SINGLE, "Lima")
        assert ruled(key, "There is no mention of it. Lima was talked of, though.") is False


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("That has not been discussed.", True),
        ("There isn't enough information.", True),
        ("I have no information about it", True),
        ("This cannot be determined", True),
        ("They tell stories", False),
        ("He is not sure", False),
        ("It may have changed", False),
        ("She has no dogs", False),
    ],
)
def test_doubt_is_not_a_statement_of_missing_information(text: str, missing: bool) -> None:
    assert says_missing(text) is missing


def test_most_of_the_history_is_not_an_answer() -> None:
    told = [f"On day {n} Ada rowed the red kayak to Lima and back again." for n in range(9)]
    history = scenario(told)
    ruling = RulesJudge().rule(Case("i", "Where to?", " ".join(told), locomo(SINGLE, "Lima"), history))
    assert ruling.verdict is False and Flag.CONTEXT_DUMP in ruling.flags


@pytest.mark.parametrize("part", ["\n", "[", "not it ", "1,111", "May 5 ", ". ", "or (", "yes "])
def test_hostile_answers_are_ruled_on_in_bounded_time(part: str) -> None:
    began = time.process_time()
    ruled(locomo(SINGLE, "two dogs (or 2)"), part * 10_000, "How many?")
    assert time.process_time() - began < 5
