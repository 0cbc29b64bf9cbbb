"""A benchmark in a package of its own: found, run, graded, verified, shown on a page, exported."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.calling import Said
from tests.support.packages import with_package

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "benchmark-package"

CALLS = {
    "run": ("run", "oracle", "--benchmark", "pantry"),
    "csv": ("export", "RUN", "--format", "csv", "--to", "grades.csv"),
    "verify": ("verify", "results"),
    "reproduce": ("reproduce", "results"),
    "export": ("export", "RUN", "--format", "pantry", "--to", "answers.jsonl"),
    "import": ("import", "answers.jsonl", "--format", "pantry", "--results", "imported"),
    "import a bad line": ("import", "bad.jsonl", "--format", "pantry"),
    "build": ("site", "build"),
    "list": ("data", "list"),
}
"""Calls of ``memeval`` by name, in order. ``RUN`` stands for the folder that the first one prints."""

IN_ONE_PROCESS = """
import contextlib, io, json, sys
from memeval.cli.main import main
calls, said = json.load(sys.stdin), {}
for name, words in calls.items():
    run = said["run"][1].strip() if said else ""
    sys.argv = ["memeval", *(run if word == "RUN" else word for word in words)]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main() or 0
        except SystemExit as ended:
            code = ended.code or 0
    said[name] = [code, out.getvalue(), err.getvalue()]
json.dump(said, sys.stdout)
"""
"""A Python of its own takes a second to start, so all calls are made in one."""


def python(board: Path, environment: dict[str, str], *words: str, told: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=board, env=environment, input=told, capture_output=True, text=True, timeout=240, check=False
    )


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("board")
    (folder / "bad.jsonl").write_text('{"id": "rice", "answer": "1"}\n{"id": "honey"}\n')
    return folder


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment in which the example package is installed."""
    return with_package(EXAMPLE, tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def said(board: Path, installed: dict[str, str]) -> dict[str, Said]:
    """Return what each call of :data:`CALLS` printed."""
    done = python(board, installed, "-c", IN_ONE_PROCESS, told=json.dumps(CALLS))
    assert done.returncode == 0, done.stderr
    return {name: Said(*each) for name, each in json.loads(done.stdout).items()}


def test_its_own_tests_pass(board: Path, installed: dict[str, str]) -> None:
    options = ("-q", "-p", "no:cacheprovider", "-c", str(EXAMPLE / "pyproject.toml"))
    done = python(board, installed, "-m", "pytest", *options, str(EXAMPLE))
    assert done.returncode == 0, done.stdout


def test_an_answer_from_the_evidence_is_right(board: Path, said: dict[str, Said]) -> None:
    assert (said["run"].code, said["csv"].code) == (0, 0), said["run"].err + said["csv"].err
    with (board / "grades.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8 and {row["verdict"] for row in rows} == {"true"}


def test_its_runs_verify_and_reproduce(said: dict[str, Said]) -> None:
    assert said["verify"].code == 0 and "not checked" not in said["verify"].out
    assert "8 grades, composite 100.0: equal" in said["reproduce"].out


def test_its_file_format_carries_answers_out_and_in(said: dict[str, Said]) -> None:
    assert said["export"].code == 0, said["export"].err
    assert said["import"].code == 0 and "8/8 items, 0 errors" in said["import"].err
    assert "composite 100.0" in said["import"].err


def test_a_line_without_an_answer_is_refused_with_its_number(said: dict[str, Said]) -> None:
    code, _, err = said["import a bad line"]
    assert code == 2 and "bad.jsonl:2" in err and "answer" in err


def test_it_has_a_page(board: Path, said: dict[str, Said]) -> None:
    assert said["build"].code == 0, said["build"].err
    page = (board / "build" / "site" / "benchmarks" / "pantry@1" / "index.html").read_text(encoding="utf-8")
    assert "how much is left, and where things are now" in page and "oracle" in page
    assert "not part of memeval: package <code>memeval-pantry 0.1.0</code>" in page
    assert "Distance from the right number" in page and "Counted by hand from the four right numbers" in page
    assert '<th scope="row"><bdi>Always 1 (published)</bdi></th><td class="mv-num">3.25</td>' in page


@pytest.mark.usefixtures("said")
def test_without_the_package_its_runs_keep_their_scores_and_the_missing_package_is_named(board: Path) -> None:
    verified = python(board, dict(os.environ), "-m", "memeval", "verify", "results")
    assert "scores       ok: 1 run" in verified.stdout
    assert "pip install memeval-pantry==0.1.0" in verified.stdout


def test_the_list_of_data_says_which_package_has_it(said: dict[str, Said]) -> None:
    (line,) = [each for each in said["list"].out.splitlines() if each.startswith("pantry@1")]
    assert line.endswith("ready (package memeval-pantry 0.1.0)") and said["list"].out.count("(package") == 1
