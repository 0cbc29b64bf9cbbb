"""The rule set against references in words, compared by meaning. All questions and answers here are synthetic."""

import re
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memeval.benchmarks.locomo.keys import LocomoCategory, LocomoKey
from memeval.benchmarks.longmemeval.keys import LongMemEvalKey, LongMemEvalType
from memeval.benchmarks.qa.keys import holds
from memeval.judging.base import Case
from memeval.judging.hedging import says_missing
from memeval.judging.rules import RulesJudge
from memeval.judging.text import is_read, states
from memeval.keys import AnswerKey
from memeval.records.grade import GradeState
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
    found = RulesJudge().rule(Case("i", question, answer, key, SCENARIO))
    assert (found.state is GradeState.UNPARSED) is (found.verdict is None)
    return found.verdict


def locomo(reference: str, category: LocomoCategory = SINGLE) -> LocomoKey:
    return LocomoKey(category=category, answer=reference)


def lme(kind: LongMemEvalType, reference: str) -> LongMemEvalKey:
    return LongMemEvalKey(question_type=kind, abstention=False, answer=reference)


GROUPS: dict[str, tuple[LocomoCategory, str, list[tuple[str, str, bool | None]]]] = {
    "every telling word and number must stand in the answer": (
        SINGLE,
        "What about Ada?",
        [
            ("A red kayak", "She bought red kayaks.", True),
            ("A red kayak", "She bought a kayak.", False),
            ("seven boats", "It was 7 boats", True),
            ("seven boats", "It was 17 boats", False),
            ("Kayak (a folding one)", "A kayak.", True),
            ('"This"', 'It is called "This".', True),
            ('"This"', "It is called That.", False),
        ],
    ),
    "other words for the same are right": (
        SINGLE,
        "What about Ada?",
        [
            ("Her aunt", "It was her auntie.", True),
            ("She bought a red kayak", "A red kayak was purchased", True),
            ("She got stuck in a lift", "Getting stuck in a lift.", True),
            ("Many boats sank", "Lots of boats sank.", True),
            ("The Xenotropolis", "Xenotropoils", True),
            ("a picture of ice cream", "a photo of icecream", True),
            ("the United Kingdom", "The UK", True),
            ("five hundred boats", "500 boats", True),
            ("fourteen days", "two weeks", True),
            ("two years", "24 months", True),
            ("twice", "2 times", True),
            (
                "Rowing hard each morning with the whole village club",
                "He rows hard every morning with a village club.",
                True,
            ),
            ("maps, brass lamps, and small carved boats", "maps, brass lamps and carved boats", True),
            ("She doesn't row", "She does not row.", True),
            ("photography", "She is a photographer.", True),
        ],
    ),
    "alternatives, denials, parts and vague answers are wrong": (
        SINGLE,
        "How is it?",
        [
            ("Rome", "Rome or Naples", False),
            ("Rome", "Either Naples or Rome.", False),
            ("Rome", "There are conflicting notes: Rome, and also Naples.", False),
            ("a red kayak", "a kayak", False),
            ("a red kayak", "She did not buy the red kayak.", False),
            ("a red kayak", "No memory mentions a red kayak.", False),
            ("rowing, chess, yoga, swimming", "rowing, chess and yoga", False),
            ("old friends, club friends, neighbours", "club friends and neighbours", False),
            ("two cats and a dog", "a cat and two dogs", False),
            ("four", "at least four", False),
            ("four", "three or four", False),
            ("twice", "Once, and later twice as long.", False),
            ("twice", "a couple of times", False),
            ("She doesn't row", "She rows.", False),
            ("Rome", "Some city in the south, as one would expect.", False),
            ("Rome", "", False),
            ("Rome", "I do not know.", False),
        ],
    ),
    "a list with more entries is not the list that is wanted": (
        MULTI,
        "What does Ada like?",
        [
            ("rowing, chess, yoga", "rowing, chess, yoga", True),
            ("rowing, chess, yoga", "Ada likes rowing, which she began in May, and also chess and yoga.", True),
            ("rowing, chess, yoga", "Rowing (on the lake), chess and yoga. She paints as well.", True),
            ("rowing, chess, yoga", "rowing, chess, opera, yoga", False),
            ("rowing, chess, yoga", "Rowing, chess, yoga, opera and old maps", False),
        ],
    ),
    "all parts of a list are needed in any order": (
        MULTI,
        "What about Ada?",
        [
            ("rowing, chess, yoga", "Rowing, chess, yoga", True),
            ("rowing, chess, yoga", "yoga and chess and rowing", True),
            ("rowing, chess, yoga", "Rowing and chess", False),
        ],
    ),
    "a date matches in any format": (
        TEMPORAL,
        "What about Ada?",
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
    ),
    "times are compared as days": (
        TEMPORAL,
        "What about Ada?",
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
    ),
    "of an open reference the answer counts and not the reasons": (
        OPEN,
        "What about Ada?",
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
    ),
    "a verdict may be said in a sentence": (
        OPEN,
        "Would Ada enjoy a trip to Lima?",
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
    ),
    "an answer in another script that holds the reference is right": (
        SINGLE,
        "Where?",
        [
            ("北京", "用户住在北京。", True),
            ("北京", "北京", True),
            ("東京タワー", "昨日、東京タワーに行きました。", True),
            ("กรุงเทพ", "เขาอยู่กรุงเทพมาสิบปี", True),
            ("서울", "그는 서울에 산다.", True),
            ("Москва", "Она живёт в городе Москва.", True),
            ("Αθήνα", "Αθήνα", True),
            ("القاهرة", "القاهرة", True),
            ("４２号", "42号です", True),
        ],
    ),
    "what cannot be told is said to be unread and never wrong": (
        SINGLE,
        "Where?",
        [
            ("北京", "用户住在上海。", None),
            ("北京", "Beijing", None),
            ("北京", "用户不住在北京。", None),
            ("北京", "北京或上海", None),
            ("東京", "東京ではない", None),
            ("Москва", "Она живёт в Москве.", None),
            ("Москва", "не Москва", None),
            ("Beijing", "北京", None),
            ("Paris", "巴黎", None),
            ("Yes", "はい", None),
        ],
    ),
    "other texts are read as ever": (
        SINGLE,
        "Where?",
        [
            ("Café Müller", "the café Müller", True),
            ("Łódź", "in Łódź", True),
            ("He lives in 北京 (Beijing)", "他: he lives in 北京", True),
            ("Tokyo Tower", "東京タワー (Tokyo Tower)", True),
            ("π is about 3.14", "π is about 3.14", True),
            ("Oslo", "Lima 🎉🎉🎉", False),
        ],
    ),
}
"""References and answers with their verdicts, by what they show: category, question, rows."""


