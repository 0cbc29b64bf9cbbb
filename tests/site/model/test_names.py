"""Systems of one name on the pages."""

from pathlib import Path

import pytest

from memeval.records.run import SystemKind
from memeval.site.model.content import SiteModel
from tests.site.factory import Made
from tests.site.reading import site_of


def names(site: SiteModel) -> dict[str, str]:
    return {row.run.system.slug: row.run.system.name for row in site.board.runs}


@pytest.mark.parametrize("other", ["Twin", "TWIN", " Twin\u00a0", "Twin\u2003"])
def test_systems_of_one_name_are_shown_with_their_slugs(tmp_path: Path, other: str) -> None:
    site = site_of(tmp_path, Made("one", "Twin"), Made("two", other), Made("three", "Triplet"))
    assert names(site) == {"one": "Twin (one)", "two": f"{other} (two)", "three": "Triplet"}
    assert {row.run.system.name for row in site.board.tables[0].rows} == set(names(site).values())


def test_a_submission_with_the_name_of_a_control_is_told_apart(tmp_path: Path) -> None:
    site = site_of(tmp_path, Made("bm25", "BM25", kind=SystemKind.CONTROL), Made("mine", "BM25"))
    assert names(site) == {"bm25": "BM25 (bm25)", "mine": "BM25 (mine)"}
    baseline = site.board.tables[0].baseline
    assert baseline is not None and baseline.system.name == "BM25 (bm25)"


def test_two_runs_of_one_system_keep_its_name(tmp_path: Path) -> None:
    site = site_of(tmp_path, Made("one", "Twin"), Made("one", "Twin", started="2026-11-02T10:00:00+00:00"))
    assert names(site) == {"one": "Twin"}
