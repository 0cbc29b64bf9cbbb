"""What ``memeval.toml`` changes on the pages, and what it never changes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.runs import RunFolder
from memeval.leaderboard.board_settings import board_file, own_score, shows
from memeval.leaderboard.releases import derived
from memeval.records.errors import BadInput
from memeval.records.settings import BoardSettings
from memeval.site import build
from memeval.site.model.content import SiteModel, read_site
from memeval.site.model.urls import benchmark_url
from memeval.site.pages.benchmarks import BenchmarkPages
from memeval.site.table.tables import view
from tests.site.factory import FakeBenchmark, Made, make_run
from tests.site.reading import pages_of

OWN = '[weights."fake@1"]\nbelief-update = 0.25\nnoise-resistance = 0.75\n'
FULL = """title = "Memory & more"
repository = "https://example.org/boards/mine"
benchmarks = ["fake@1"]
[colours]
primary = "#5b2a86"
accent = "#5b2a86"
accent_dark = "#c9a7eb"
[headline."fake@1"]
reader = "extractive@2"
"""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    for benchmark, slug, reader in (
        ("fake@1", "ours", "native"),
        ("fake@1", "theirs", "native"),
        ("fake@1", "third", "extractive@2"),
        ("other@1", "ours", "native"),
    ):
        make_run(folder, Made(slug, slug.title(), reader=reader), FakeBenchmark(id=benchmark))
    return folder


def site(results: Path, text: str = "") -> SiteModel:
    (results.parent / "memeval.toml").write_text(text, encoding="utf-8")
    return read_site(results, find=lambda name: FakeBenchmark(id=known(name)))


def known(name: str) -> str:
    if name not in ("fake@1", "other@1"):
        raise BadInput(f"unknown benchmark '{name}'.", remedy="Choose one of: fake@1, other@1.")
    return name


def test_own_weights_add_a_score_and_change_no_rank_and_no_release(results: Path) -> None:
    plain, own = site(results), site(results, OWN)
    assert derived(plain.board) == derived(own.board)
    for table in own.board.tables:
        columns = [column.name for column in view(own, table).columns]
        assert ("own_score" in columns) is (table.track.benchmark == "fake@1")
    table = next(table for table in own.board.tables if table.track.benchmark == "fake@1")
    for line in view(own, table).lines:
        shares = {category.name: category.tally.accuracy or 0.0 for category in line.row.run.scores.categories}
        cell = next(cell for cell in line.cells if cell.column.name == "own_score")
        expected = 0.25 * shares["belief-update"] + 0.75 * shares["noise-resistance"]
        assert cell.reading.value == pytest.approx(expected) != line.row.run.scores.composite.value
        assert cell.reading.interval is not None and cell.reading.interval.low < expected < cell.reading.interval.high
    sentence = "Belief update 25 %, Noise resistance 75 %"
    made = pages_of(own, BenchmarkPages)
    with_them = [url for url, page in made.items() if f"Own weights of this board: {sentence}." in page]
    assert len(with_them) == 2 and benchmark_url("fake@1") in with_them
    assert "Own weights" not in pages_of(plain, BenchmarkPages)[benchmark_url("fake@1")]


def test_the_weights_of_the_benchmark_give_its_own_composite(results: Path) -> None:
    same = site(results, '[weights."fake@1"]\nbelief-update = 0.6\nnoise-resistance = 0.4\n')
    rows = [row for row in same.board.runs if row.run.track.benchmark == "fake@1"]
    assert [same.own_scores[row.folder.path] for row in rows] == [row.run.scores.composite for row in rows]


def test_a_track_without_one_of_the_weighted_categories_has_no_own_score(results: Path) -> None:
    (folder,) = (RunFolder(path.parent) for path in results.glob("fake/theirs/*/run.json"))
    assert own_score(folder, {"belief-update": 0.5, "elsewhere": 0.5}) is None
    assert own_score(folder, {"belief-update": 1.0}) is not None


def test_a_run_whose_grades_are_elsewhere_has_no_own_score_and_says_why(results: Path) -> None:
    for rows in results.glob("fake/ours/*/grades.jsonl.gz"):
        rows.unlink()
    found = site(results, OWN)
    (folder,) = (
        row.folder for row in found.board.runs if row.run.system.slug == "ours" and "fake" in str(row.folder.path)
    )
    assert found.own_scores[folder.path].reason == "The grades of this run are only in the archive."


def test_a_headline_track_comes_first(results: Path) -> None:
    for reader in ("extractive@2", "native"):
        made = site(results, f'[headline."fake@1"]\nreader = "{reader}"\n')
        page = pages_of(made, BenchmarkPages)[benchmark_url("fake@1")]
        order = re.findall(r'<(?:section|li) id="track-(\w+)"', page)
        readers = {table.track.id: table.track.reader for table in made.board.tables}
        assert len(order) == 2 and readers[order[0]] == reader


def test_a_board_shows_only_its_benchmarks(results: Path) -> None:
    made = site(results, 'benchmarks = ["fake@1"]\n')
    assert {row.run.track.benchmark for row in made.board.runs} == {"fake@1"}
    assert list(made.benchmarks) == ["fake@1"]
    assert shows(made.settings, "other@1", "fake@1") and not shows(made.settings, "other@1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('benchmarks = [\n"fake@1", "fkae@1"]\n', "1: unknown benchmark 'fkae@1'. Choose one of: fake@1, other@1."),
        ('[weights."nope@1"]\na = 1.0\n', "1: unknown benchmark 'nope@1'."),
        (
            '[weights."fake@1"]\nbelief-updat = 1.0\n',
            "2: fake@1 has no category 'belief-updat'. Did you mean 'belief-update'?",
        ),
        ('[headline."fake@1"]\nprotocol = "f1"\n', "2: fake@1 has no protocol 'f1'. Choose one of: judge."),
        ('[headline."fake@1"]\ntier = "fulll"\n', "2: fake@1 has no tier 'fulll'. Did you mean 'full'?"),
        ('[headline."fake@1"]\nreader = "extractive@1"\n', "2: extractive@1 was removed: it returned one sentence"),
        ('[headline."fake@1"]\njudge = "rules@2"\n', "2: rules@2 was removed: it failed reference answers"),
        ('[headline."fake@1"]\ntrack = "abc"\n', "1: no run of fake@1 has this headline track. Choose one of: "),
    ],
)
def test_an_unknown_name_is_refused_with_its_line(results: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput) as refused:
        site(results, text)
    assert str(refused.value).startswith(f"{results.parent}/memeval.toml:{message}")


def test_a_headline_of_a_benchmark_without_runs_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    assert site(tmp_path / "results", '[headline."fake@1"]\nreader = "native"\n').headline == frozenset()


def test_title_repository_and_colours_reach_every_page(results: Path) -> None:
    (results.parent / "memeval.toml").write_text(FULL, encoding="utf-8")
    out = results.parent / "site"
    build(results, out, find=lambda name: FakeBenchmark(id=known(name)))
    front, guide = (out / "index.html").read_text(), (out / "methodology" / "index.html").read_text()
    assert "<h1>Memory &amp; more</h1>" in front
    for page, style in ((front, "./assets/board.css"), (guide, "../assets/board.css")):
        assert 'href="https://example.org/boards/mine"' in page
        assert f'<link rel="stylesheet" href="{style}">' in page
        assert page.index("assets/memeval.css") < page.index("assets/board.css")
    assert 'data-report="https://example.org/boards/mine/issues/new"' in (out / "items" / "index.html").read_text()
    style = (out / "assets" / "board.css").read_text()
    light, dark = style.split('[data-md-color-scheme="slate"]')
    assert "--mv-accent: #5b2a86;" in light and "--mv-accent: #c9a7eb;" in dark
    assert "--md-primary-fg-color: #5b2a86;" in light and "--md-primary-fg-color: #5b2a86;" in dark
    published = BoardSettings.model_validate_json((out / "board.json").read_bytes())
    assert published.title == "Memory & more" and published.headline["fake@1"].reader == "extractive@2"
    assert json.loads((out / "board.json").read_bytes()).keys().isdisjoint({"archive", "publish", "check"})


def test_without_settings_a_board_has_no_style_of_its_own(built: Any) -> None:
    assert not (built.out / "assets" / "board.css").exists()
    assert (built.out / "board.json").read_bytes() == board_file(BoardSettings()) == b"{}\n"
