"""Published answers that were graded again stand apart from runs, and are ranked only within their group."""

import html
import re
from pathlib import Path

import pytest

from memeval.records.regraded import RegradedFile
from memeval.site.pages.imported import SIGNS, ImportedPage, metric_label
from tests.site.conftest import draw, published_board
from tests.site.items.test_failure_tables import text_of

ROOT = Path(__file__).parents[3]
STORED = ROOT / "results/imported/mirix"


def stored(name: str) -> RegradedFile:
    path = STORED / f"{name}.json"
    return RegradedFile.parse(path.read_bytes(), path)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("regraded")
    published_board(folder)
    text = (folder / "results/imported/mirix/mem0.json").read_text()
    (folder / "results/imported/mirix/mem0.json").write_text(text.replace('"system": "', '"system": "<i>', 1))
    draw(folder / "results", folder / "site", ImportedPage())
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
    assert f"{agreement.judge_only} {agreement.rules_only}" in said
    ranks = re.findall(r"(\d(?:–\d)?) mem0-evaluation", said)
    assert ranks == ["1", "2"], "two systems of one group that differ; the third has signs of a broken run"
    assert 'href="../findings/#mirix-mem0">62.47 %</a>' in raw, "the claim on the same file"
    assert "79.09" not in raw, "this claim is not attributable to the file"
    assert "not affiliated" in said and "Imported runs" in said
    assert "<i>" not in raw and "&lt;i&gt;" in raw


def test_a_number_whose_answers_are_not_published_says_whose_word_it_is(site: Path) -> None:
    assert not stored("zep").with_text
    word = "as stored by the maintainer; not recomputable from published files"
    for page in ("imported/index.html", "imported/mirix/zep/index.html"):
        raw = (site / page).read_text()
        assert re.search(
            rf'<td><span class="mv-num">[^/]*</span><span class="mv-note">[^/]*</span><span class="mv-note">{word}', raw
        )


def test_each_file_has_a_page_with_counts_signs_and_its_command(site: Path) -> None:
    said = html.unescape(text_of((site / "imported/mirix/zep/index.html").read_text()))
    assert "memeval sources import mirix --file zep --check" in said
    assert "Rows in the file 1" in said and "Questions without a row" in said
    for sign in stored("zep").signs:
        assert SIGNS[sign.kind] in said
    for category in stored("zep").figures.categories:
        assert category.name in said


def test_metrics_have_names_in_words() -> None:
    assert metric_label("f1") == "token F1"
    assert metric_label("session_recall@10") == "recall of sessions, first 10"
    assert metric_label("other_measure") == "other measure"
