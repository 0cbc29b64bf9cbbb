"""The rule set against references in words, compared by meaning. All questions and answers here are synthetic."""

import re
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memeval.benchmarks.locomo.keys import LocomoCategory, LocomoKey
from memeval.benchmarks.longmemeval.keys import LongMemEvalKey, LongMemEvalType
from memeval.judging.base import Case
from memeval.judging.rules import RulesJudge
from memeval.keys import AnswerKey
from tests.grading.builders import scenario
from tests.judging.cases import KEYS

SINGLE, MULTI, TEMPORAL, OPEN = (
    LocomoCategory.SINGLE_HOP,
    LocomoCategory.MULTI_HOP,
    LocomoCategory.TEMPORAL,
    LocomoCategory.OPEN_DOMAIN,
)
SCENARIO = scenario()


def ruled(key: AnswerKey, answer: str, question: str = "What about Ada?") -> bool | None:
    return RulesJudge().rule(Case("i", question, answer, key, SCENARIO)).verdict


def locomo(reference: str, category: LocomoCategory = SINGLE) -> LocomoKey:
    return LocomoKey(category=category, answer=reference)


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("Her aunt", "It was her auntie."),
        ("She bought a red kayak", "A red kayak was purchased"),
        ("She got stuck in a lift", "Getting stuck in a lift."),
        ("Many boats sank", "Lots of boats sank."),
        ("The Xenotropolis", "Xenotropoils"),
        ("a picture of ice cream", "a photo of icecream"),
        ("the United Kingdom", "The UK"),
        ("five hundred boats", "500 boats"),
        ("fourteen days", "two weeks"),
        ("two years", "24 months"),
        ("twice", "2 times"),
        ("Rowing hard each morning with the whole village club", "He rows hard every morning with a village club."),
        ("maps, brass lamps, and small carved boats", "maps, brass lamps and carved boats"),
        ("She doesn't row", "She does not row."),
        ("photography", "She is a photographer."),
    ],
)
def test_other_words_for_the_same_are_right(reference: str, answer: str) -> None:
    assert ruled(locomo(reference), answer) is True


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("Rome", "Rome or Naples"),
        ("Rome", "Either Naples or Rome."),
        ("Rome", "There are conflicting notes: Rome, and also Naples."),
        ("a red kayak", "a kayak"),
        ("a red kayak", "She did not buy the red kayak."),
        ("a red kayak", "No memory mentions a red kayak."),
        ("rowing, chess, yoga, swimming", "rowing, chess and yoga"),
        ("old friends, club friends, neighbours", "club friends and neighbours"),
        ("two cats and a dog", "a cat and two dogs"),
        ("four", "at least four"),
        ("four", "three or four"),
        ("twice", "Once, and later twice as long."),
        ("twice", "a couple of times"),
        ("She doesn't row", "She rows."),
        ("Rome", "Some city in the south, as one would expect."),
        ("Rome", ""),
        ("Rome", "I do not know."),
    ],
)
def test_alternatives_denials_parts_and_vague_answers_are_wrong(reference: str, answer: str) -> None:
    assert ruled(locomo(reference), answer, "How is it?") is False


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("rowing, chess, yoga", True),
        ("Ada likes rowing, which she began in May, and also chess and yoga.", True),
        ("Rowing (on the lake), chess and yoga. She paints as well.", True),
        ("rowing, chess, opera, yoga", False),
        ("Rowing, chess, yoga, opera and old maps", False),
    ],
)
def test_a_list_with_more_entries_is_not_the_list_that_is_wanted(answer: str, right: bool) -> None:
    assert ruled(locomo("rowing, chess, yoga", MULTI), answer, "What does Ada like?") is right


def test_the_final_answer_counts_and_not_the_way_to_it() -> None:
    assert ruled(locomo("Rome"), "She spoke of Rome once.\nAnswer: no city") is False
    assert ruled(locomo("Rome"), "She did not go to Naples.\nAnswer: Rome") is True


@pytest.mark.parametrize(
    ("reference", "answer", "right"),
    [
        ("The Friday before 15 July 2023", "July 14, 2023", True),
        ("The Friday before 15 July 2023", "7 July 2023", False),
        ("14 July 2023", "the Friday before 15 July 2023", True),
        ("14 July 2023", "a day before July 15th, 2023", True),
        ("The week before 13 October 2023", "6-12 October 2023", True),
        ("The week before 13 October 2023", "last week before 13 October 2023", True),
        ("The week before 13 October 2023", "9 October 2023", False),
        ("The week before 13 October 2023", "October 2023", False),
        ("The weekend before 22 July 2023", "July 15-16, 2023", True),
        ("first weekend of August 2023", "5 and 6 August 2023", True),
        ("June 2023", "mid-June 2023", True),
        ("June 2023", "on 12 June 2023", True),
        ("June 2023", "between 20 May 2023 and 3 June 2023", False),
        ("early June 2023", "in June 2023", False),
        ("7 May 2023", "7 May 2023 or 8 May 2023", False),
        ("7 May 2023", "before 7 May 2023", False),
        ("7 May 2023", "7 May", False),
        ("7 May 2023", "the Sunday before 3 pm on 8 May 2023", True),
        ("7 May 2023", "2023-05-07", True),
        ("Janury 5, 2024", "5 January 2024", True),
        ("10 years ago", "ten years before 27 June 2023", True),
    ],
)
def test_times_are_compared_as_days(reference: str, answer: str, right: bool) -> None:
    assert ruled(locomo(reference, TEMPORAL), answer) is right


