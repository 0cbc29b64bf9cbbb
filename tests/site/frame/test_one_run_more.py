"""A build that finds what earlier builds kept gives the bytes of a build that finds nothing."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import memeval
from memeval.archive import run_cache
from memeval.archive.runs import runs_under
from memeval.benchmarks import find
from memeval.benchmarks.beliefs.benchmark import BeliefsBenchmark
from memeval.site import build
from memeval.site.frame import navigation
from memeval.site.items.benchmark_shards import kept_benchmark_shards
from memeval.site.model import files
from memeval.site.model.benchmark_data import OpenData, asked_of, data_of
from memeval.site.model.content import read_site
from memeval.site.pages import benchmarks, rendering
from memeval.statistics import detectable as statistics
from tests.support.archives import contents

ROOT = Path(__file__).parents[3]
FIRST = "beliefs/no-memory", "beliefs/always-hedge", "qa-smoke"
KINDS = {
    *("data", "data-digest", "data-shards", "detectable", "failure-counts", "failures", "files"),
    *("framed-files", "index", "item-files", "reports", "samples", "scores", "search", "shards", "trace"),
}


def add_run(results: Path, name: str) -> Path:
    """Copy a stored run of the repository, with its path there."""
    run = min((ROOT / "results" / name).rglob("run.json")).parent
    return Path(shutil.copytree(run, results / run.relative_to(ROOT / "results")))


@dataclass(frozen=True)
class Board:
    folder: Path
    before: dict[str, bytes]

    @property
    def results(self) -> Path:
        return self.folder / "results"

    def built(self, cache: str = "cache") -> dict[str, bytes]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run_cache, "cache_home", lambda: self.folder / cache)
            build(self.results, self.folder / "site")
        return contents(self.folder / "site")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Board:
    """The board that the tests copy: its first build finds nothing that is kept."""
    folder = tmp_path_factory.mktemp("first")
    for name in FIRST:
        add_run(folder / "results", name)
    return Board(folder, Board(folder, {}).built())


@pytest.fixture
def board(first: Board, tmp_path: Path) -> Board:
    for name in ("results", "cache"):
        shutil.copytree(first.folder / name, tmp_path / name)
    return Board(tmp_path, first.before)


def test_a_run_and_a_ledger_more_or_less_give_the_bytes_of_a_new_build(board: Board) -> None:
    run = add_run(board.results, "beliefs/bm25")
    ledger = shutil.copyfile(ROOT / "results/ledger.jsonl", board.results / "ledger.jsonl")
    more = board.built()
    assert more == board.built("other") and len(more) > len(board.before)
    pages = [name for name in board.before if re.fullmatch("runs/[^/]+/index.html", name)]
    assert len(pages) == 3 and all(more[name] != board.before[name] for name in pages)
    shutil.rmtree(run)
    ledger.unlink()
    assert board.built() == board.before


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the hand-written pages and the templates, from which sites are then built."""

    def forget() -> None:
        for made in (files.assets_root, rendering.environment, rendering.templates_digest, navigation.guide):
            made.cache_clear()

    for name in ("site", "templates"):
        shutil.copytree(ROOT / name, tmp_path / "assets" / name)
    shutil.copyfile(ROOT / "mkdocs.yml", tmp_path / "assets/mkdocs.yml")
    monkeypatch.setattr(memeval, "__file__", str(tmp_path / "assets/harness/memeval/__init__.py"))
    forget()
    yield tmp_path / "assets"
    monkeypatch.undo()
    forget()


