"""``memeval regrade`` and ``memeval judge`` as their users meet them."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.archive.runs import sealed_runs
from memeval.cli.main import main
from memeval.records.errors import ExitCode
from tests.evaluation.asking import without_models
from tests.support.calling import Call
from tests.support.model_server import ModelServer

SMALL = ("--benchmark", "beliefs@2", "--parameter", "size=1")
MODEL = "openai:gpt-4o-2024-08-06"
LABEL = ("--judge-label", "loopback")


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of results with one run, to copy from."""
    results = tmp_path_factory.mktemp("judged") / "results"
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr(sys, "argv", ["memeval", "run", "always-hedge", *SMALL, "--results", str(results)])
        main()
    return results


@pytest.fixture(autouse=True)
def no_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    without_models(monkeypatch)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, call: Call) -> Iterator[ModelServer]:
    """A server that judges, and that judges are sent to."""
    with ModelServer() as server:
        monkeypatch.setenv("MEMEVAL_JUDGE_BASE_URL", server.url)
        yield server


@pytest.mark.parametrize("command", [("run",), ("regrade",), ("judge", "audit")])
def test_help_holds_a_call_to_copy(call: Call, command: tuple[str, ...]) -> None:
    assert f"Example: memeval {' '.join(command)} " in call(*command, "--help").done


def test_runs_are_judged_in_one_call_and_a_second_makes_nothing_new(
    call: Call, server: ModelServer, tmp_path: Path
) -> None:
    for control in ("always-hedge", "no-memory"):
        call("run", control, *SMALL)
    sources = {run.run.run_id for run in sealed_runs(tmp_path / "results")}
    made = call("regrade", "results", "--judge", MODEL, *LABEL).done.splitlines()
    assert len(made) == 2
    runs = [run for run in sealed_runs(tmp_path / "results") if run.run.run_id not in sources]
    assert {run.run.answers_from for run in runs} == sources
    assert {str(run.path.relative_to(tmp_path)) for run in runs} == set(made)
    asked = server.requests
    for words in (("results",), tuple(made), ("results", *made), (runs[0].run.run_id,)):
        said = call("regrade", *words, "--judge", MODEL, *LABEL)
        assert set(said.done.splitlines()) <= set(made)
        assert "reused" in said.err
    assert len(sealed_runs(tmp_path / "results")) == 4
    assert server.requests == asked


def test_the_former_name_of_regrade_says_the_new_one(call: Call) -> None:
    said = "memeval: memeval rejudge is now memeval regrade. Its options are the same.\n"
    assert call("rejudge", "out", "--judge", "rules") == (ExitCode.BAD_INPUT, "", said)


def test_regrading_by_rules_needs_no_network_and_gives_equal_verdicts(
    call: Call, server: ModelServer, tmp_path: Path
) -> None:
    call("run", "always-hedge", *SMALL, "--judge", MODEL, *LABEL)
    asked = server.requests
    out = call("regrade", "results", "--judge", "rules").done
    assert server.requests == asked
    (run,) = (run for run in sealed_runs(tmp_path / "results") if run.run.answers_from)
    assert out == f"{run.path.relative_to(tmp_path)}\n"
    call("run", "always-hedge", *SMALL, "--fresh")
    (ruled,) = (
        each
        for each in sealed_runs(tmp_path / "results")
        if each.run.answers_from is None and each.run.track.judge == run.run.track.judge
    )
    assert [grade.to_json() for grade in run.grades()] == [grade.to_json() for grade in ruled.grades()]


