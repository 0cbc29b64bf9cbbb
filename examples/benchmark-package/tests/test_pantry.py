"""The benchmark as memeval finds and grades it."""

from __future__ import annotations

import pytest

from memeval.benchmarks import find
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey
from memeval.records.response import Outcome, Response, Timings
from memeval.records.scenario import Scenario

BENCHMARK = find("pantry@1")
DATASET = BENCHMARK.open()
SCENARIOS: dict[str, Scenario] = {scenario.scenario_id: scenario for scenario in DATASET.scenarios()}
KEYS: list[ItemKey] = list(DATASET.answer_keys())


def verdict(key: ItemKey, answer: str) -> bool | None:
    """Return the verdict on an answer to the question of a key."""
    response = Response(
        item_id=key.item_id,
        scenario_id=key.scenario_id,
        question_id=key.question_ids[0],
        outcome=Outcome.OK,
        answer=answer,
        timings=Timings(started="2026-03-01T00:00:00Z"),
    )
    grader = next(each.grader for each in BENCHMARK.categories if each.name == key.category)
    return grader.grade(key, SCENARIOS[key.scenario_id], [response], RulesJudge()).verdict


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.item_id)
def test_the_reference_answer_passes_and_another_one_fails(key: ItemKey) -> None:
    (reference,) = key.key.references
    assert verdict(key, reference)
    assert not verdict(key, "I would have to look.")


def test_an_answer_with_two_numbers_fails() -> None:
    honey = next(key for key in KEYS if key.item_id == "honey")
    assert not verdict(honey, "3, and then 2.")


def test_an_earlier_place_fails() -> None:
    flour = next(key for key in KEYS if key.item_id == "flour")
    assert not verdict(flour, "It is in the blue box.")


def test_the_catalogue_counts_the_items_of_the_data() -> None:
    counts = {each.name: each.items for each in BENCHMARK.info.categories}
    assert counts == {name: sum(key.category == name for key in KEYS) for name in counts}


def test_the_published_distance_follows_from_the_keys() -> None:
    numbers = [int(key.key.references[0]) for key in KEYS if key.category == "count"]
    (chart,) = BENCHMARK.info.charts
    (always_one,) = chart.published
    assert always_one.value == sum(abs(number - 1) for number in numbers) / len(numbers)
