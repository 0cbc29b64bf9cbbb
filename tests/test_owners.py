"""Every file that decides a number has an owner, who must agree to a change of it."""

import subprocess
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import grimp
import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.signatures import signers_of
from memeval.archive.trust import trust_of
from memeval.claims.figures import figures_of
from memeval.evaluation.judge.grades import grade_items
from memeval.evaluation.run.running import run_system
from memeval.evaluation.verify.verification import verify_run
from memeval.leaderboard.board import build_board
from memeval.leaderboard.overall import overall

ROOT = Path(__file__).parents[1]
PACKAGE = "harness/memeval"
OWNERS = ROOT / ".github" / "CODEOWNERS"

DECIDES = (run_system, grade_items, verify_run, build_board, overall, trust_of, figures_of, Ledger, signers_of)
"""What makes, checks and ranks numbers; all that it imports decides them too."""

OTHERS = (
    *(".ci/run", ".github/CODEOWNERS", ".github/workflows/ci.yml", "Makefile", "action.yml"),
    *("pyproject.toml", "requirements.lock", "memeval.toml", "results.toml"),
    *("results/ledger.jsonl", "results/releases/1.json", "results/audits/1/audit.json", "sources/x.toml"),
    *(f"{PACKAGE}/allowed_signers", f"{PACKAGE}/systems/known.toml", f"{PACKAGE}/project.toml"),
)
"""What no import shows."""


@cache
def patterns() -> list[str]:
    rules = [line.split() for line in OWNERS.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    assert all(len(rule) > 1 for rule in rules), "a pattern without an owner takes the owner away"
    return [rule[0] for rule in rules]


def is_owned(path: str) -> bool:
    """Return whether a pattern from the root names a file, a folder above it, or files beside it."""
    for pattern in patterns():
        same_depth = pattern.count("/") == f"/{path}".count("/")
        if f"/{path}".startswith(pattern) if pattern.endswith("/") else same_depth and fnmatchcase(f"/{path}", pattern):
            return True
    return False


@cache
def deciding_modules() -> set[str]:
    graph = grimp.build_graph("memeval", cache_dir=str(ROOT / "build" / "cache" / "grimp"))
    starts = {each.__module__ for each in DECIDES}
    starts |= {entry.module for entry in entry_points(group="memeval.benchmarks") if entry.module in graph.modules}
    return starts.union(*(graph.find_upstream_modules(start) for start in starts))


def files_of(module: str) -> Iterator[str]:
    base = module.replace("memeval", PACKAGE, 1).replace(".", "/")
    yield next(path for path in (f"{base}.py", f"{base}/__init__.py") if (ROOT / path).is_file())


def test_every_module_that_decides_a_number_has_an_owner() -> None:
    modules = deciding_modules()
    assert len(modules) > 300
    assert [path for module in sorted(modules) for path in files_of(module) if not is_owned(path)] == []


def test_the_data_beside_these_modules_have_an_owner() -> None:
    packages = {module.split(".")[1] for module in deciding_modules() if "." in module}
    listed = subprocess.run(["git", "ls-files", PACKAGE], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [path for path in listed.splitlines() if path.split("/")[2] in packages]
    assert len(files) > 500
    assert [path for path in files if not is_owned(path)] == []


@pytest.mark.parametrize("path", OTHERS)
def test_what_no_import_shows_has_an_owner(path: str) -> None:
    assert is_owned(path)


def test_the_rest_has_none() -> None:
    for path in ("README.md", "submissions/acme/adapter.py", "results/beliefs/acme/1/run.json", "site/index.md"):
        assert not is_owned(path)


def test_every_pattern_names_something_from_the_root() -> None:
    for pattern in set(patterns()) - {"/results/releases/"}:  # the first release makes it
        assert pattern.startswith("/") and any(ROOT.glob(pattern.removeprefix("/").removesuffix("/"))), pattern