def test_judging_again_loads_neither_numpy_nor_the_leaderboard(judged: Path, tmp_path: Path) -> None:
    (run,) = sealed_runs(shutil.copytree(judged, tmp_path / "results"))
    code = (
        "import atexit, sys; from memeval.cli.main import main;"
        "atexit.register(lambda: print(sorted({'numpy', 'memeval.leaderboard.board'} & set(sys.modules))));"
        "main()"
    )
    options = ("--judge", "rules", "--results", str(tmp_path / "results"))
    done = subprocess.run(
        [sys.executable, "-c", code, "regrade", str(run.path), *options],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "composite" in done.stderr
    assert done.stdout.splitlines()[1:] == ["[]"]


def test_an_audit_gives_its_figures_to_machines_and_to_people(call: Call) -> None:
    audit = ("judge", "audit", "--judge", "rules", "--benchmark", "beliefs@2", "--items", "3")
    found = json.loads(call(*audit, "--json").done)
    (figures,) = found["audits"]
    assert (figures["judge"], figures["benchmark"]) == ("rules@3", "beliefs@2")
    assert figures["overall"]["false_accepts"]["of"] > 0
    assert figures["overall"]["false_rejects"]["of"] > 0
    assert len(figures["categories"]) == 5
    assert found["scores"] == []
    out = call(*audit).done
    assert out.startswith("rules@3 on beliefs@2, ")
    assert "false accepts" in out and "kappa" in out
    rate = figures["overall"]["false_accepts"]
    assert f"({rate['count']}/{rate['of']})" in out


def test_several_judges_get_the_matrix_of_scores(call: Call, server: ModelServer) -> None:
    call("run", "always-hedge", *SMALL)
    call("regrade", "results", "--judge", MODEL, *LABEL)
    judges = ("--judge", "rules", "--judge", MODEL, *LABEL)
    found = json.loads(call("judge", "audit", *judges, "--benchmark", "beliefs@2", "--items", "1", "--json").done)
    assert {audit["judge"] for audit in found["audits"]} == {"rules@3", f"{MODEL}@1"}
    (row,) = found["scores"]
    assert row["system"] == "always-hedge"
    assert len(row["composites"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("regrade", "results"), "Missing option '--judge'"),
        (("regrade", "nowhere", "--judge", "rules"), "no finished run nowhere"),
        (("regrade", "results", "--judge", "gpt-4o"), "there is no judge 'gpt-4o'"),
        (("regrade", "results", "--judge", "openai:"), "there is no judge 'openai:'"),
        (("regrade", "results", "--judge", f"{MODEL}@7"), "there is no version 7 of the model judge"),
        (("regrade", "results", "--judge", MODEL), "there is no key for the judge's model"),
        (("regrade", "results", "--judge", "openai:mistral-large"), "the judge has no label"),
        (("regrade", "results", "--judge", MODEL, "--judge-label", " "), "--judge-label is blank"),
        (("regrade", "results", "--judge", MODEL, "--prompts", "nowhere"), "nowhere"),
        (("regrade", "results", "--judge", "rules", *LABEL), "--judge-label needs a model judge"),
        (("regrade", "results", "--judge", MODEL, "--concurrency", "0"), "--judge-concurrency is 0"),
        (("regrade", "results", "--judge", MODEL, "--max-cost-usd", "1", "--budget", "usd=2"), "two budgets for usd"),
        (("run", "no-memory", *SMALL, "--model", "gpt-4o"), "--model is only for a single .py file"),
        (("run", "no-memory", *SMALL, "--replay", "nowhere"), "no finished run nowhere"),
        (("run", "bm25", *SMALL, "--reader", "openai:"), "there is no reader 'openai:'"),
        (("run", "bm25", *SMALL, "--reader", MODEL), "there is no key for the reader's model"),
        (("judge", "audit"), "Missing option '--judge'"),
        (("judge", "audit", "--judge", "rules", "--benchmark", "belief"), "Did you mean 'beliefs'?"),
        (("judge", "audit", "--judge", "rules", "--benchmark", "beliefs@2", "--items", "0"), "--items is 0"),
        (("judge", "audit", "--judge", MODEL, "--benchmark", "beliefs@2"), "there is no key for the judge's model"),
    ],
)
def test_a_wrong_call_gets_a_sentence_and_exit_code_2(
    call: Call, judged: Path, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    shutil.copytree(judged, tmp_path / "results")
    found = call(*words)
    assert found.fails(said) and found.out == ""
