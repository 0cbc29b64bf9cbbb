"""Answers to question sets: needles, alternate rules, and a judge's cases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks import find
from memeval.benchmarks.qa.dataset import MOST_ANSWERS, controls, table
from memeval.benchmarks.qa.grading import QaExact, QaJudged
from memeval.benchmarks.qa.keys import QaKey, has_characters, holds, holds_anywhere
from memeval.grading.scoring import score
from memeval.judging.calibration import trials
from memeval.judging.prompting import Prompts, prompt_name
from memeval.judging.rules import RulesJudge
from memeval.keys import BeliefKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Outcome
from memeval.records.track import CategoryPlan
from memeval.statistics.intervals import wilson
from tests.grading.builders import fact, item, response, scenario

KEY = QaKey(needles=("Au", "gold"), reference="Its symbol is Au.")
RULES = RulesJudge()


def exact(answer: str, key: QaKey = KEY, outcome: Outcome = Outcome.OK) -> Grade:
    return QaExact().grade(item(key), scenario(), [response(answer, outcome)], RULES)


def judged(answer: str, key: QaKey = KEY) -> Grade:
    return QaJudged().grade(item(key), scenario(), [response(answer)], RULES)


def test_needles_decide_as_whole_words_and_the_published_rule_stands_beside() -> None:
    right, chance, wrong = exact("It is Au."), exact("An automat."), exact("Silver.")
    assert [each.verdict for each in (right, chance, wrong)] == [True, False, False]
    assert [each.alternates["published"] for each in (right, chance, wrong)] == [True, True, False]
    assert right.reason == "The answer holds a needle as whole words."
    assert QaExact().cases(item(KEY), scenario(), [response("Au")]) == ()


def test_all_needles_are_asked_for_where_the_row_says_so() -> None:
    both = QaKey(needles=("red", "green"), all_of=True)
    assert exact("Red and green.", both).verdict is True
    half = exact("Red.", both)
    assert half.verdict is False and half.alternates["published"] is True
    assert half.reason == "The answer does not hold all needles as whole words."


def test_rows_that_the_question_passes_are_left_out_of_one_score() -> None:
    echoed = KEY.model_copy(update={"echoed": True})
    assert exact("Au", echoed).alternates["without-echo"] is None
    assert exact("Au").alternates["without-echo"] is True
    assert judged("Its symbol is Au.", echoed).alternates["without-echo"] is None


@pytest.mark.parametrize(
    ("outcome", "state", "verdict"),
    [
        (Outcome.EMPTY, GradeState.EMPTY, False),
        (Outcome.ADAPTER_ERROR, GradeState.ADAPTER_ERROR, None),
        (Outcome.TIMEOUT, GradeState.TIMEOUT, None),
    ],
)
def test_what_is_no_answer_passes_under_no_rule(outcome: Outcome, state: GradeState, verdict: bool | None) -> None:
    grade = exact("", outcome=outcome)
    assert (grade.state, grade.verdict) == (state, verdict)
    assert grade.alternates == {"published": False, "without-echo": False}


def test_the_score_is_the_pass_rate_with_wilsons_interval() -> None:
    plan = [CategoryPlan(name="belief-update", weight=1.0, items=20, grader="exact-wb@1", shared=True)]
    for passed, low, high in ((18, 0.69897, 0.97213), (20, 0.83887, 1.0)):
        grades = [
            exact("Au" if number < passed else "Ag").model_copy(update={"item_id": str(number), "cluster": str(number)})
            for number in range(20)
        ]
        overall = score(plan, grades).overall
        assert overall.accuracy == passed / 20 and overall.interval is not None
        assert (round(overall.interval.low, 5), round(overall.interval.high, 5)) == (low, high)
        assert tuple(round(limit, 5) for limit in wilson(passed, 20)) == (low, high)


def test_a_judge_is_shown_the_reference_and_no_needle() -> None:
    key = QaKey(needles=("needle-of-ours",), reference="It is the femur.")
    (case,) = QaJudged().cases(item(key), scenario(), [response("The thigh bone.")])
    asked = Prompts().asking(case)
    assert prompt_name(key) == "qa-answer"
    assert "It is the femur." in asked and "The thigh bone." in asked and "needle-of-ours" not in asked


def test_the_prompt_is_in_the_tracks_of_question_sets_and_in_no_others() -> None:
    prompts = Prompts()
    for name in ("qa@1", "qa-smoke@1"):
        assert set(prompts.of(find(name).prompts)) == {"judge/qa-answer", "judge/reminder"}
    for name in ("beliefs@2", "locomo@1", "deepmemeval@1", "longmemeval@1"):
        assert "judge/qa-answer" not in prompts.of(find(name).prompts)


def test_the_rule_set_goes_by_the_telling_words_of_the_reference() -> None:
    assert judged("The symbol of gold is Au.").verdict is True
    assert judged("Nobody told me.").verdict is False
    assert judged("Silver, I think.").verdict is False


def test_judges_can_be_audited_on_question_sets() -> None:
    keys = [
        item(QaKey(reference=text)).model_copy(update={"item_id": f"i{number}", "cluster": str(number)})
        for number, text in enumerate(("It is the femur.", "A spider has eight legs."))
    ]
    made = trials(keys, {"i": scenario()})
    assert {(trial.kind.value, trial.expected) for trial in made} >= {("right", True), ("vague", False)}
    rulings = [(trial.expected, RULES.rule(trial.case).verdict) for trial in made]
    assert all(verdict is False for expected, verdict in rulings if not expected)


def test_keys_of_another_kind_are_a_mistake_in_the_program() -> None:
    other = item(BeliefKey(current=fact("Jest"), stale=()))
    for grader in (QaExact(), QaJudged()):
        with pytest.raises(TypeError, match="cannot use keys of kind"):
            grader.grade(other, scenario(), [response("Jest")], RULES)


ROWS = [
    ("gold", "What is the symbol of gold?", QaKey(needles=("Au",), reference="It is Au.")),
    ("painter", "Who painted it?", QaKey(needles=("Ada",), reference="An automat did, and not Ada.")),
    ("either", "Is it Kerrow or Penrow?", QaKey(needles=("Kerrow",), reference="Penrow it is not; Kerrow.")),
    ("bare", "Which letter?", QaKey(needles=("w",))),
]


def test_controls_say_who_passes_a_row_without_having_its_answer() -> None:
    words, anywhere = controls(ROWS)
    assert (words.rule, anywhere.rule) == ("exact-wb", "published")
    assert [row.echo for row in words.rows] == [False, False, True, False]
    assert [row.own for row in words.rows] == [True, True, True, None]
    assert [row.passed_by for row in words.rows] == [(), (), (), ()]
    assert [row.passed_by for row in anywhere.rows] == [("painter",), (), (), ("either",)]
    assert (words.empty, words.echoed, words.missed, words.false_passes, words.pairs) == (0, 1, 0, 0, 9)
    assert anywhere.false_pass_rate == pytest.approx(2 / 9)


def test_the_table_names_the_rows_that_others_pass() -> None:
    told = table(ROWS).splitlines()
    assert " ".join(told[1].split()) == "exact-wb 1 of 4 0 of 4 3 of 3 0 of 9 (0.0 %)"
    assert " ".join(told[2].split()) == "published 2 of 4 0 of 4 3 of 3 2 of 9 (22.2 %)"
    assert told[3:] == [
        "  gold: answers of others pass: 0, as published 1",
        "  either: its own question passes",
        "  bare: its own question passes as published; answers of others pass: 0, as published 1",
    ]


def test_the_work_on_controls_is_bounded() -> None:
    rows = [(str(number), "?", QaKey(needles=("x",), reference="y")) for number in range(MOST_ANSWERS + 100)]
    words, _ = controls(rows)
    assert words.pairs == (len(rows) - 1) * (len(rows) // 2)


TEXTS = st.text(alphabet="aAbW1 .-+é́ßß北", max_size=12)


@pytest.mark.parametrize(
    ("needle", "answer", "words", "anywhere"),
    [
        ("Paris", "It is PARIS.", True, True),
        ("Paris", "A comparison", False, True),
        ("Paris", "It is Lima.", False, False),
        ("100", "In 1100 or 1000", False, True),
        ("100", "At 100°", True, True),
        ("W", "a word", False, True),
        ("W", "Tungsten is W", True, True),
        ("w", "Tungsten is W", False, True),  # one or two characters are looked for as they are written
        ("Au", "a restaurant, au pair", False, True),
        ("Au", "(Au)", True, True),
        ("C++", "C++11 it is", True, True),  # its end is no letter, so nothing bounds it there
        ("+1", "x+1", True, True),
        ("+1", "x+12", False, True),
        ("New York", "in new york.", True, True),
        ("New York", "New Yorkers", False, True),
        ("café", "A cafe\u0301 by the sea", True, False),  # an accent written as a sign of its own
        ("cafe", "A cafe\u0301 by the sea", False, True),
        ("Straße", "STRASSE", True, False),
        ("CO₂", "it is CO₂.", True, True),
        ("北京", "首都是北京市", True, True),  # no signs between words
        ("北京", "北京。", True, True),
        ("snake_case", "a snake_case_name", True, True),  # an underscore is neither letter nor digit
        (" ", "a b", False, True),
        ("", "anything", False, False),
        ("x", "", False, False),
    ],
)
def test_a_needle_is_found_as_a_whole_word_or_anywhere(needle: str, answer: str, words: bool, anywhere: bool) -> None:
    assert (holds(answer, [needle]), holds_anywhere(answer, [needle])) == (words, anywhere)


def test_one_needle_is_enough_unless_all_are_required_and_blank_ones_are_ignored() -> None:
    assert holds("red and green", ["blue", "green"]) and not holds("red and green", ["blue", "green"], all_of=True)
    assert holds("red and green", ["green", "", "red"], all_of=True)
    assert not holds("red", []) and not holds("red", ["", " ", "\u200b"], all_of=True)
    assert not holds_anywhere("red", [""])


@given(TEXTS, TEXTS)
def test_separate_needles_are_found_and_found_needles_are_present(needle: str, answer: str) -> None:
    if has_characters(needle):
        assert holds(f"{answer}\n{needle}\n{answer}", [needle])
    if holds(answer, [needle]) and needle.isascii() and answer.isascii():
        assert holds_anywhere(answer, [needle])
