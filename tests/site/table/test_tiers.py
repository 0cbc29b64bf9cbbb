"""What a benchmark's page says its tiers and tables can show."""

from pathlib import Path

import pytest

from memeval.archive.ledger import Ledger
from memeval.benchmarks import find
from memeval.leaderboard.board import BoardTable, build_board
from memeval.records.benchmark import TierInfo
from memeval.site.table.tiers import detectable_text, tier_powers
from memeval.statistics.detectable import Clustering, detectable
from tests.site.conftest import Built
from tests.support.runs import make_run, make_track


def table_of(folder: Path, items: int = 50, systems: int = 2, **parts: str) -> BoardTable:
    track = make_track(items, **parts)
    runs = [make_run(folder, f"acme-{number}", {"kept": 2 + number}, track=track) for number in range(systems)]
    (table,) = build_board(runs, Ledger(folder)).tables
    return table


def test_locomos_tiers_have_the_half_widths_that_are_documented_for_them() -> None:
    powers = {power.tier.name: power for power in tier_powers(find("locomo").info)}
    assert {name: round(100 * powers[name].half_width, 1) for name in ("quick", "fair", "full")} == {
        "quick": 13.4,
        "fair": 6.9,
        "full": 2.2,
    }


def test_a_tier_without_runs_has_an_assumed_difference_that_respects_its_clusters() -> None:
    powers = {power.tier.name: power for power in tier_powers(find("locomo").info)}
    assert {name: powers[name].difference for name in ("quick", "fair", "full")} == pytest.approx(
        {"quick": 0.209, "fair": 0.119, "full": 0.061}, abs=0.01
    )
    assert {power.note for power in powers.values() if power.clusters != 1} == {"disagreement assumed"}


def test_a_tier_of_one_cluster_shows_no_difference_and_unknown_clusters_are_unknown() -> None:
    info = find("lifebench").info
    quick = next(power for power in tier_powers(info) if power.tier.name == "quick")
    assert (quick.clusters, quick.difference, quick.note) == (1, None, "no difference can be shown")
    unknown = info.model_copy(update={"tiers": (TierInfo(name="full", items=9, how="All."),)})
    (power,) = tier_powers(unknown)
    assert (power.clusters, power.difference, power.note) == (None, None, "clusters unknown without the data")


def test_a_tier_with_runs_has_the_difference_of_its_largest_table(tmp_path: Path) -> None:
    tables = [
        table_of(tmp_path / "one", systems=2, benchmark="locomo@1", protocol="f1"),
        table_of(tmp_path / "two", systems=3, benchmark="locomo@1", protocol="f1", reader="extractive@2"),
        table_of(tmp_path / "other", systems=4, benchmark="locomo@1", protocol="retrieval"),
    ]
    powers = {power.tier.name: power for power in tier_powers(find("locomo").info, tables)}
    tests = tables[1].tests
    assert tests is not None
    assert tests.detectable.disagreement is not None
    assert (powers["full"].difference, powers["full"].note) == (tests.detectable.composite, "from 3 runs")
    expected = detectable(Clustering.even(50, 10), tests.detectable.disagreement)
    assert (powers["quick"].difference, powers["quick"].note) == (expected, "disagreement as in full")


def test_a_table_says_which_differences_it_cannot_show(tmp_path: Path) -> None:
    few = table_of(tmp_path / "few", items=2)
    assert detectable_text(few) == "No difference can be shown here: the items form 2 clusters, and the test needs 6."
    many = table_of(tmp_path / "many", items=100)
    assert many.tests is not None
    assert many.tests.detectable.composite is not None
    points = f"{100 * many.tests.detectable.composite:.1f}"
    assert detectable_text(many) == f"Two systems that differ by less than {points} points usually tie here."


def test_one_run_alone_is_judged_by_an_assumed_disagreement(tmp_path: Path) -> None:
    table = table_of(tmp_path, systems=1)
    assert table.tests is not None
    assert table.tests.detectable.is_assumed


def test_the_page_shows_the_detectable_difference_of_every_category(built: Built) -> None:
    page = built.read("benchmarks/fake@1/index.html")
    assert "Detectable, points" in page
    assert 'id="detectable"' in page
    assert "points usually tie here." in built.read("benchmarks/fake@1/index.html")


def test_the_catalogue_is_published_beside_its_page(built: Built) -> None:
    published = built.read("benchmarks/fake@1/catalogue.json")
    assert published == built.benchmark.info.to_json() + "\n"
    assert 'href="catalogue.json"' in built.read("benchmarks/fake@1/index.html")
