"""The search for steps, shown on the page *Read trends*, keeps its promise."""

import json
from typing import Any

import numpy as np
import pytest

from bench.steps import (
    AGAIN,
    HISTORIES,
    NOISE,
    OUT,
    POINTS,
    TRACKS,
    VERSIONS,
    again,
    false_steps,
    made_history,
)
from memeval.statistics.intervals import wilson
from tests.support.commands import ROOT

RESULT: dict[str, list[dict[str, Any]]] = json.loads((ROOT / OUT).read_text("utf-8"))


def test_at_most_five_of_a_hundred_histories_without_a_change_show_a_step() -> None:
    shares = [row["share"] for row in RESULT["false"]]
    assert len(shares) == len(TRACKS) * len(NOISE) * len(VERSIONS)
    assert float(np.mean(shares)) <= 0.05
    chance = 3 * (0.05 * 0.95 / HISTORIES) ** 0.5
    assert max(shares) <= 0.05 + chance, "of 1,000 histories, more than 70 would show that the level is not kept"


def test_no_cell_is_above_five_of_a_hundred_beyond_chance() -> None:
    (repeated,) = RESULT["again"]
    assert repeated["histories"] == AGAIN >= 20 * HISTORIES
    cells = [(row["share"], HISTORIES) for row in RESULT["false"]] + [(repeated["share"], AGAIN)]
    assert all(wilson(round(share * histories), histories)[0] <= 0.05 for share, histories in cells)
    most = max(RESULT["false"], key=lambda row: float(row["share"]))
    assert [repeated[name] for name in ("benchmark", "noise", "versions")] == [
        most[name] for name in ("benchmark", "noise", "versions")
    ]


def test_a_larger_step_is_found_more_often() -> None:
    for row in RESULT["power"]:
        assert list(row["power"]) == [str(points) for points in POINTS]
        assert row["power"]["6"] >= 0.8
        assert row["power"]["6"] >= row["power"]["1"]


@pytest.mark.parametrize("benchmark", TRACKS)
def test_a_made_step_has_its_size_on_average(benchmark: str) -> None:
    made = made_history(benchmark, 7)
    sizes = []
    for _ in range(40):
        versions = made.versions(2, 0.0, together=False)
        made.lose(versions, 1, 4)
        before, after = made.parts(versions).sum(axis=1)
        sizes.append(100 * (before - after))
    assert float(np.mean(sizes)) == pytest.approx(4, abs=0.5)


def test_the_simulation_runs() -> None:
    found = list(false_steps(1))
    assert [row["share"] in (0, 1) for row in found] == [True] * len(found)
    assert again(found, 1)["share"] in (0, 1)
