"""``memeval verify`` and ``memeval reproduce``: several processes say what one says; no ok for what was not checked."""

import shutil
from pathlib import Path

import pytest

from memeval.archive.runs import sealed_runs
from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.cli.trust import check_data, check_lines
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.findings import Check, Finding
from memeval.evaluation.verify.many_runs import FEW, processes
from memeval.processes import cores
from memeval.systems.source import find_system
from tests.support.calling import Call


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with runs on two data sets."""
    results = tmp_path_factory.mktemp("stored") / "results"
    for control, size in (("no-memory", 12), ("bm25", 12), ("bm25", 13)):
        session = BenchmarkSession.open(find("beliefs@2"), parameters={"size": size})
        run_system(find_system(control), session, RunOptions(results=results))
    return results


@pytest.fixture
def call(call: Call, stored: Path, tmp_path: Path) -> Call:
    shutil.copytree(stored, tmp_path / "results")
    return call


def test_the_same_is_said_whatever_the_number_of_processes(call: Call, tmp_path: Path) -> None:
    runs = sealed_runs(tmp_path / "results")
    for run in runs:
        words = ("--reason", "a test", "--by", "me", "--runner", "maintainer")
        assert call("ledger", "accept", run.run.run_id, *words).code == 0
    code, out, err = call("verify", "--jobs", "1")
    assert (code, err) == (0, "") and "ok: 3 runs" in out
    assert call("verify", "--jobs", "2") == (code, out, err)
    assert call("reproduce", "results", "--jobs", "1") == (reproduced := call("reproduce", "results", "--jobs", "2"))
    assert [line.partition(":")[0] for line in reproduced[1].splitlines()] == [run.run.run_id for run in runs]


def test_problems_and_errors_are_the_same_in_the_same_order(call: Call, tmp_path: Path) -> None:
    first, second, third = sealed_runs(tmp_path / "results")
    for run in (first, third):
        head = run.path / "run.json"
        head.write_text(head.read_text().replace('"composite"', '"compsite"', 1))
    one = call("verify", "--jobs", "1")
    assert one[0] == 1 and one[1].index(first.path.name) < one[1].index(third.path.name)
    assert call("verify", "--jobs", "3") == one
    one = call("reproduce", str(second.path), str(first.path), str(third.path), "--jobs", "1")
    assert one[0] == 2 and one[1].startswith(second.path.name) and str(first.path) in one[2]
    assert call("reproduce", str(second.path), str(first.path), str(third.path), "--jobs", "2") == one


def test_a_wrong_number_of_processes_is_a_wrong_call(call: Call) -> None:
    assert call("verify", "--jobs", "0")[0] == 2


def test_few_runs_start_no_process_and_many_use_every_core() -> None:
    assert processes(None, FEW - 1) == 1
    assert processes(None, FEW) == cores()
    assert processes(5, 1) == 5


PROBLEM = Finding("run.json: track", "is another.")

CHECKS = [
    Check("track", (PROBLEM,)),
    Check("track"),
    Check("contexts"),
    Check("contexts", (), "the data of locomo@1 is not here"),
    Check("contexts", (), "the data of locomo@1 is not here"),
    Check("contexts", (PROBLEM,), "tokens were counted by another tokenizer"),
    Check("matrices"),
    Check("matrices"),
    Check("audits"),
]


def test_each_check_has_a_line_and_each_reason_its_own() -> None:
    assert list(check_lines(CHECKS)) == [
        "track        FAILED: 1 run",
        "             ok: 1 run",
        "contexts     FAILED: 1 run",
        "             ok: 1 run",
        "             not checked in 2 runs: the data of locomo@1 is not here",
        "             not checked in 1 run: tokens were counted by another tokenizer",
        "matrices     ok: 2 matrices",
        "audits       ok: 1 audit",
    ]


def test_machines_get_the_same_counts() -> None:
    reasons = {"the data of locomo@1 is not here": 2, "tokens were counted by another tokenizer": 1}
    assert check_data(CHECKS)[:2] == [
        {"name": "track", "ok": 1, "failed": 1, "not_checked": {}},
        {"name": "contexts", "ok": 1, "failed": 1, "not_checked": reasons},
    ]
