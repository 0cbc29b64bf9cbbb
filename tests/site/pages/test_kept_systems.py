"""The page of a system is made again if anything that it shows has changed, and only then."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memeval.archive import run_cache
from memeval.archive.audits import write_audit
from memeval.archive.conformance import store
from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.leaderboard.ranking import PairTest
from memeval.records.audit import ProbeKind
from memeval.records.base import digest_of
from memeval.records.ledger import LedgerEvent
from memeval.records.run import Run, SystemKind
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, Page, file_bytes
from memeval.site.pages import systems
from memeval.site.pages.kept_files import row_inputs
from memeval.site.pages.product_results import CategoryDifference
from memeval.site.pages.systems import ProductPage, SystemPages
from memeval.site.table import tables
from tests.site.conftest import published_board
from tests.site.factory import FakeBenchmark, Made, make_run
from tests.site.pages.test_systems import report
from tests.site.reading import site_of
from tests.support.audits import make_audit, make_probe

ROOT = Path(__file__).parents[3]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two systems, one of them with two runs on a track and one on another, and two controls."""
    for made in (
        Made("acme", "Mem0", 0.9),
        Made("acme", "Mem0", 0.7, started="2026-10-01T10:00:00+00:00"),
        Made("acme", "Mem0", 0.8, tier="small", started="2026-10-02T10:00:00+00:00"),
        Made("borealis", "Borealis", 0.8),
        Made("bm25", "BM25", 0.2, SystemKind.CONTROL),
        Made("no-memory", "No memory", 0.05, SystemKind.CONTROL),
    ):
        make_run(tmp_path / "board/results", made, FakeBenchmark())
    return tmp_path / "board/results"


def acme(results: Path, newest: bool = True) -> RunFolder:
    found = sorted((results / "fake/acme").iterdir())
    return RunFolder(found[-1] if newest else found[0])


def made(site: SiteModel, cache: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    with monkeypatch.context() as patch:
        patch.setattr(run_cache, "cache_home", lambda: cache)
        files = list(SystemPages().publish(site))
    pages: dict[str, object] = {file.url: file for file in files if isinstance(file, Page)}
    return pages | {file.path: file_bytes(file) for file in files if isinstance(file, Asset)}


def another_run(results: Path) -> None:
    make_run(results, Made("acme", "Mem0", 0.5, started="2026-11-20T10:00:00+00:00"), FakeBenchmark())


def another_system(results: Path) -> None:
    make_run(results, Made("other", "Other", 0.5), FakeBenchmark())


def better_baseline(results: Path) -> None:
    run = Made("recency-window", "Recency window", 0.99, SystemKind.CONTROL, started="2026-11-20T10:00:00+00:00")
    make_run(results, run, FakeBenchmark())


def accepted(results: Path) -> None:
    Ledger(results).append(LedgerEvent.ACCEPTED, acme(results), by="maintainer", reason="A pull request.")


def superseded(results: Path) -> None:
    old, new = acme(results, newest=False), acme(results)
    Ledger(results).append(LedgerEvent.SUPERSEDED, old, by="maintainer", reason="A later version.", other=new)


def described(results: Path) -> None:
    folder = results.parent / "submissions/acme"
    folder.mkdir(parents=True)
    text = (ROOT / "submissions/astrocyte/submission.toml").read_text().replace('"astrocyte"', '"acme"')
    (folder / "submission.toml").write_text(text)


def claimed(results: Path) -> None:
    published_board(results.parent)


def without_rows(results: Path) -> None:
    for run in (acme(results), acme(results, newest=False)):
        run.file("grades.jsonl").unlink()


def conforms(results: Path) -> None:
    store(results, report(acme(results)))


def audited(results: Path) -> None:
    benchmark = FakeBenchmark()
    made = make_audit(benchmark=benchmark.info.id, data_digest=benchmark.dataset.digest)
    write_audit(results, made, [make_probe(1, ProbeKind.OFF, verdict=False)], [])


def on_a_larger_track(results: Path) -> None:
    for slug in ("one", "two", "three", "four", "five"):
        make_run(results, Made(slug, slug, kind=SystemKind.CONTROL, tier="small"), FakeBenchmark())


def coloured(results: Path) -> None:
    (results.parent / "memeval.toml").write_text('[colours]\nprimary = "#123456"\n')


def released_site(site: SiteModel) -> SiteModel:
    return replace(site, version="2026.1")


def renamed_benchmark(site: SiteModel) -> SiteModel:
    (view,) = site.benchmarks.values()
    assert view.info is not None
    return replace(site, benchmarks={view.id: replace(view, info=view.info.model_copy(update={"title": "Renamed"}))})


CHANGES = (
    *(another_run, another_system, better_baseline, accepted, superseded, described, claimed, without_rows, conforms),
    *(audited, on_a_larger_track, coloured),
)


@pytest.mark.parametrize("change", [*CHANGES, released_site, renamed_benchmark])
def test_a_change_gives_the_page_of_a_new_cache(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], SiteModel | None]
) -> None:
    before = made(site_of(results), tmp_path / "cache", monkeypatch)
    changed = None if change in CHANGES else change(site_of(results))
    if changed is None:
        change(results)
        changed = site_of(results)
    after = made(changed, tmp_path / "new", monkeypatch)
    assert [name for name in after if "acme" in name and after[name] != before.get(name)]
    assert made(changed, tmp_path / "cache", monkeypatch) == after


def test_a_page_of_which_nothing_has_changed_is_not_made_again(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = made(site_of(results), tmp_path / "cache", monkeypatch)
    make_run(results, Made("other", "Other", 0.5), FakeBenchmark())
    asked: list[str] = []

    def needs_of(run: Run) -> object:
        asked.append(run.system.slug)
        return tables.needs(run)

    monkeypatch.setattr(systems, "needs", needs_of)
    after = made(site_of(results), tmp_path / "cache", monkeypatch)
    assert "other" in asked and "no-memory" not in asked
    assert after["systems/no-memory/"] == before["systems/no-memory/"]


def test_the_name_that_a_system_has_on_the_board_counts(results: Path) -> None:
    row, *_ = site_of(results).board.runs
    system = row.run.system.model_copy(update={"name": f"{row.run.system.name} ({row.run.system.slug})"})
    assert row_inputs(replace(row, run=row.run.model_copy(update={"system": system}))) != row_inputs(row)


def test_each_part_of_a_result_counts(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[ProductPage] = []

    def kept_files(_url: str, _inputs: object, make: Any) -> list[Page]:
        pages.append(make.__self__)
        return []

    monkeypatch.setattr(systems, "kept_files", kept_files)
    list(SystemPages().publish(site_of(results)))
    page = next(page for page in pages if page.group.slug == "acme")
    result = page.main.results[0]
    assert result.table.baseline is not None
    test = CategoryDifference("Updates", PairTest(0.5, 0.01, 0.02), result.row.run.scores.overall)
    renamed = result.table.baseline.system.model_copy(update={"name": "Another name"})
    changes: list[dict[str, Any]] = [
        {},
        {"better": (test,)},
        {"worse": (test,)},
        {"untested": "not compared"},
        {"evidence": (("all", "right", 1),)},
        {"table": replace(result.table, track=result.table.track.model_copy(update={"tier": "small"}))},
        {"table": replace(result.table, baseline=result.table.baseline.model_copy(update={"system": renamed}))},
    ]
    views = [replace(page.main, results=(replace(result, **change),)) for change in changes]
    inputs = [digest_of(replace(page, views=(view,)).inputs()) for view in views]
    assert len(set(inputs)) == len(changes)
