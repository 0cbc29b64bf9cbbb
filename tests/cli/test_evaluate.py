"""``memeval evaluate``: many systems and benchmarks in one call, each run checked, one exit code."""

import json
import time
from pathlib import Path

import pytest

from memeval.cli.evaluations import Evaluation, annotations_of, choose_benchmarks, plan_of, summary_of
from memeval.evaluation.plan.executing import PlannedRun, RunOutcome, RunState
from memeval.options import RunOptions
from memeval.records.errors import BadInput, CheckFailed
from memeval.systems.controls import CONTROLS
from tests.support.calling import Said
from tests.support.commands import ROOT, memeval

MEMORY = (ROOT / "templates" / "submission" / "python" / "adapter.py").read_text("utf-8")
WORSE = MEMORY.replace("return [item for item in found[:k] if item", "return [item for item in found[:0] if item")


def evaluate(where: Path, *words: str) -> Said:
    return memeval("evaluate", "--benchmarks", "qa-smoke@1", "--sandbox", "none", *words, where=where)


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample memory, evaluated once into ``first``."""
    folder = tmp_path_factory.mktemp("evaluated")
    (folder / "memory.py").write_text(MEMORY, encoding="utf-8")
    said = evaluate(folder, "--systems", "memory.py", "--to", "first")
    assert (said.code, len(said.out.splitlines())) == (0, 1), said.err
    assert "No baseline: nothing was compared." in said.err
    time.sleep(1 - time.time() % 1)  # a run id has the time to the second, and the next run is equal
    return folder


def test_a_drop_against_the_newest_run_of_a_folder_ends_with_1(board: Path, tmp_path: Path) -> None:
    (tmp_path / "memory.py").write_text(WORSE, encoding="utf-8")
    words = ("--systems", "memory.py", "--baseline", str(board / "first"), "--annotations", "github")
    said = evaluate(tmp_path, *words, "--summary", "summary.md")
    assert said.code == 1
    assert said.err.splitlines()[-1].startswith("memeval: Regression: composite, ")
    folder, first, *_rest, last = said.out.splitlines()
    assert folder.startswith("build/evaluation/qa-smoke/memory/")
    assert first.startswith("::error title=memeval check%3A memory%3A regression::composite fell from 100.0 to 0.0 ")
    assert last == "::notice title=memeval evaluate::1 run checked, 1 failed."
    summary = (tmp_path / "summary.md").read_text("utf-8")
    assert "| 20/20 | 0 | ✗ regression |" in summary and "### memeval check: regression" in summary


def test_one_failure_does_not_stop_the_others_and_decides_the_exit_code(board: Path) -> None:
    (board / "broken.py").write_text("class Memory:\n    def reset(self", encoding="utf-8")
    said = evaluate(
        board, "--systems", "broken.py,no-such,memory.py", "--to", "second", "--baseline", "first", "--json"
    )
    broken, unknown, done = json.loads(said.out)
    assert said.code == 2 and said.err.splitlines()[-3] == "memeval: 2 problems:"
    assert (broken["state"], unknown["state"], done["state"]) == ("failed", "failed", "done")
    assert "broken.py" in broken["reason"] and "no-such" in unknown["reason"]
    assert done["checks"][0]["baseline"]["kind"] == "run"
    measured = [metric for metric in done["checks"][0]["metrics"] if metric["unit"] != "seconds"]  # a clock varies
    assert "composite" in {metric["metric"] for metric in measured}
    assert {metric["status"] for metric in measured} == {"stable"}


def test_a_baseline_that_does_not_exist_is_refused_before_anything_runs(board: Path) -> None:
    said = evaluate(board, "--systems", "memory.py", "--baseline", "nowhere", "--to", "third")
    assert (said.code, (board / "third").exists()) == (2, False)
    assert said.err.startswith("memeval: no finished run nowhere: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--systems", " , "), "memeval: --systems: the list is empty. Give names, separated by commas."),
        (
            ("--systems", "bm25", "--benchmarks", ""),
            "memeval: --benchmarks: the list is empty. Give names, separated by commas.",
        ),
        (("--systems", "bm25", "--benchmarks", "beliefs@9"), "memeval: beliefs has no version '9'"),
        (("--systems", "all"), "memeval: there is no submission that needs no key. Name systems with --systems."),
        (("--systems", "bm25", "--annotations", "gitlab"), "memeval: unknown annotations 'gitlab'."),
    ],
)
def test_a_wrong_call_ends_with_2(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    said = memeval("evaluate", *words, where=tmp_path)
    assert (said.code, said.out) == (2, "") and said.err.startswith(message), said.err


def test_groups_are_submissions_without_keys_and_baselines_with_each_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    every = [run.slug for run in plan_of("all, notebook, all", ["beliefs@2"], RunOptions())]
    assert {"notebook", "bm25s"} <= {*every} and not {"zep", "mem0", "langmem", "letta"} & {*every}
    assert len(every) == len(set(every))
    controls = plan_of("controls", ["locomo@1"], RunOptions(protocol="f1"))
    assert list(dict.fromkeys(run.slug for run in controls)) == [
        slug for slug, control in CONTROLS.items() if control.readers
    ]
    assert {("no-memory", "extractive"), ("no-memory", "native")} <= {(run.slug, run.reader) for run in controls}
    named = plan_of("controls", ["locomo@1"], RunOptions(protocol="f1", reader="native"))
    assert {run.reader for run in named} == {"native"}


def test_a_baseline_runs_once_if_the_benchmark_takes_one_reader(tmp_path: Path) -> None:
    said = evaluate(tmp_path, "--systems", "controls", "--limit", "1", "--json")
    found = {(each["system"], each["reader"]): each["state"] for each in json.loads(said.out)}
    assert said.code == 0, said.err
    assert found["bm25", None] == "done" and {reader for _, reader in found} == {None}


def test_the_plan_is_one_line_of_json_for_a_matrix_of_jobs(tmp_path: Path) -> None:
    words = ("--systems", "controls", "--benchmarks", "beliefs@2, qa-smoke@1,beliefs@2")
    said = memeval("evaluate", "--plan", *words, where=tmp_path)
    (line,) = said.out.splitlines()
    assert json.loads(line)["benchmarks"] == ["beliefs@2", "qa-smoke@1"]
    assert list(tmp_path.iterdir()) == []
    assert "qa-smoke@1" in choose_benchmarks("all", None) and choose_benchmarks("all", "no-such-tier") == []


def test_names_and_errors_from_outside_cannot_leave_a_table_cell_or_an_annotation() -> None:
    evil = "x|<b>@you\n::error::y [a](https://e.example) `c` %0A"
    done = [Evaluation(RunOutcome(PlannedRun(evil, evil), RunState.FAILED, error=CheckFailed(evil)))]
    summary = summary_of(done)
    assert not any(part in summary for part in ("<b>", "@you", "](", "`c`", "https://", "\n::error"))
    assert len(summary.splitlines()) == 5
    first, last = annotations_of(done)
    assert first.startswith("::error title=memeval evaluate%3A x|<b>@you") and "\n" not in first
    assert last == "::notice title=memeval evaluate::0 runs checked, 1 failed."


def test_a_benchmark_that_a_system_does_not_support_fails_only_if_the_system_was_named() -> None:
    error = BadInput("no method 'search'.")
    for named, errors in ((False, []), (True, [error])):
        unsupported = RunOutcome(PlannedRun("a", "qa@1", named=named), RunState.NOT_APPLICABLE, error=error)
        assert list(Evaluation(unsupported).errors()) == errors