@pytest.mark.parametrize(
    ("category", "question", "reference", "answer", "right"),
    [
        pytest.param(category, question, *row, id=f"{name} {number}")
        for name, (category, question, rows) in GROUPS.items()
        for number, row in enumerate(rows)
    ],
)
def test_answers_are_right_wrong_or_unread(
    category: LocomoCategory, question: str, reference: str, answer: str, right: bool | None
) -> None:
    assert ruled(locomo(reference, category), answer, question) is right


def test_what_the_question_says_need_not_be_said_again_unless_nothing_else_is_left() -> None:
    key = locomo("Ada and Bo rowed for nine hours.")
    assert ruled(key, "Nine hours.", "How long did Ada and Bo row?") is True
    choice = locomo("The red kayak")
    assert ruled(choice, "The red kayak", "The red kayak or the blue one?") is True
    assert ruled(choice, "The blue one", "The red kayak or the blue one?") is False


def test_a_repeated_question_is_not_an_answer() -> None:
    question = "Would Ada rather have the red kayak or the blue one?"
    assert ruled(locomo("The red kayak"), question, question) is False


def test_the_final_answer_counts_and_not_the_way_to_it() -> None:
    assert ruled(locomo("Rome"), "She spoke of Rome once.\nAnswer: no city") is False
    assert ruled(locomo("Rome"), "She did not go to Naples.\nAnswer: Rome") is True


def test_a_year_that_the_question_names_need_not_be_said_again() -> None:
    assert ruled(locomo("5 March 2021", TEMPORAL), "March 5", "On which day in 2021?") is True
    assert ruled(locomo("5 March 2021", TEMPORAL), "March 5, 2020", "On which day in 2021?") is False
    assert ruled(locomo("September 2021", TEMPORAL), "September", "In which month?") is True


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
        key = locomo("Lima")
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


@pytest.mark.parametrize("name", ["belief-update", "cascade-propagation", "locomo-adversarial", "reflect-point"])
def test_no_kind_of_key_calls_an_unread_answer_wrong(name: str) -> None:
    found = RulesJudge().rule(Case("i", "What?", "用户没有提到这个。", KEYS[name], scenario()))
    assert (found.state, found.verdict) == (GradeState.UNPARSED, None)
    assert found.reason == "The answer is in a script that the rules do not read."


def test_phrases_and_needles_have_no_word_ends_in_scripts_without_spaces() -> None:
    assert states("用户住在北京。", ("北京",)) and holds("用户住在北京。", ("北京",))
    assert not states("用户住在上海。", ("北京",)) and not holds("用户住在上海。", ("北京",))


def test_digits_and_signs_are_read() -> None:
    assert is_read("") and is_read("42 €") and is_read("🎉")
    assert not is_read("北京")


@pytest.mark.parametrize("number", ["9" * 400, f"{'9' * 305} million", f"{'9' * 307}k", f"{'9' * 308} decades"])
def test_a_number_of_any_length_is_read_and_equals_no_other(number: str) -> None:
    assert ruled(locomo("7 dogs"), f"She has {number} dogs.", "How many dogs?") is False
    assert ruled(locomo("7 dogs"), f"She has 7 dogs, not {number}.", "How many dogs?") is not None


@pytest.mark.parametrize(
    "part", ["\n", "[", "not it ", "1,111", "May 5 ", ". ", "or (", "yes ", "answer: ", "- ", "a-", "9", "9 million "]
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
