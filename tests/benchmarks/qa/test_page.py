"""The page about question sets: what it shows can be done, and its figures are those that are computed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memeval.benchmarks.qa import QaSmokeBenchmark
from memeval.benchmarks.qa.dataset import controls
from memeval.benchmarks.qa.rows import FIELDS, Scorer, rows_of
from memeval.evaluation.plan.reading import read_matrix

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "site/questions.md").read_text("utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def test_the_row_that_it_shows_is_one_and_every_field_is_explained() -> None:
    shown = block("json").encode()
    for scorer in Scorer:
        assert len(rows_of(shown, scorer, "page")) == 1
    assert all(f"`{field}`" in PAGE for field in FIELDS)
    assert set(json.loads(shown)) < set(FIELDS)


def test_its_matrix_file_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    path = tmp_path / "daemons.toml"
    path.write_text(block("toml"), encoding="utf-8")
    plan = read_matrix(path)
    assert [system.system for system in plan.systems] == ["jeffs-brain", "jeffs-brain:auto"]


def test_its_controls_are_those_of_the_built_in_set() -> None:
    for each in controls(QaSmokeBenchmark().opened(None, {}, "search-retrieve-only", "full").asked()):
        total, rate = len(each.rows), 100 * (each.false_pass_rate or 0)
        assert (
            f"| `{each.rule}` | {each.echoed} of {total} | {each.empty} of {total} | {total - each.missed} of {total} "
            f"| {each.false_passes} of {each.pairs} ({rate:.1f} %) |"
        ) in PAGE


def test_it_names_every_protocol() -> None:
    for protocol in QaSmokeBenchmark().info.protocols:
        assert f"`{protocol.name.removesuffix('-judged')}`" in PAGE
