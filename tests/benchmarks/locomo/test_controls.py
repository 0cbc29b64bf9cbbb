"""Whole-dataset controls: constant answers and the reference answers, through the real graders and scores.

The figures are those of the authors' code at 3eb6f2c with nltk 3.10.4.
"""

from collections.abc import Callable

import pytest

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.locomo import LocomoBenchmark
from memeval.grading.scoring import score
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey
from memeval.records.grade import Grade
from memeval.records.response import Outcome, Response, Timings
from tests.benchmarks.locomo.samples import locomo

ORDER = ("multi-hop", "temporal", "open-domain", "single-hop", "adversarial")
TIMINGS = Timings(started="2026-01-01T00:00:00Z")


def gold(key: ItemKey, question: str) -> str:
    return "Not mentioned in the conversation" if key.category == "adversarial" else locomo(key).answer or ""


@pytest.mark.parametrize(
    ("answer", "by_category", "rounded", "unrounded"),
    [
        (gold, (1, 1, 0.9274, 1, 1), 0.996490, 0.9964898342410493),
        (
            lambda key, question: "Not mentioned in the conversation",
            (0.0046, 0.0137, 0.0229, 0.0104, 1),
            0.232967,
            0.2329666564761494,
        ),
        (
            lambda key, question: "No information available.",
            (0.0071, 0.0016, 0.0350, 0.0011, 1),
            0.227977,
            0.2279769282412787,
        ),
        (lambda key, question: question, (0.0325, 0.0115, 0.0721, 0.0459, 0), 0.029401, 0.029395667717728797),
        (lambda key, question: "", (0, 0, 0, 0, 0), 0, 0),
    ],
    ids=["gold", "not mentioned", "no information", "question", "empty"],
)
def test_golden_controls(
    dataset: Dataset,
    answer: Callable[[ItemKey, str], str],
    by_category: tuple[float, ...],
    rounded: float,
    unrounded: float,
) -> None:
    benchmark, keys, judge = LocomoBenchmark(), list(dataset.answer_keys()), RulesJudge()
    graders = {category.name: category.grader for category in benchmark.categories}
    questions = {ask.question_id: ask.question for scenario in dataset.scenarios() for ask in scenario.questions()}

    def graded(key: ItemKey) -> Grade:
        text = answer(key, questions[key.item_id])
        response = Response(
            item_id=key.item_id,
            scenario_id=key.scenario_id,
            question_id=key.item_id,
            outcome=Outcome.OK if text else Outcome.EMPTY,
            answer=text,
            timings=TIMINGS,
        )
        return graders[key.category].grade(key, dataset.scenario(key.scenario_id), [response], judge)

    found = score(benchmark.plan(keys), [graded(key) for key in keys])
    assert found.composite.value == pytest.approx(rounded, abs=5e-7)
    assert found.alternates["unrounded"].value == pytest.approx(unrounded, abs=1e-12)
    shares = {category.name: category.alternates["unrounded"].accuracy for category in found.categories}
    assert [shares[name] for name in ORDER] == pytest.approx(by_category, abs=5e-5)
