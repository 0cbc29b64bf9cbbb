"""The benchmark as the rest of memeval sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memeval.benchmarks.beliefs import BeliefsBenchmark
from memeval.records.errors import BadInput

BENCHMARK = BeliefsBenchmark()

DEFAULT_DIGEST = "sha256:3421c217e842a9654be093eb09fccbd8f28dce186fc95c171a015220566a8c59"
"""Golden: our own generator at seed 42 and size 500. A change here changes the data of beliefs@1, which is a new
version of the benchmark once a release holds runs on it."""


def test_the_default_data_is_what_it_was() -> None:
    assert BENCHMARK.open().digest == DEFAULT_DIGEST


def test_other_seeds_and_sizes_give_other_data() -> None:
    digests = {BENCHMARK.open(parameters={"seed": seed, "size": size}).digest for seed in (1, 2) for size in (20, 30)}
    assert len(digests) == 4


def test_defaults_are_named_in_the_parameters() -> None:
    assert BENCHMARK.open().parameters == {"seed": 42, "size": 500}
    assert BENCHMARK.open(parameters={"size": "12"}).parameters == {"seed": 42, "size": 12}


def test_scenarios_and_keys_come_in_the_same_order() -> None:
    data = BENCHMARK.open(parameters={"size": 25})
    keys = list(data.keys())
    assert [scenario.scenario_id for scenario in data.scenarios()] == [key.scenario_id for key in keys]


def test_the_plan_is_the_table() -> None:
    plan = BENCHMARK.plan(list(BENCHMARK.open().keys()))
    assert [(line.items, line.weight) for line in plan] == [
        (100, 0.25),
        (80, 0.15),
        (80, 0.20),
        (80, 0.15),
        (80, 0.10),
        (80, 0.15),
    ]
    assert sum(line.weight for line in plan) == pytest.approx(1.0)


def test_every_category_is_described() -> None:
    assert [info.name for info in BENCHMARK.info.categories] == [category.name for category in BENCHMARK.categories]
    assert "Synthetic" in BENCHMARK.info.made
    assert "not comparable" in BENCHMARK.info.made
    assert set(BENCHMARK.info.alternates) == {"published", "substring"}


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"sead": 1}, "no parameter 'sead'"),
        ({"seed": "many"}, "whole number"),
        ({"size": 0}, "invalid size=0. It must be from 1 to"),
        ({"size": 5001}, "invalid size=5001. It must be from 1 to"),
        ({"seed": -1}, "0 or more"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_with_a_sentence(
    parameters: dict[str, str | int], words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        BENCHMARK.open(parameters=parameters)


def test_a_path_is_refused_because_the_data_is_generated() -> None:
    with pytest.raises(BadInput, match="generated"):
        BENCHMARK.open(path=Path("beliefs.json"))
