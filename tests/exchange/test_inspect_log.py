"""Inspect's own reader finds the run's content in an exported log."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.exchange.inspect_log import write
from memeval.records.errors import BadInput
from memeval.records.track import Redistribution
from tests.exchange.exported import MISHAPS, WORDS, answered, benchmark_session, measured_exam, searched
from tests.support.elsewhere import deepmemeval_exam
from tests.support.products import inspect_says
from tests.support.runs import make_run

pytestmark = pytest.mark.products

Said = dict[str, Any]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunFolder]:
    """Runs of all kinds, by name."""
    folder = tmp_path_factory.mktemp("runs")
    for name in ("deepmemeval", "mishaps", "measured", "ids"):
        (folder / name).mkdir()
    ids = searched(folder / "ids", benchmark_session(redistribution=Redistribution.IDS))
    return {
        "deepmemeval": searched(folder / "deepmemeval", deepmemeval_exam()),
        "mishaps": answered(folder / "mishaps", benchmark_session(3), MISHAPS),
        "measured": answered(folder / "measured", measured_exam()),
        "partial": make_run(folder / "partial", "partial", {"kept": 12}, done=80),
        "made": make_run(folder / "made", "made-up", {"kept": 12}, errors=5),
        "searched": ids,
        "ids": ids,
    }


@pytest.fixture(scope="module")
def said(runs: dict[str, RunFolder], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Said]:
    """Inspect's view of each run's log; one process, because its start takes seconds."""
    benchmark_sessions: dict[str, BenchmarkSession] = {
        "deepmemeval": deepmemeval_exam(),
        "mishaps": benchmark_session(3),
        "measured": measured_exam(),
        "searched": benchmark_session(redistribution=Redistribution.IDS),
    }
    logs = []
    for name, run in runs.items():
        (path,) = write(run, benchmark_sessions.get(name), tmp_path_factory.mktemp(name) / f"{name}.eval")
        logs.append(path)
    return dict(zip(runs, inspect_says(*logs), strict=True))


def metrics(said: Said, score: str = "memeval") -> dict[str, float]:
    (found,) = [each for each in said["head"]["results"]["scores"] if each["name"] == score]
    return {name: metric["value"] for name, metric in found["metrics"].items()}


def test_every_log_is_read_written_again_and_found_in_its_folder(said: dict[str, Said]) -> None:
    for name, one in said.items():
        assert one["same"], name
        assert one["head"]["status"] == "success"
        assert one["listed"] == [f"{name}.eval"]
        assert one["one"] == one["samples"][0]["id"]
        assert {each["id"] for each in one["summaries"]} == {each["id"] for each in one["samples"]}


def test_the_scores_shown_are_those_of_the_run(said: dict[str, Said], runs: dict[str, RunFolder]) -> None:
    for name, one in said.items():
        scores = runs[name].run.scores
        shown = metrics(one)
        assert shown.get("composite") == scores.composite.value
        assert shown["accuracy"] == scores.overall.accuracy
        assert {c.name: shown[c.name] for c in scores.categories} == {
            c.name: c.tally.accuracy for c in scores.categories
        }
        assert one["head"]["results"]["total_samples"] == runs[name].run.coverage.planned


def test_inspect_works_out_the_same_from_the_samples_of_a_whole_run(said: dict[str, Said]) -> None:
    for name, one in said.items():
        if name != "partial":
            shown = metrics(one)
            assert one["accuracy"] == pytest.approx(shown["accuracy"], abs=1e-12), name
            assert one["stderr"] == pytest.approx(shown["stderr"], abs=1e-12), name


def test_a_partial_run_counts_what_is_missing_as_wrong(said: dict[str, Said]) -> None:
    one = said["partial"]
    assert (len(one["samples"]), one["head"]["results"]["total_samples"]) == (80, 100)
    assert one["head"]["results"]["headline"]["metric"] == "accuracy"
    assert metrics(one)["accuracy"] == pytest.approx(0.8 * one["accuracy"])


def test_other_rules_and_metrics_have_scores_of_their_own(said: dict[str, Said], runs: dict[str, RunFolder]) -> None:
    delta = next(each for each in said["deepmemeval"]["samples"] if each["metadata"]["category"] == "delta-efficiency")
    assert {"memeval", "gated", "corrected", "metrics"} == set(delta["scores"])
    scores = {category.name: category for category in runs["deepmemeval"].run.scores.categories}
    efficiency = scores["delta-efficiency"].metrics["efficiency"]
    assert efficiency is not None
    assert metrics(said["deepmemeval"], "efficiency") == {"delta-efficiency": efficiency}
    far, near = (
        next(each for each in said["measured"]["samples"] if each["metadata"]["category"] == category)
        for category in ("far", "near")
    )
    assert (far["scores"]["memeval"]["value"], far["scores"]["generous"]["value"]) == (0.25, 0.75)
    assert "generous" not in near["scores"]
    assert near["scores"]["metrics"]["value"] == {"recall@5": None}
    assert metrics(said["measured"], "recall@5") == {"far": 0.5, "near": 0.5}


def test_a_sample_shows_question_target_answer_and_what_was_brought_up(said: dict[str, Said]) -> None:
    sample = said["searched"]["samples"][0]
    assert sample["input"] == "Which city has Ada moved to? (0)"
    assert sample["target"] == "Ada lives in Lima"
    assert [each["role"] for each in sample["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert sample["messages"][2]["content"].startswith("1. I have moved to Lima for good.\n2. Good to know.\n3. =cmd")
    assert sample["output"]["completion"] == sample["scores"]["memeval"]["answer"]
    (question,) = sample["metadata"]["questions"]
    assert [each["source_ids"] for each in question["retrieved"]] == [["s001:t01"], ["s001:t02"], []]


def test_twenty_questions_are_one_sample_and_a_conversation(said: dict[str, Said]) -> None:
    delta = next(each for each in said["deepmemeval"]["samples"] if each["metadata"]["category"] == "delta-efficiency")
    assert delta["input"].count("\n") == 19
    assert sum(each["role"] == "user" for each in delta["messages"]) == 20
    assert len(delta["metadata"]["questions"]) == 20


def test_blank_answers_and_failures_are_told_apart(said: dict[str, Said]) -> None:
    right, blank, failed = said["mishaps"]["samples"][:3]
    assert [each["scores"]["memeval"]["value"] for each in (right, blank, failed)] == ["C", "I", "N"]
    assert blank["scores"]["memeval"]["reason"] == "no_response"
    assert (right["error"], blank["error"]) == (None, None)
    assert "no idea of" in failed["error"]["message"]
    assert said["mishaps"]["head"]["results"]["completed_samples"] == 8


def test_without_the_data_withheld_words_stay_out(
    said: dict[str, Said], runs: dict[str, RunFolder], tmp_path: Path
) -> None:
    (log,) = write(runs["ids"], None, tmp_path / "ids.eval")
    with zipfile.ZipFile(log) as archive:
        everything = "".join(archive.read(name).decode() for name in archive.namelist())
    assert not [word for word in WORDS if word in everything]
    sample = said["ids"]["samples"][0]
    assert (sample["input"], sample["target"], sample["messages"]) == (sample["id"], "", [])
    assert sample["metadata"]["questions"][0]["retrieved"][0]["source_ids"] == ["s001:t01"]
    assert "not for publication" not in said["ids"]["head"]["tags"]
    assert "not for publication" in said["searched"]["head"]["tags"]


def test_with_the_data_the_log_contains_text_and_is_marked_private(runs: dict[str, RunFolder], tmp_path: Path) -> None:
    (log,) = write(runs["ids"], benchmark_session(redistribution=Redistribution.IDS), tmp_path / "ids.eval")
    with zipfile.ZipFile(log) as archive:
        assert b"Ada lives in Lima" in archive.read("samples/tiny-000-q01_epoch_1.json")
        assert b"not for publication" in archive.read("header.json")


def test_equal_runs_make_equal_bytes(runs: dict[str, RunFolder], tmp_path: Path) -> None:
    one, two = (write(runs["mishaps"], benchmark_session(3), tmp_path / name)[0] for name in ("one.eval", "two.eval"))
    assert one.read_bytes() == two.read_bytes()


def test_the_viewer_is_told_to_show_text_from_outside_as_it_is(said: dict[str, Said]) -> None:
    assert all(one["head"]["eval"]["viewer"]["trust_content"] is False for one in said.values())


def test_runs_of_one_track_do_not_hide_one_another_as_retries(said: dict[str, Said]) -> None:
    one, two = said["made"]["head"]["eval"], said["partial"]["head"]["eval"]
    assert one["tags"] == two["tags"]
    assert one["task_id"] != two["task_id"]


def test_a_name_that_the_viewer_would_not_find_is_refused(runs: dict[str, RunFolder], tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"'log\.json' does not end in '\.eval'"):
        write(runs["made"], None, tmp_path / "log.json")


def test_a_run_without_its_rows_is_refused(tmp_path: Path) -> None:
    run = make_run(tmp_path, "made-up")
    run.file("grades.jsonl").unlink()
    with pytest.raises(BadInput, match=r"grades\.jsonl\.gz: the file is missing"):
        write(run, None, tmp_path / "log.eval")
