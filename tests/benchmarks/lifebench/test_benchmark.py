"""Protocols, tiers, and runs of controls on a made-up user."""

from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.lifebench import LifeBenchBenchmark
from memeval.benchmarks.lifebench.benchmark import TIERS
from memeval.benchmarks.lifebench.dataset import LifeBenchDataset
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.evaluation.verify.verification import verify_run
from memeval.systems.controls import CONTROLS
from memeval.systems.source import control_source
from tests.benchmarks.lifebench.samples import ROWS, USER, write_user
from tests.support.model_server import ModelServer


@pytest.mark.parametrize(
    ("protocol", "places"),
    [("retrieval", [0, 1, 3, 5]), ("choice", [1, 5]), ("abstain", [0, 2, 3, 4]), ("judge", [0, 3, 4])],
)
def test_a_protocol_asks_what_it_can_grade(dataset: LifeBenchDataset, protocol: str, places: list[int]) -> None:
    asked = LifeBenchBenchmark().asked(tuple(dataset.answer_keys()), protocol)
    assert [key.item_id for key in asked] == [f"{USER}:{place}" for place in places]
    assert {key.cluster for key in asked} == {USER}


def test_the_tier_full_has_ten_users_each_a_cluster(tmp_path: Path) -> None:
    for user in TIERS["full"]:
        write_user(tmp_path, ROWS[:2], user=user)
    benchmark = LifeBenchBenchmark()
    assert benchmark.available(tmp_path)
    dataset = benchmark.open(tmp_path)
    assert len({key.cluster for key in dataset.answer_keys()}) == 10
    assert [scenario.scenario_id for scenario in dataset.scenarios()] == list(TIERS["full"])
    first = dataset.scenario(TIERS["full"][0])
    assert first is dataset.scenario(TIERS["full"][0])
    assert len({dataset.scenario(user).scenario_id for user in TIERS["full"][1:]}) == 9
    assert first is not dataset.scenario(TIERS["full"][0]), "only a few histories stay in memory"
    assert dataset.digest != benchmark.opened(tmp_path, None, "retrieval", "quick").digest


def test_abstention_counts_only_questions_without_an_answer(small: Path) -> None:
    session = BenchmarkSession.open(LifeBenchBenchmark(), small, protocol="abstain", tier="quick")
    weights = {each.name: each.weight for each in session.benchmark.plan(session.keys, "abstain")}
    assert weights == {"information": 0, "multi-hop": 0, "temporal": 0, "unanswerable": 1}


@pytest.mark.parametrize("protocol", ["retrieval", "choice", "abstain", "judge"])
def test_a_control_runs_verifies_and_reproduces(small: Path, tmp_path: Path, protocol: str) -> None:
    session = BenchmarkSession.open(LifeBenchBenchmark(), small, protocol=protocol, tier="quick")
    run = run_system(
        control_source(CONTROLS["bm25"]), session, RunOptions(results=tmp_path, protocol=protocol, tier="quick")
    )
    assert run.run.coverage.done == len(session.keys) and run.run.scores.overall.errors == 0
    assert reproduce_run(RunFolder(run.path), small).equal
    assert not verify_run(RunFolder(run.path))


def test_a_judge_is_asked_once_per_criterion_and_its_replies_reproduce(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = BenchmarkSession.open(LifeBenchBenchmark(), small, protocol="judge", tier="quick")
    with ModelServer(answer=lambda body: "no" if "Names the train." in str(body) else "yes") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "placeholder")
        options = RunOptions(results=tmp_path, protocol="judge", judge="openai:gpt-4o-mini", judge_label="loopback")
        run = run_system(control_source(CONTROLS["bm25"]), session, options)
    assert len(list(run.judgments())) == 5, "two criteria of two answers, and one of the third"
    assert {grade.item_id: (grade.credit, grade.verdict) for grade in run.grades()} == {
        f"{USER}:0": (0.75, False),
        f"{USER}:3": (1.0, True),
        f"{USER}:4": (1.0, True),
    }
    assert set(run.run.track.prompts) == {"judge/lifebench-point", "judge/reminder"}
    again = RunFolder(run.path)
    assert reproduce_run(again, small).equal and not verify_run(again)
