"""The page of the overall index, its files and its chart."""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markupsafe import escape

from memeval.leaderboard.board import Board
from memeval.leaderboard.overall import overall
from memeval.leaderboard.suites import read_suites
from memeval.records.overall import BenchmarkSuite, Overall, OverallRow, Stability, TiedPair
from memeval.records.run import SystemKind
from memeval.records.track import Track
from memeval.site.charts.study_charts import RANKS_SHOWN, rank_ranges
from memeval.site.model.content import read_site
from memeval.site.model.files import Asset, Page, file_bytes
from memeval.site.model.text import visible
from memeval.site.pages.overall import OverallPage
from tests.site.factory import HOSTILE, shown
from tests.site.reading import words_of
from tests.support.runs import make_run, make_track

(RETRIEVAL,) = (suite for suite in read_suites() if suite.id == "retrieval@3")


def track(place: int) -> Track:
    chosen = RETRIEVAL.benchmarks[place]
    names = {name: getattr(chosen, name) for name in ("benchmark", "protocol", "tier", "reader", "judge")}
    return make_track(**names, items=20)


def score(results: Path, slug: str, rights: tuple[int, ...], *, version: str = "1.0", control: bool = False) -> None:
    kind = SystemKind.CONTROL if control else SystemKind.SUBMISSION
    for place, right in enumerate(rights):
        made = {"kept": right, "changed": right}
        make_run(results, slug, made, track=track(place), kind=kind, version=version)


def published(results: Path) -> tuple[Page, Mapping[str, bytes]]:
    files = list(OverallPage().publish(read_site(results)))
    (page,) = (each for each in files if isinstance(each, Page))
    return page, {each.path: file_bytes(each) for each in files if isinstance(each, Asset)}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two systems with an index, and one without."""
    results = tmp_path / "results"
    score(results, "no-memory", (0, 0, 0, 0), control=True)
    score(results, "acme", (12, 12, 5, 11))
    score(results, "blue", (4, 8, 15, 9), version=shown(HOSTILE))
    score(results, "cyan", (4,))
    return results


def test_the_page_has_index_scale_ranks_and_reasons(results: Path) -> None:
    page, _files = published(results)
    words = words_of(str(page.body))
    assert "100 is" in words and words.count("100.0 % perfect score") == 4
    assert "50.0" in words and "45.0" in words
    assert "1 of 4 No ranked run on" in words
    assert "memeval overall retrieval@3 --lead acme blue" in words
    assert [heading.title for heading in page.headings] == ["Retrieval"]


def test_ties_that_intervals_do_not_show_are_told_by_name(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tie = TiedPair(higher="acme", lower="blue", p=0.01, corrected=0.2, reason="It has p = 0.2.")

    def tied(board: Board, suite: BenchmarkSuite) -> Overall:
        return overall(board, suite).model_copy(update={"tied_apart": (tie,)})

    monkeypatch.setattr("memeval.site.pages.overall.overall", tied)
    page, _files = published(results)
    assert "Acme and Blue are tied although their intervals do not overlap. It has p = 0.2." in words_of(str(page.body))


def test_the_files_have_what_the_page_has(results: Path) -> None:
    _page, files = published(results)
    rows = list(csv.DictReader(io.StringIO(files["downloads/overall.csv"].decode())))
    assert [(row["system"], row["rank"], row["complete"]) for row in rows] == [
        ("acme", "1", "4"),
        ("blue", "2", "4"),
        ("cyan", "", "1"),
    ]
    (suite,) = json.loads(files["downloads/overall.json"])["suites"]
    assert [row["index"] for row in suite["rows"]] == pytest.approx(
        [(0.6 + 0.6 + 0.25 + 0.55) / 4, (0.2 + 0.4 + 0.75 + 0.45) / 4, None]
    )


def test_hostile_text_is_escaped(results: Path) -> None:
    page, _files = published(results)
    assert "<script>" not in str(page.body)
    assert str(escape(visible(shown(HOSTILE)))) in str(page.body)


def test_a_board_without_a_suite_says_so(tmp_path: Path) -> None:
    make_run(tmp_path / "results", "acme")
    page, files = published(tmp_path / "results")
    assert "No system has a run on a suite yet." in words_of(str(page.body))
    assert json.loads(files["downloads/overall.json"])["suites"] == []


def ranked(number: int, total: int) -> OverallRow:
    stable = Stability(best=1, worst=total, middle=(number, total), first=0.5, without=(number, 1))
    return OverallRow(
        system=f"s{number}",
        name=f"<b>{number}</b>",
        is_control=False,
        versions=("1",),
        runs=("r",),
        scores=(0.5,),
        shares=(0.5,),
        complete=1,
        index=0.5,
        rank=number,
        stability=stable,
    )


@pytest.mark.parametrize("total", [1, 2, 500])
def test_the_chart_of_ranks_shows_the_first_systems_on_one_scale(total: int) -> None:
    chart = rank_ranges("r", "Ranks <i>", [ranked(number, total) for number in range(1, total + 1)])
    drawn = ElementTree.fromstring(str(chart.drawing))
    labels = [each.text for each in drawn.iter() if each.tag.endswith("text")]
    names = [f"<b>{number}</b>" for number in range(1, min(total, RANKS_SHOWN) + 1)]
    assert labels[-len(names) :] == names
    assert drawn[0].text == "Ranks <i>" and 1 <= len(labels) - len(names) <= 15
