"""Published answers that were graded again stand apart from runs, and are ranked only within their group."""

from __future__ import annotations

import html
import shutil
from pathlib import Path
from typing import Any

import pytest

from memeval.records.regraded import RegradedFile
from memeval.records.scores import Interval
from memeval.site import build
from memeval.site.regraded import regraded_lines
from tests.site.test_failure_tables import text_of

ROOT = Path(__file__).parents[2]
STORED = ROOT / "results/imported/mirix"


def stored(name: str) -> RegradedFile:
    path = STORED / f"{name}.json"
    return RegradedFile.parse(path.read_bytes(), path)


def with_share(name: str, share: float, **fields: Any) -> RegradedFile:
    file = stored("mem0")
    assert file.figures.rules is not None
    rules = file.figures.rules.model_copy(update={"share": share, "interval": Interval(low=share, high=share)})
    basis = {
        "file": name,
        "group": "g",
        "answer_model": "m",
        "figures": file.figures.model_copy(update={"rules": rules}),
    }
    return file.model_copy(update=basis | fields)


def places(*files: RegradedFile) -> dict[str, int | None]:
    return {line.file.file: line.place for lines in regraded_lines(files).values() for line in lines}


def test_files_of_one_group_and_answer_model_are_ranked_with_ties() -> None:
    found = places(with_share("a", 0.5), with_share("b", 0.7), with_share("c", 0.5), with_share("d", 0.1))
    assert found == {"a": 2, "b": 1, "c": 2, "d": 4}


@pytest.mark.parametrize(
    "other", [{"group": "h"}, {"group": None}, {"answer_model": "n"}, {"answer_model": None}, {"source": "s"}]
)
def test_files_of_another_group_answer_model_or_source_are_never_ranked_together(other: dict[str, Any]) -> None:
    assert places(with_share("a", 0.5), with_share("b", 0.7, **other)) == {"a": None, "b": None}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("regraded")
    (folder / "results/imported/mirix").mkdir(parents=True)
    for name in ("mem0", "zep"):
        shutil.copy(STORED / f"{name}.json", folder / "results/imported/mirix")
    text = (folder / "results/imported/mirix/mem0.json").read_text()
    (folder / "results/imported/mirix/mem0.json").write_text(text.replace('"system": "', '"system": "<i>', 1))
    shutil.copytree(ROOT / "sources/findings", folder / "sources/findings")
    build(folder / "results", folder / "site")
    return folder / "site"


def test_the_table_has_both_shares_with_intervals_and_the_two_way_count(site: Path) -> None:
    raw = (site / "imported/index.html").read_text()
    said = html.unescape(text_of(raw))
    file = stored("zep")
    (judge,), rules, (agreement,) = file.figures.judges.values(), file.figures.rules, file.figures.agreement.values()
    assert rules is not None
    for each in (judge, rules):
        shown = f"{100 * each.share:.1f} {100 * each.interval.low:.1f}–{100 * each.interval.high:.1f}"
        assert shown in said
    assert f"{agreement.judge_only} / {agreement.rules_only}" in said
    assert 'href="../findings/#mirix-mem0">62.47 %</a>' in raw, "the claim on the same file"
    assert "79.09" not in raw, "this claim is not attributable to the file"
    assert "not affiliated" in said and "Imported runs" in said
    assert "<i>" not in raw and "&lt;i&gt;" in raw


def test_each_file_has_a_page_with_counts_signs_and_its_command(site: Path) -> None:
    said = html.unescape(text_of((site / "imported/mirix/zep/index.html").read_text()))
    assert "memeval sources import mirix --file zep --check" in said
    assert "Rows in the file 1" in said and "Questions without a row" in said
    for sign in stored("zep").signs:
        assert sign.kind in said
    for category in stored("zep").figures.categories:
        assert category.name in said
