"""The two-option form of adversarial questions."""

import pytest

from memeval.benchmarks.locomo import LocomoBenchmark
from memeval.benchmarks.locomo.grading import abstains
from memeval.benchmarks.locomo.keys import NOT_MENTIONED, chosen, options_of, with_options
from memeval.judging.rules import RulesJudge
from memeval.records.response import Outcome, Response, Timings
from tests.benchmarks.locomo.samples import locomo, made

OPTIONS = ("The harbour", NOT_MENTIONED)


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        ("a", "The harbour"),
        (" A ", "The harbour"),
        ("(a)", "The harbour"),
        ("(A)\n", "The harbour"),
        ("b", NOT_MENTIONED),
        ("(b)", NOT_MENTIONED),
        ("?", NOT_MENTIONED),
        ("a) ", "a)"),
        ("yes", NOT_MENTIONED),
        ("(b) Not mentioned", "(b) not mentioned"),
        ("The Harbour", "the harbour"),
        ("", ""),
    ],
)
def test_letters_stand_for_options(answer: str, meant: str) -> None:
    assert chosen(answer, OPTIONS) == meant


def test_the_id_decides_the_order_and_both_orders_occur() -> None:
    orders = [options_of(f"conv-26:{place}", "x").index(NOT_MENTIONED) for place in range(200)]
    assert orders == [options_of(f"conv-26:{place}", "x").index(NOT_MENTIONED) for place in range(200)]
    assert 70 < sum(orders) < 130


def test_a_question_without_options_is_asked_as_it_is() -> None:
    assert with_options("Who?", ()) == "Who?"
    assert "(a) The harbour (b) Not mentioned" in with_options("Who?", OPTIONS)


def test_the_rule_of_the_category_knows_the_right_option() -> None:
    assert abstains(NOT_MENTIONED)


@pytest.mark.parametrize("protocol", ["f1", "judge"])
def test_a_letter_is_graded_as_its_option(protocol: str) -> None:
    dataset = made(choice=True)
    key = next(key for key in dataset.answer_keys() if key.category == "adversarial")
    right = "ab"[locomo(key).options.index(NOT_MENTIONED)]
    scenario = dataset.scenario(key.scenario_id)
    grader = {category.name: category.grader for category in LocomoBenchmark().table(protocol)}["adversarial"]
    worth = {}
    for letter in "ab":
        response = Response(
            item_id=key.item_id,
            scenario_id=key.scenario_id,
            question_id=key.item_id,
            outcome=Outcome.OK,
            answer=letter,
            timings=Timings(started="2026-01-01T00:00:00Z"),
        )
        grade = grader.grade(key, scenario, [response], RulesJudge())
        worth[letter] = grade.credit if grade.credit is not None else float(grade.verdict is True)
        answers = [case.answer for case in grader.cases(key, scenario, [response])]
        assert answers in ([], [chosen(letter, locomo(key).options)])
    assert worth == {letter: float(letter == right) for letter in "ab"}
