"""The simulation of the ranks: its made-up boards, its results and its page."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bench.simulation.__main__ as simulation
from bench.simulation.__main__ import OUT, SYSTEMS, board_of, coverage_of, pair_of, wide_board
from bench.simulation.index import index_of
from bench.simulation.page import PAGE, page_of
from bench.simulation.world import World, layouts
from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from tests.support.commands import ROOT
from tests.support.data import test_data

RESULT = json.loads((ROOT / OUT).read_text(encoding="utf-8"))


def test_systems_score_what_they_should() -> None:
    world, random = World(layouts()["locomo@1"]), np.random.default_rng(1)
    skills = np.array([0.1, 0.5, 0.88])
    shares = np.mean([world.scores(skills, random).mean(axis=1) for _ in range(200)], axis=0)
    assert shares == pytest.approx(skills, abs=0.015)


def test_a_small_simulation_keeps_its_error_rate_and_finds_large_differences() -> None:
    found = board_of("deepmemeval@1", 8, repeats=60, power_repeats=10)
    assert isinstance(found["error"], float) and isinstance(found["power"], dict)
    assert found["error"] <= 0.15
    assert found["power"]["2"] < found["power"]["8"]


def test_a_pair_compared_alone_is_told_apart_more_often_the_further_apart_it_is() -> None:
    found = pair_of("deepmemeval@1", 60)["power"]
    assert isinstance(found, dict)
    assert found["2"] < found["5"] < found["8"]


def test_intervals_hold_the_truth_in_most_boards() -> None:
    found = coverage_of("longmemeval@1", 60)
    assert all(isinstance(found[name], float) and found[name] >= 0.85 for name in ("score", "difference"))  # type: ignore[operator]


def test_ten_conversations_tell_88_from_18_among_200_systems() -> None:
    found = wide_board(1)
    assert found["ends_apart"] == 1.0


def test_the_stored_result_keeps_what_it_promises() -> None:
    assert RESULT["repeats"] >= 2000
    assert {(each["layout"], each["systems"]) for each in RESULT["boards"]} == {
        (name, systems) for name in layouts() for systems in SYSTEMS
    }
    spread = 3 * (0.05 * 0.95 / RESULT["repeats"]) ** 0.5
    assert all(each["error"] <= 0.05 + spread for each in RESULT["boards"])
    power = {each["layout"]: each["power"] for each in RESULT["pairs"]}
    assert power["beliefs@2"]["3"] > 3 * power["deepmemeval@1"]["3"], "more people and items tell more apart"
    assert power["beliefs@2"]["5"] > 0.9
    assert RESULT["wide"]["ends_apart"] > 0.99
    assert all(each["difference"] >= 0.93 and each["score"] >= 0.91 for each in RESULT["coverage"])


def test_the_page_says_what_the_result_says() -> None:
    assert (ROOT / PAGE).read_text(encoding="utf-8") == page_of(RESULT)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "file", "protocol"),
    [
        ("beliefs@2", None, "retrieval"),
        ("deepmemeval@1", "deepmemeval/deepmemeval_500.json", "judge"),
        ("locomo@1", "locomo/locomo10.json", "f1"),
    ],
)
def test_a_layout_is_that_of_the_benchmark(name: str, file: str | None, protocol: str) -> None:
    session = BenchmarkSession.open(find(name), None if file is None else test_data(file), protocol=protocol)
    layout = layouts()[name]
    plan = session.benchmark.plan(session.keys, session.protocol, session.tier)
    assert [(each.name, each.items, each.shared) for each in layout.plan] == [
        (each.name, each.items, each.shared) for each in plan
    ]
    assert [each.weight for each in layout.plan] == pytest.approx([each.weight for each in plan])
    wanted: dict[str, list[int]] = {}
    for key in session.keys:
        wanted.setdefault(key.cluster, [0] * len(plan))[[each.name for each in plan].index(key.category)] += 1
    found = np.zeros((len(layout.clusters), len(plan)), dtype=int)
    np.add.at(found, (layout.cluster, layout.category), 1)
    assert sorted(found.tolist()) == sorted(wanted.values())


def test_the_table_of_stored_runs_is_computed_alone_and_the_rest_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, pages = tmp_path / "simulation.json", list[dict[str, object]]()
    out.write_text(json.dumps(RESULT | {"stored": []}), encoding="utf-8")
    monkeypatch.setattr(simulation, "OUT", out)
    monkeypatch.setattr(simulation, "write_page", pages.append)
    monkeypatch.setattr(simulation, "stored_power", lambda *_: iter([{"layout": "beliefs@2", "pairs": 1}]))
    simulation.again("stored")
    (shown,) = pages
    assert shown == json.loads(out.read_text(encoding="utf-8"))
    assert shown == RESULT | {"stored": [{"layout": "beliefs@2", "pairs": 1}]}


def test_real_systems_three_points_apart_are_told_apart_on_beliefs_2() -> None:
    boards = [each for each in RESULT["stored"] if each["layout"] == "beliefs@2"]
    assert {each["protocol"]: each["pairs"] for each in boards} == {"judge": 21, "retrieval": 21}
    assert all(each["least"]["3"] >= 0.8 for each in boards)


def test_intervals_and_ties_of_an_index_keep_their_promise() -> None:
    found = RESULT["index"]
    assert all(0.93 <= found[kind]["coverage"] <= 0.97 for kind in ("equal", "unlike", "one"))
    assert all(found[kind]["error"] <= 0.05 for kind in ("equal", "unlike"))
    assert found["power"]["6 to 12"] > 0.9, "ten conversations count beside hundreds of people"


def test_a_small_simulation_of_an_index_is_like_the_stored_one() -> None:
    found: Any = index_of(6, 256)
    assert found.keys() == RESULT["index"].keys()
    assert found["power"]["12 to 100"] == 1
    assert found["unlike"]["coverage"] > 0.8
