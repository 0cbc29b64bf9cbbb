"""The page of trends, the versions on the page of a product, and the pages of changed versions."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder, history_runs
from memeval.records.api import ApiTrends
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEvent
from memeval.site.model.content import SiteModel, read_site
from memeval.site.pages.api import ApiFiles, FeedFile
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.systems import SystemPages
from memeval.site.pages.trends import DOWNLOAD, TrendsPage
from memeval.site.pages.version_changes import VersionChangePages
from memeval.site.trends.product_trends import EMBEDDER, trends_of
from tests.site.factory import HOSTILE
from tests.site.reading import assets_of, pages_of, words_of
from tests.support.made_versions import REASON, VERSIONS, Made, clustered, make_history, product_of
from tests.support.runs import edit_head, make_run, make_track

STEADY = [Made(f"1.{number}", f"2025-0{number + 1}-01", 30) for number in range(3)]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path_factory.mktemp("cache")))


def unknown(name: str) -> None:
    raise BadInput(f"unknown benchmark {name}")


def site_of(results: Path) -> SiteModel:
    return read_site(results, find=unknown)  # type: ignore[arg-type]


def board(results: Path, slug: str, right: int) -> RunFolder:
    """Write a run of the version of today, so that the product has a page."""
    parts = {"product": product_of(slug, "9.0"), "regraded": clustered}
    return make_run(results, slug, {"kept": right, "changed": right}, started="2026-11-20T10:00:00+00:00", **parts)  # type: ignore[arg-type]


def without_history(results: Path) -> None:
    """Write a run of another package of the product, so that the product has a page."""
    make_run(results, "acme", product=product_of("acme", "1").model_copy(update={"package": "other"}))


def files(results: Path, publisher: type[Publisher]) -> dict[str, str]:
    site = site_of(results)
    return pages_of(site, publisher) | {path: data.decode() for path, data in assets_of(site, publisher).items()}


def test_a_board_with_one_version_of_each_product_says_how_to_measure_more(tmp_path: Path) -> None:
    make_run(tmp_path, "acme")
    said = words_of(files(tmp_path, TrendsPage)["trends/"])
    assert "No product has run in two versions on one track yet. memeval history SYSTEM measures" in said
    assert "1 other product without two versions measured on one track." in said


def test_an_empty_board_has_a_page(tmp_path: Path) -> None:
    assert "No product has run in two versions" in words_of(files(tmp_path, TrendsPage)["trends/"])


def test_a_row_has_the_change_the_step_both_ends_and_the_times(tmp_path: Path) -> None:
    make_history(tmp_path, "acme", VERSIONS[:-1])
    make_run(tmp_path, "borealis", regraded=clustered)
    board(tmp_path, "acme", 45)
    page = files(tmp_path, TrendsPage)["trends/"]
    said = words_of(page)
    assert re.search(r"Acme made-up@1\S* .*\+50\.0 \+\d+\.\d to \+\d+\.\d 1\.0\.0 : \+50\.0 p < 0\.001", said)
    assert "3 of 4 ran" in said
    assert "40.0 0.10.0 , 2024-07-01" in said and "90.0 9.0" in said
    assert re.search(r"6\.12 × 6\.0–6\.2; first, 0\.10\.0 : 4\.08 ×", said)
    assert page.count("mv-spark") == 1 and len(page) < 20_000
    assert f"trends/acme/1.0.0/{make_track().id}/" not in page, "links are relative to the page"
    assert f'href="acme/1.0.0/{make_track().id}/"' in page


def test_times_that_were_counted_in_another_way_do_not_stand_side_by_side(tmp_path: Path) -> None:
    last = make_history(tmp_path, "acme", VERSIONS[1:])[-1]
    assert last.run.beside is not None
    edit_head(last, beside=last.run.beside.data() | {"fastest": last.run.beside.data()["search"]})
    board(tmp_path, "acme", 45)
    said = words_of(files(tmp_path, TrendsPage)["trends/"])
    assert re.search(r"6\.12 × 6\.0–6\.2 6\.12 × 6\.0–6\.2; first, 0\.10\.0 : 2\.04 ×", said), "search, then ingestion"
    assert "timed in another way than before" in words_of(files(tmp_path, SystemPages)["systems/acme/"])


def test_a_product_that_never_changed_says_so(tmp_path: Path) -> None:
    make_history(tmp_path, "acme", STEADY)
    board(tmp_path, "acme", 30)
    assert "0 equal answers none" in words_of(files(tmp_path, TrendsPage)["trends/"])


def test_a_product_that_equals_our_embedder_has_a_line_and_no_chart(tmp_path: Path) -> None:
    make_history(tmp_path, "acme", [Made("0.9", "2025-01-01", None), *STEADY])
    board(tmp_path, "acme", 30)
    make_run(tmp_path, EMBEDDER, {"kept": 30, "changed": 30}, regraded=clustered)
    page = files(tmp_path, TrendsPage)["trends/"]
    sentence = "4 versions: it searches with our embedder. No version differs from the MiniLM vectors on any question."
    assert sentence in words_of(page) and "mv-spark" not in page
    product = files(tmp_path, SystemPages)["systems/acme/"]
    said = "4 versions ran. It searches with our embedder. No version differs from the MiniLM vectors on any"
    assert said in words_of(product) and "mv-trend-line" not in product


def test_one_version_that_differs_from_our_embedder_gives_a_chart(tmp_path: Path) -> None:
    make_history(tmp_path, "acme", [*STEADY, Made("2.0", "2026-01-01", 31)])
    board(tmp_path, "acme", 30)
    make_run(tmp_path, EMBEDDER, {"kept": 30, "changed": 30}, regraded=clustered)
    [product] = trends_of(site_of(tmp_path)).products
    assert not product.is_embedder and product.chart is not None


def test_the_page_of_a_product_has_one_chart_with_a_line_for_each_track(tmp_path: Path) -> None:
    make_history(tmp_path, "acme")
    for number, version in enumerate(("1.0.0", "1.1.0")):
        make_run(
            tmp_path,
            "acme",
            {"kept": 20 + number},
            product=product_of("acme", version),
            track=make_track(tier="small"),
            regraded=clustered,
            started=f"2026-11-2{number}T10:00:00+00:00",
        )
    page = files(tmp_path, SystemPages)["systems/acme/"]
    assert page.count('<svg class="mv-trend"') == 1
    assert page.count('class="mv-trend-line" d="M') >= 2
    assert page.count("mv-trend-gap") == 1 and REASON in page
    assert "date unknown" in page, "a run of today has no date of release"


def test_a_chart_with_dates_has_years_and_one_without_has_versions(tmp_path: Path) -> None:
    make_history(tmp_path / "dated", "acme")
    make_history(tmp_path / "order", "acme", [each._replace(released=None) for each in VERSIONS])
    charts, labels = [], []
    for name in ("dated", "order"):
        without_history(tmp_path / name)
        [product] = trends_of(site_of(tmp_path / name)).products
        assert product.chart is not None
        charts.append([label for _place, label in product.chart.chart.x.ticks])
        labels.append([point.label for point in product.chart.chart.lines[0].points])
    assert all(re.search(r"20\d\d", label) for label in charts[0])
    assert charts[1] == labels[0] == [each.version for each in VERSIONS]
    assert set(labels[1]) == {None}, "the axis names every version"


def test_a_change_has_a_page_with_the_items_that_flipped(tmp_path: Path) -> None:
    make_history(tmp_path, "acme")
    without_history(tmp_path)
    made = files(tmp_path, VersionChangePages)
    [(url, page)] = made.items()
    assert url == f"trends/acme/1.0.0/{make_track().id}/"
    said = words_of(page)
    assert "Acme 1.0.0 against 0.10.0" in said
    assert "50 items better, 0 worse, 50 equal. This is a step of its history (p < 0.001)." in said
    assert "Better: 50 items" in said and "kept-020" in said and "kept-045" not in said
    first, second = (folder.path.name for folder in history_runs(tmp_path)[:2])
    assert f"memeval compare {first} {second}" in said or f"memeval compare {second} {first}" in said


def test_csv_api_and_feed_have_the_numbers_of_the_page(tmp_path: Path) -> None:
    make_history(tmp_path, "acme")
    without_history(tmp_path)
    rows = list(csv.DictReader(io.StringIO(files(tmp_path, TrendsPage)[DOWNLOAD])))
    api = files(tmp_path, ApiFiles)["api/v1/trends.json"]
    [trend] = ApiTrends.parse(api.encode(), "api").trends
    scores = [row for row in rows if row["measure"] == "composite"]
    assert [(row["version"], row["value"], row["low"]) for row in scores] == [
        (each.version, "" if each.score is None else repr(each.score), "" if each.low is None else repr(each.low))
        for each in trend.versions
    ]
    ratios = [row["value"] for row in rows if row["measure"] == "search_ratio"]
    assert ratios == ["" if each.search_ratio is None else repr(each.search_ratio) for each in trend.versions]
    [step] = trend.steps
    assert [row["version"] for row in scores if row["step_p"]] == [step.version] == ["1.0.0"]
    assert trend.versions[0].gap == REASON
    feed = files(tmp_path, FeedFile)["feed.xml"]
    assert "<title>Acme 1.0.0: +50.0 points on made-up@1" in feed
    assert "The score changed from 40.0 % to 90.0 % (p &lt; 0.001)." in feed
    whole, entry = re.findall("<updated>(.*)</updated>", feed)
    assert whole == entry, "the feed is as new as its newest entry"
    assert json.loads(api)["trends"][0]["change"]["difference"] == pytest.approx(0.5)


def test_invalidated_runs_are_no_points_and_are_counted(tmp_path: Path) -> None:
    folders = make_history(tmp_path, "acme")
    board(tmp_path, "acme", 30)
    Ledger(tmp_path).append(LedgerEvent.INVALIDATED, folders[0], by="m", reason="Leaked.")
    said = words_of(files(tmp_path, TrendsPage)["trends/"])
    assert "Runs that do not count: 1 invalidated." in said


def test_names_and_reasons_from_outside_stay_text(tmp_path: Path) -> None:
    make_history(tmp_path, "acme", [*VERSIONS[:-1], Made("1.2", None, 20)])
    for folder in history_runs(tmp_path):
        product = folder.run.system.product
        assert product is not None
        system = folder.run.system.data() | {"product": product.data() | {"name": HOSTILE[:60]}}
        edit_head(folder, system=system)
    make_run(tmp_path, "acme", product=product_of("acme", "3").model_copy(update={"name": HOSTILE[:60]}))
    for publisher in (TrendsPage, SystemPages, VersionChangePages):
        for name, content in files(tmp_path, publisher).items():
            assert "<script>alert" not in content or name.endswith(".csv"), name


def test_the_trends_of_the_stored_histories_are_a_small_page(tmp_path: Path) -> None:
    stored = Path(__file__).parents[3] / "results"
    if not history_runs(stored):
        pytest.skip("no history of versions is stored")
    results = tmp_path / "results"
    results.mkdir()
    (results / "history").symlink_to(stored / "history")
    for slug in {folder.run.system.slug for folder in history_runs(stored)}:
        for benchmark in ("lifecycle", "locomo"):
            (results / benchmark).mkdir(exist_ok=True)
            (results / benchmark / slug).symlink_to(stored / benchmark / slug)
    page = pages_of(read_site(results), TrendsPage)["trends/"]
    assert "mv-spark" in page and len(page.encode()) < 150_000
