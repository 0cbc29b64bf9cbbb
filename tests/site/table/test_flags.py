"""The warnings beside the names of systems."""

from pathlib import Path

import pytest

from memeval.records.run import SystemKind
from memeval.site.model.content import read_site
from memeval.site.table.flags import marks
from tests.site.factory import FakeBenchmark, Made, make_run


@pytest.mark.parametrize(("bm25", "found"), [(0.9, ["below file search"]), (0.2, [])])
def test_no_warning_repeats_the_test_against_the_best_baseline(tmp_path: Path, bm25: float, found: list[str]) -> None:
    made = (
        Made("acme", "Acme", 0.3),
        Made("bm25", "BM25", bm25, SystemKind.CONTROL),
        Made("file-grep", "Text files and grep", 0.7, SystemKind.CONTROL),
    )
    for each in made:
        make_run(tmp_path, each, FakeBenchmark())
    site = read_site(tmp_path, find=lambda _name: FakeBenchmark())
    (table,) = site.board.tables
    row = next(each for each in table.rows if each.run.system.slug == "acme")
    assert [mark.name for mark in marks(site, table, row)] == found