def test_a_year_that_the_question_names_need_not_be_said_again() -> None:
    assert ruled(locomo("5 March 2021", TEMPORAL), "March 5", "On which day in 2021?") is True
    assert ruled(locomo("September 2021", TEMPORAL), "September", "In which month?") is True


@pytest.mark.parametrize(
    ("reference", "answer", "right"),
    [
        ("Yes; she grew up there", "Definitely, it is where she grew up.", True),
        ("Yes; she grew up there", "Ada would enjoy a trip to Lima, since she grew up there.", True),
        ("Yes", "Ada would not enjoy a trip to Lima.", False),
        ("Yes", "It is unclear whether Ada would enjoy a trip to Lima.", False),
        ("Likely no; she dislikes heat", "Not really, she dislikes heat.", True),
        ("Likely no; she dislikes heat", "Ada would likely not enjoy a trip to Lima.", True),
        ("Likely no", "Based on the notes, there is no evidence that Ada likes Lima.", True),
        ("Likely no", "No evidence provided.", False),
        ("Likely no", "No information available", False),
        ("No", "Ada enjoyed it.", False),
    ],
)
def test_a_verdict_may_be_said_in_a_sentence(reference: str, answer: str, right: bool) -> None:
    assert ruled(locomo(reference, OPEN), answer, "Would Ada enjoy a trip to Lima?") is right


def test_a_count_may_be_off_by_one_only_where_the_benchmark_allows_it() -> None:
    loose = LongMemEvalKey(question_type=LongMemEvalType.TEMPORAL_REASONING, abstention=False, answer="7 days.")
    assert ruled(loose, "6 days", "How many days ago?") is True
    assert ruled(loose, "5 days", "How many days ago?") is False


def test_a_rubric_is_not_judged_by_rules() -> None:
    assert ruled(KEYS["longmemeval-preference"], "Sure.") is False


@pytest.mark.parametrize(
    "part", ["\n", "[", "not it ", "1,111", "May 5 ", ". ", "or (", "yes ", "answer: ", "- ", "a-"]
)
def test_hostile_answers_are_ruled_on_in_bounded_time(part: str) -> None:
    began = time.process_time()
    ruled(locomo("two dogs (or 2)"), part * 10_000, "How many?")
    ruled(locomo("Yes", OPEN), part * 10_000, "Would Ada row?")
    assert time.process_time() - began < 5


WORDS = st.sampled_from(["kayak", "lantern", "harbour", "violin", "copper", "meadow", "saddle", "pepper"])
NUMBERS = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
LISTS = st.lists(WORDS, min_size=1, max_size=4, unique=True)


@given(LISTS, st.sampled_from([*LocomoCategory][:4]))
def test_an_empty_answer_is_never_right(named: list[str], category: LocomoCategory) -> None:
    if category is not LocomoCategory.ADVERSARIAL:
        assert ruled(locomo(", ".join(named), category), " \n ") is False


@given(WORDS, WORDS, st.sampled_from(["{} or {}", "either {} or {}", "It was {} or maybe {}.", "Perhaps {} or {}?"]))
def test_a_choice_between_the_right_and_a_stale_value_is_never_right(right: str, stale: str, form: str) -> None:
    assume(right != stale)
    assert ruled(locomo(right), form.format(right, stale)) is False
    assert ruled(locomo(right), form.format(stale, right)) is False


@given(LISTS, st.randoms(use_true_random=False))
def test_case_punctuation_and_order_do_not_matter(named: list[str], random: object) -> None:
    shuffled = sorted(named, key=lambda _: random.random())  # type: ignore[attr-defined]
    for answer in (", ".join(shuffled), " and ".join(shuffled).upper() + "!", "**" + "; ".join(shuffled) + "**."):
        assert ruled(locomo(", ".join(named)), answer) is True


@given(st.integers(2, 19), st.integers(2, 19))
def test_numbers_are_the_same_in_words_and_digits(number: int, other: int) -> None:
    named = NUMBERS[number - 2]
    assert ruled(locomo(f"{number} lanterns"), f"There were {named} lanterns.") is True
    assert ruled(locomo(named), f"{other}", "How many lanterns?") is (number == other)


@given(st.text(max_size=200), LISTS)
def test_any_text_gets_a_verdict_and_the_same_one_twice(text: str, named: list[str]) -> None:
    key = locomo(", ".join(named))
    verdict = ruled(key, text)
    assert ruled(key, text) is verdict
    assert verdict is not None or not text.isascii()
    if not re.search("|".join(name[:4] for name in named), text, re.IGNORECASE):
        assert verdict is not True
