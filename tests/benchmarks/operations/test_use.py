"""Trials of use: what is generated, and what their graders say of an observation."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.operations.benchmark import OperationsBenchmark
from memeval.benchmarks.operations.generate import generate
from memeval.benchmarks.operations.use import APART, CHANGES, FRESHNESS, GROWTH
from memeval.benchmarks.operations.use_grading import FRESH, GROWN, USERS_APART, exponent
from memeval.grading.base import Grader
from memeval.records.base import Record
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Outcome
from memeval.records.trials_of_use import ApartObservation, FreshnessObservation, GrowthObservation, Point
from tests.grading.builders import NoJudge, reply


def graded(grader: Grader, protocol: str, answer: str, outcome: Outcome = Outcome.OK) -> Grade:
    (scenario, *_), (item, *_) = generate(42, protocol, "quick")
    return grader.grade(item, scenario, [reply(item, answer, outcome=outcome)], NoJudge())


def fresh(**changed: object) -> FreshnessObservation:
    whole: dict[str, Any] = {"acknowledged": 20, "opened": True, "at_once": 20, "lags": (), "never": 0, "error": None}
    return FreshnessObservation(**{**whole, **changed})


def separate(**changed: object) -> ApartObservation:
    whole: dict[str, Any] = {"banks": True, "in_flight": 10, "opened": True, "written": 8, "acknowledged": 8}
    counts = ("lost", "doubled", "foreign_searches", "foreign_first", "foreign_texts", "errors")
    return ApartObservation(**{**whole, **dict.fromkeys(counts, 0), "searches": 16, "error": None, **changed})


@pytest.mark.parametrize("protocol", [FRESHNESS, CHANGES, APART, GROWTH])
@pytest.mark.parametrize("tier", ["full", "thousand", "quick"])
def test_the_trials_of_a_protocol_are_those_of_the_catalogue_and_follow_from_the_seed(protocol: str, tier: str) -> None:
    scenarios, items = generate(42, protocol, tier)
    assert (scenarios, items) == generate(42, protocol, tier) != generate(43, protocol, tier)
    assert len({item.item_id for item in items}) == len(items)
    (stated,) = [each for each in OperationsBenchmark.info.protocols if each.name == protocol]
    assert {item.category for item in items} == {category.name for category in stated.categories}
    if tier == "full":
        for category in stated.categories:
            assert sum(item.category == category.name for item in items) == category.items


@pytest.mark.parametrize(
    ("grader", "protocol", "seen", "passes", "said"),
    [
        (FRESH, FRESHNESS, fresh(), True, "20 of 20 changes showed at once"),
        (FRESH, FRESHNESS, fresh(at_once=19, lags=(0.2,)), False, "1 later"),
        (FRESH, FRESHNESS, fresh(acknowledged=0, at_once=0, opened=False, error="locked"), False, "refused: locked"),
        (USERS_APART, APART, separate(), True, "with a bank for each user"),
        (USERS_APART, APART, separate(lost=1), False, "1 lost"),
        (USERS_APART, APART, separate(acknowledged=7), False, "7 of 8 texts were acknowledged"),
        (USERS_APART, APART, separate(foreign_searches=3, banks=False), False, "with the name of the user"),
    ],
)
def test_a_trial_passes_only_without_any_fault_and_says_what_it_saw(
    grader: Grader, protocol: str, seen: Record, passes: bool, said: str
) -> None:
    grade = graded(grader, protocol, seen.to_json())
    assert grade.verdict is passes and grade.reason is not None and said in grade.reason


def test_a_lag_of_a_change_that_never_shows_is_absent_and_not_zero() -> None:
    metrics = graded(FRESH, FRESHNESS, fresh(at_once=10, lags=(1.0,) * 8, never=2).to_json()).metrics
    assert (metrics["lag_p50"], metrics["lag_p95"], metrics["never"]) == (0.0, None, 0.1)


@pytest.mark.parametrize("answer", ["", "{}", "not JSON", '{"acknowledged": "20"}'])
def test_an_answer_that_is_no_observation_is_wrong(answer: str) -> None:
    assert graded(FRESH, FRESHNESS, answer).verdict is False


def test_a_trial_that_could_not_be_made_has_no_verdict() -> None:
    assert graded(GROWN, GROWTH, "", Outcome.ADAPTER_ERROR).state is GradeState.ADAPTER_ERROR


def point(size: int, seconds: float) -> Point:
    times = {"write_seconds": seconds, "search_seconds": 2 * seconds, "start_seconds": 1.0}
    return Point(size=size, memory_bytes=1000 * size, disk_bytes=10 * size, **times)


def test_growth_is_given_as_ratios_to_sqlite_at_the_largest_size() -> None:
    seen = GrowthObservation(
        points=(point(10, 0.2), point(100, 2.0)), control=(point(10, 0.1), point(100, 0.1)), stopped=None
    )
    metrics = graded(GROWN, GROWTH, seen.to_json()).metrics
    assert metrics["write_ratio"] == metrics["search_ratio"] == pytest.approx(20)
    assert metrics["write_exponent"] == pytest.approx(1) and metrics["memory_each"] == pytest.approx(1000)


@given(st.floats(-2, 3), st.floats(1e-5, 10), st.lists(st.integers(1, 10**6), min_size=2, max_size=6, unique=True))
def test_an_exponent_is_that_of_an_exact_power(power: float, factor: float, sizes: list[int]) -> None:
    points = [point(size, factor * size**power) for size in sorted(sizes)]
    assert exponent(points, lambda each: each.write_seconds) == pytest.approx(power, abs=1e-6)
