"""A benchmark in a package of its own: found, run, graded, verified, shown on a page, exported."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.packages import with_package

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "benchmark-package"

Call = Callable[..., "subprocess.CompletedProcess[str]"]


def call(board: Path, environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=board, env=environment, capture_output=True, text=True, timeout=240, check=False
    )


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("board")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return with_package(EXAMPLE, tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def run(board: Path, installed: dict[str, str]) -> Path:
    """Return a run of a control on the example benchmark."""
    done = call(board, installed, "-m", "memeval", "run", "oracle", "--benchmark", "pantry")
    assert done.returncode == 0, done.stderr
    return board / done.stdout.strip()


def test_its_own_tests_pass(board: Path, installed: dict[str, str]) -> None:
    done = call(
        board,
        installed,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        str(EXAMPLE / "pyproject.toml"),
        str(EXAMPLE),
    )
    assert done.returncode == 0, done.stdout


def test_an_answer_from_the_evidence_is_right(run: Path, board: Path, installed: dict[str, str]) -> None:
    exported = call(board, installed, "-m", "memeval", "export", str(run), "--format", "csv", "--to", "grades.csv")
    assert exported.returncode == 0, exported.stderr
    with (board / "grades.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8 and {row["verdict"] for row in rows} == {"true"}


def test_its_runs_verify_and_reproduce(run: Path, board: Path, installed: dict[str, str]) -> None:
    verified = call(board, installed, "-m", "memeval", "verify", "results")
    assert verified.returncode == 0 and "not checked" not in verified.stdout, verified.stdout
    assert "8 grades, composite 100.0: equal" in call(board, installed, "-m", "memeval", "reproduce", "results").stdout


def test_its_file_format_carries_answers_out_and_in(run: Path, board: Path, installed: dict[str, str]) -> None:
    exported = call(
        board, installed, "-m", "memeval", "export", str(run), "--format", "pantry", "--to", "answers.jsonl"
    )
    assert exported.returncode == 0, exported.stderr
    imported = call(
        board, installed, "-m", "memeval", "import", "answers.jsonl", "--format", "pantry", "--results", "imported"
    )
    assert imported.returncode == 0 and "8/8 items, 0 errors" in imported.stderr, imported.stderr
    assert "composite 100.0" in imported.stderr


def test_a_line_without_an_answer_is_refused_with_its_number(board: Path, installed: dict[str, str]) -> None:
    (board / "bad.jsonl").write_text('{"id": "rice", "answer": "1"}\n{"id": "honey"}\n')
    refused = call(board, installed, "-m", "memeval", "import", "bad.jsonl", "--format", "pantry")
    assert refused.returncode == 2 and "bad.jsonl:2" in refused.stderr and "answer" in refused.stderr


def test_it_has_a_page(run: Path, board: Path, installed: dict[str, str]) -> None:
    built = call(board, installed, "-m", "memeval", "site", "build")
    assert built.returncode == 0, built.stderr
    page = (board / "build" / "site" / "benchmarks" / "pantry@1" / "index.html").read_text(encoding="utf-8")
    assert "how much is left, and where things are now" in page and "oracle" in page
    assert "not part of memeval: package <code>memeval-pantry 0.1.0</code>" in page
    assert "Distance from the right number" in page and "Counted by hand from the four right numbers" in page
    assert '<th scope="row"><bdi>Always 1 (published)</bdi></th><td class="mv-num">3.25</td>' in page


def test_without_the_package_its_runs_keep_their_scores_and_the_missing_package_is_named(
    run: Path, board: Path
) -> None:
    verified = call(board, dict(os.environ), "-m", "memeval", "verify", "results")
    assert "scores       ok: 1 run" in verified.stdout
    assert "pip install memeval-pantry==0.1.0" in verified.stdout


def test_the_list_of_data_says_which_package_has_it(board: Path, installed: dict[str, str]) -> None:
    listed = call(board, installed, "-m", "memeval", "data", "list").stdout
    (line,) = [each for each in listed.splitlines() if each.startswith("pantry@1")]
    assert line.endswith("ready (package memeval-pantry 0.1.0)") and listed.count("(package") == 1
