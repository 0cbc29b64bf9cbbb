"""The table: weights, protocols, ceilings, and what the catalogue says."""

from collections.abc import Callable

import pytest

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.locomo import LocomoBenchmark
from memeval.benchmarks.locomo.keys import LocomoCategory
from memeval.grading.scoring import score
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey
from memeval.records.grade import Grade
from memeval.records.track import CategoryPlan
from tests.benchmarks.locomo.samples import locomo, made
from tests.grading.builders import reply

Answer = Callable[[ItemKey, str], str]

NAMES = ["single-hop", "multi-hop", "temporal", "open-domain", "adversarial"]


def test_every_question_counts_the_same() -> None:
    keys = list(made().answer_keys())
    plan = LocomoBenchmark().plan(keys)
    assert [(c.name, c.items, c.weight) for c in plan] == [
        ("single-hop", 3, 3 / 8),
        ("multi-hop", 1, 1 / 8),
        ("temporal", 1, 1 / 8),
        ("open-domain", 1, 1 / 8),
        ("adversarial", 2, 2 / 8),
    ]
    assert {c.grader for c in plan} == {"locomo-f1@2"}
    assert all(c.shared for c in plan)


def test_a_judge_has_adversarial_questions_apart() -> None:
    keys = list(made().answer_keys())
    by_name = {c.name: c for c in LocomoBenchmark().plan(keys, "judge")}
    assert by_name["adversarial"] == CategoryPlan(
        name="adversarial", weight=0.0, items=2, grader="locomo-judged@2", shared=False
    )
    assert by_name["single-hop"].weight == 3 / 6


def test_retrieval_counts_what_has_evidence() -> None:
    benchmark = LocomoBenchmark()
    asked = benchmark.asked(tuple(made().answer_keys()), "retrieval")
    plan = benchmark.plan(asked, "retrieval")
    assert {c.name: c.items for c in plan} == {"single-hop": 2, "multi-hop": 1, "temporal": 1, "adversarial": 2}
    assert {c.grader for c in plan} == {"retrieval@2"}


def test_the_catalogue_is_whole() -> None:
    info = LocomoBenchmark.info
    assert [category.name for category in info.categories] == NAMES
    assert set(NAMES) == set(LocomoCategory)
    assert info.items == 1986
    assert [each.name for each in info.protocols] == ["f1", "judge", "retrieval"]
    assert {each.headline.replace("@5", "@k") for each in info.protocols} <= {metric.name for metric in info.metrics}
    assert info.tiers[0].name == "full" and info.tiers[0].items == info.items
    assert info.example is not None
    assert [question.category for question in info.example.questions] == NAMES
    assert [category.answerable for category in info.categories] == [True] * 4 + [False]


def test_the_ceilings_are_the_published_ones() -> None:
    ceilings = {each.name: (each.ceiling, each.items) for each in LocomoBenchmark.info.categories if each.ceiling}
    assert {name: round(100 * share, 2) for name, (share, _) in ceilings.items()} == {
        "multi-hop": 90.07,
        "temporal": 91.90,
        "open-domain": 90.62,
        "single-hop": 95.72,
    }
    assert sum(round(share * items) for share, items in ceilings.values()) == 1441
    assert sum(items for _, items in ceilings.values()) == 1540


ORDER = ("multi-hop", "temporal", "open-domain", "single-hop", "adversarial")


def gold(key: ItemKey, question: str) -> str:
    return "Not mentioned in the conversation" if key.category == "adversarial" else locomo(key).answer or ""


def always(text: str) -> Answer:
    return lambda key, question: text


@pytest.mark.parametrize(
    ("answer", "by_category", "rounded", "unrounded"),
    [
        (gold, (1, 1, 0.9274, 1, 1), 0.996490, 0.9964898342410493),
        (
            always("Not mentioned in the conversation"),
            (0.0046, 0.0137, 0.0229, 0.0104, 1),
            0.232967,
            0.2329666564761494,
        ),
        (always("No information available."), (0.0071, 0.0016, 0.0350, 0.0011, 1), 0.227977, 0.2279769282412787),
        (lambda key, question: question, (0.0325, 0.0115, 0.0721, 0.0459, 0), 0.029401, 0.029395667717728797),
        (always(""), (0, 0, 0, 0, 0), 0, 0),
    ],
    ids=["gold", "not mentioned", "no information", "question", "empty"],
)
def test_golden_controls(
    dataset: Dataset, answer: Answer, by_category: tuple[float, ...], rounded: float, unrounded: float
) -> None:
    benchmark, keys, judge = LocomoBenchmark(), list(dataset.answer_keys()), RulesJudge()
    graders = {category.name: category.grader for category in benchmark.categories}
    questions = {ask.question_id: ask.question for scenario in dataset.scenarios() for ask in scenario.questions()}

    def graded(key: ItemKey) -> Grade:
        text = answer(key, questions[key.item_id])
        return graders[key.category].grade(key, dataset.scenario(key.scenario_id), [reply(key, text)], judge)

    found = score(benchmark.plan(keys), [graded(key) for key in keys])
    assert found.composite.value == pytest.approx(rounded, abs=5e-7)
    assert found.alternates["unrounded"].value == pytest.approx(unrounded, abs=1e-12)
    shares = {category.name: category.alternates["unrounded"].accuracy for category in found.categories}
    assert [shares[name] for name in ORDER] == pytest.approx(by_category, abs=5e-5)
