"""Inspect's own runner evaluates a benchmark of memeval as a task, and its reader opens the log."""

import json
from pathlib import Path
from typing import Any

import pytest

import memeval
from tests.support.products import INSPECT, run_with

pytestmark = pytest.mark.products

SCRIPT = Path(__file__).parents[2] / "support" / "run_inspect_tasks.py"


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    done = run_with(INSPECT, str(SCRIPT), str(tmp_path_factory.mktemp("logs")))
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_task_with_an_offline_reader_has_the_scores_of_a_run(said: dict[str, Any], tmp_path: Path) -> None:
    options = memeval.RunOptions(results=tmp_path, protocol="judge", tier="quick", reader="extractive")
    [run] = memeval.run("bm25", "beliefs@2", options=options)
    task, scores = said["offline"], run.run.scores
    assert (task["task"], task["status"], task["version"]) == ("memeval/beliefs", "success", "2")
    assert task["metrics"]["composite"] == pytest.approx(scores.composite.value)
    for category in scores.categories:
        assert task["metrics"][category.name] == pytest.approx(category.tally.accuracy)
    assert len(task["samples"]) == scores.overall.planned


def test_a_model_answers_from_what_the_system_returns(said: dict[str, Any]) -> None:
    samples = said["model"]["samples"]
    assert len(samples) == 6, "three samples in two epochs"
    for sample in samples:
        *_, prompt, answer = sample["messages"]
        assert sample["input"] in prompt and "\n[202" in prompt and answer == "I do not know."
        assert sample["metadata"]["memeval"]["benchmark"] == "beliefs@2"


def test_the_answer_of_another_solver_is_scored(said: dict[str, Any]) -> None:
    samples = said["other"]["samples"]
    assert [sample["value"] for sample in samples if sample["metadata"]["category"] != "context-efficiency"]
    assert all(sample["value"] == 1.0 for sample in samples if sample["metadata"]["category"] != "context-efficiency")