def test_changed_guide_pages_and_templates_give_the_bytes_of_a_new_build(board: Board, assets: Path) -> None:
    guide, glossary = assets / "site/faq.md", assets / "site/glossary.md"
    guide.write_text(guide.read_text() + "\n## A new section\n\nSee the [glossary](glossary.md).\n")
    glossary.write_text(glossary.read_text().replace("# ", "# All ", 1))
    frame = assets / "templates/frame/page.html"
    frame.write_text(frame.read_text().replace("</footer>", "</footer><!-- changed -->"))
    samples = assets / "templates/pages/samples.html"
    samples.write_text(samples.read_text() + "<p>Another template</p>")
    after = board.built()
    assert b"<p>Another template</p>" in after["benchmarks/beliefs@2/samples/index.html"]
    assert b'id="a-new-section"' in after["faq/index.html"]
    pages = {name for name in board.before if name.endswith("index.html")}
    assert pages == {name for name in pages if b"<!-- changed -->" in after[name]}
    assert after == board.built("other")


def test_a_damaged_file_of_the_earlier_site_is_written_again(board: Board) -> None:
    board.built()
    site = board.folder / "site"
    kept = [path for path in site.rglob("*") if path.is_file()]
    untouched = next(path for path in kept if path.name.endswith(".json.gz"))
    place = untouched.stat().st_ino
    for path in kept:
        if path != untouched and "assets" not in path.parts:
            path.write_bytes(b"damaged")
    assert board.built() == board.before
    assert untouched.stat().st_ino == place  # used again, not written


def test_nothing_that_is_kept_is_computed_again(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("memeval.site.frame.search_index.entries", refuse)
    monkeypatch.setattr(statistics, "_detectable", refuse)
    monkeypatch.setattr(benchmarks, "samples", refuse)
    monkeypatch.setattr("memeval.archive.runs.RunFolder.grades", refuse)
    monkeypatch.setattr("memeval.labels.worth.report", refuse)
    monkeypatch.setattr("memeval.site.model.reports.read_findings", refuse)
    monkeypatch.setattr("memeval.site.pages.runs.render", refuse)
    monkeypatch.setattr("memeval.site.frame.guide._converted", refuse)
    monkeypatch.setattr("memeval.benchmarks.beliefs.benchmark.BeliefsBenchmark.opened", refuse)
    assert board.built() == board.before


@pytest.mark.parametrize("cut", [True, False])
def test_a_damaged_content_is_never_shown(board: Board, cut: bool) -> None:
    files = sorted((board.folder / "cache/site").iterdir())
    assert {path.name.partition("-")[2] for path in files} >= KINDS
    for path in files:
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2] if cut else content[:-1] + bytes([content[-1] ^ 1]))
    assert board.built() == board.before


def test_other_parameters_give_data_with_another_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_cache, "cache_home", lambda: tmp_path)
    benchmark = BeliefsBenchmark()
    small, smaller = ({"seed": 42, "size": size} for size in (3, 2))
    assert (
        OpenData(benchmark, small, "judge", "full").digest() != OpenData(benchmark, smaller, "judge", "full").digest()
    )
    again = OpenData(benchmark, small, "judge", "full")
    assert again.digest() == again.dataset.digest


def test_data_that_is_asked_in_another_way_has_other_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_cache, "cache_home", lambda: tmp_path)
    tracks = {run.run.track.protocol: run.run.track for run in runs_under(ROOT / "results/qa-smoke")}
    one, two = (tracks[name] for name in sorted(tracks)[:2])
    assert one.data_digest == two.data_digest
    shards = [kept_benchmark_shards(data_of(track, find(track.benchmark), None), True) for track in (one, two, one)]
    assert shards[0] == shards[2] != shards[1]


def test_each_run_has_the_data_with_what_its_own_protocol_asks(tmp_path: Path) -> None:
    runs = {run.run.track.protocol: run for run in runs_under(ROOT / "results/qa-smoke")}
    for run in runs.values():
        shutil.copytree(run.path, tmp_path / run.path.relative_to(ROOT))
    site = read_site(tmp_path / "results")
    tracks = [run.run.track for run in runs.values()]
    found = [site.benchmark_of(track).data_for(track) for track in tracks]
    assert len(tracks) > 1 and {track.data_digest for track in tracks} == {data.digest for data in found}
    assert [data.asked for data in found] == [asked_of(track) for track in tracks]
    assert len({data.key for data in found}) == len(tracks)
