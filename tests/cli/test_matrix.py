"""``memeval matrix`` and ``memeval compare``: what is printed, where, and with which exit code."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memeval.archive.runs import sealed_runs
from memeval.records.errors import ExitCode
from tests.support.calling import Call
from tests.support.registered import register
from tests.support.tiny import TinyBenchmark

PLAN = """
systems = ["always-hedge", "no-memory"]
groups = [{ benchmark = "tiny@1" }]
promotion_gates = [{ metric = "composite", minimum = LEAST }]
"""


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all calls are made in, so that runs are made once."""
    return tmp_path_factory.mktemp("matrix")


@pytest.fixture
def call(call: Call, monkeypatch: pytest.MonkeyPatch, where: Path) -> Call:
    """Call ``memeval`` where there is a tiny benchmark only."""
    monkeypatch.chdir(where)
    register(monkeypatch, {"tiny@1": lambda: TinyBenchmark(2)}, only=True)
    return call


@pytest.fixture
def plan(where: Path) -> Callable[[str], str]:
    def write(least: str) -> str:
        (where / "tiny.toml").write_text(PLAN.replace("LEAST", least))
        return "tiny.toml"

    return write


def test_a_matrix_prints_its_table_and_says_where_it_is_stored(call: Call, plan: Callable[[str], str]) -> None:
    said = call("matrix", plan("0.0"))
    assert said.done.splitlines()[2] == " " * 25 + "always-hedge".rjust(20) + "no-memory".rjust(20)
    assert "gate passed: no-memory on tiny@1: composite is 0, and is to be at least 0." in said.err
    assert "stored in results/matrices/tiny-" in said.err


def test_a_gate_that_fails_ends_with_1(call: Call, plan: Callable[[str], str]) -> None:
    failed = "gate FAILED: always-hedge on tiny@1: composite is 0, and is to be at least 0.5."
    assert call("matrix", plan("0.5")).fails(failed, "2 promotion gates failed.", code=ExitCode.CHECK_FAILED)


def test_a_cell_that_fails_ends_with_its_code_after_all_others(call: Call, where: Path) -> None:
    (where / "torn.py").write_text("raise RuntimeError")
    on_tiny = 'groups = [{ benchmark = "tiny@1" }]'
    (where / "torn.toml").write_text(f'systems = [{{ id = "torn", system = "torn.py" }}, "always-hedge"]\n{on_tiny}')
    said = call("matrix", "torn.toml")
    assert said.fails("1 cell of 2 failed") and "torn failed: " in said.out


def test_machines_get_json_and_comma_separated_values(call: Call, plan: Callable[[str], str]) -> None:
    told = json.loads(call("matrix", plan("0.0"), "--format", "json")[1])
    assert [cell["state"] for cell in told["cells"]] == ["done", "done"]
    assert call("matrix", plan("0.0"), "--format", "csv")[1].startswith("benchmark,protocol,tier,reader,system,")


def test_examples_are_printed_and_nothing_is_run(call: Call) -> None:
    assert "[[systems]]" in call("matrix", "--example", "controls").done
    for words, sentence in (
        (("--example", "nothing"), "Choose one of: astrocyte-presets, controls, memorycd, retrievers."),
        ((), "no matrix file given."),
    ):
        assert call("matrix", *words).fails(sentence)


def test_runs_are_compared_in_words_and_as_json(call: Call, plan: Callable[[str], str], where: Path) -> None:
    call("matrix", plan("0.0"))
    names = [run.run.run_id for run in sealed_runs(where / "results")]
    out = call("compare", *names).done
    assert out.startswith("tiny@1 judge, track ")
    (composite,) = [line for line in out.splitlines() if line.strip().startswith("composite  ")]
    assert composite.split() == ["composite", "2", "0.0", "0.0", "+0.0", "[+0.0,", "+0.0]", "1.000", "="]
    assert "0 items better" in out
    told = json.loads(call("compare", *names, "--json")[1])
    assert [pair["run_id"] for pair in told["pairs"]] == names[1:]
    assert call("compare", names[0]).fails("comparing needs at least two runs.")
