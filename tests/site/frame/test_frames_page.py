"""The guide page on data frames: its code runs as it is, and its tables name every column."""

import ast
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from memeval.archive.runs import sealed_runs
from memeval.leaderboard.frame_columns import CATEGORIES, ITEMS, RUNS, TRENDS, Column
from tests.support.made_versions import make_history

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "site" / "frames.md").read_text(encoding="utf-8")
SECTIONS = {
    section.partition("\n")[0].lstrip("# "): re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    for section in re.split(r"^(?=#+ )", PAGE, flags=re.MULTILINE)[1:]
}
"""The code blocks by the heading above them."""

SHOWN = ("bm25s", "chroma", "full-context", "hybrid")
"""Systems with runs on one track; all have an earlier track, where two of them have two runs. A made history stands
beside them, for the section on versions."""

BENCHMARKS = ("beliefs", "qa-smoke")
"""The benchmark of the page, and another one: items of all would take seconds to read."""


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: a board with some of the stored runs."""
    for folder in sealed_runs(ROOT / "results"):
        benchmark, system = folder.path.parts[-3:-1]
        if system in SHOWN and benchmark in BENCHMARKS:
            place = tmp_path / folder.path.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(folder.path)
    make_history(tmp_path / "results", "acme")
    (tmp_path / "results" / "ledger.jsonl").symlink_to(ROOT / "results" / "ledger.jsonl")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.parametrize("title", [title for title, blocks in SECTIONS.items() if blocks])
def test_the_code_of_a_section_runs_as_it_is_and_shows_something(board: Path, title: str) -> None:
    names: dict[str, Any] = {}
    for block in SECTIONS[title]:
        shown = run_block(block, names)
        if isinstance(shown, pd.DataFrame | pd.Series):
            assert len(shown) > 1, block
            assert shown.notna().to_numpy().any(), block
        elif "chart.save" in block:
            assert "vega" in (board / "tokens.html").read_text("utf-8")
        else:
            assert list(names) == ["__builtins__", "memeval", "frames"]


def run_block(code: str, names: dict[str, Any]) -> object:
    """Run code as a notebook does, and return the value of its last line; ``None`` if it has none."""
    *before, last = ast.parse(code).body
    if not isinstance(last, ast.Expr):
        exec(compile(code, "page", "exec"), names)
        return None
    exec(compile(ast.Module(before, []), "page", "exec"), names)
    shown: object = eval(compile(ast.Expression(last.value), "page", "eval"), names)
    return shown


@pytest.mark.parametrize(
    ("frame", "columns"), [("runs", RUNS), ("categories", CATEGORIES), ("items", ITEMS), ("trends", TRENDS)]
)
def test_the_page_names_every_column_with_its_type_and_meaning(frame: str, columns: Sequence[Column]) -> None:
    table = PAGE.partition(f"### `{frame}`")[2].partition("\n### ")[0]
    rows = [f"| `{column.name}` | {column.kind} | {column.meaning} |" for column in columns]
    assert [line for line in table.splitlines() if line.startswith("| `")][: len(rows)] == rows
