"""Boards of one run and of five hundred systems: what their pages say and weigh."""

import gzip
import re
from pathlib import Path

import pytest

from memeval.records.grade import Grade
from memeval.records.run import SystemKind
from memeval.site.model.files import Page
from memeval.site.pages.benchmarks import BenchmarkPages
from memeval.site.pages.front import FrontPage
from memeval.site.pages.publisher import publishers
from memeval.site.pages.systems import SystemPages
from tests.site import factory
from tests.site.factory import FakeBenchmark, Made, every_second
from tests.site.reading import pages_of, site_of

SYSTEMS = 500


def right(_number: int, grade: Grade) -> Grade:
    return grade.model_copy(update={"verdict": True})


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the pages with all systems of a board of 500, of which one is better than the others, by address."""
    results = tmp_path_factory.mktemp("many") / "results"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factory, "ITEMS", 3)
        benchmark = FakeBenchmark()
        made = [
            Made(f"system-{number:03}", f"Memory {number:03}", grades=every_second) for number in range(SYSTEMS - 1)
        ]
        made += [Made("best", "Best", grades=right), Made("bm25", "BM25", 0.5, SystemKind.CONTROL, grades=every_second)]
        site = site_of(results, *made, benchmark=benchmark)
        systems = next(iter(SystemPages().publish(site)))
        assert isinstance(systems, Page)
        return pages_of(site, FrontPage, BenchmarkPages) | {systems.url: str(systems.body)}


@pytest.mark.parametrize("url", ["", "benchmarks/fake@1/"])
def test_of_five_hundred_systems_thirty_are_shown_and_all_are_there(pages: dict[str, str], url: str) -> None:
    table = pages[url][pages[url].index("<tbody>") : pages[url].index("</tbody>")]
    rows = re.findall("<tr[^>]*>", table)
    controls = sum('data-control="yes"' in row for row in rows)
    assert len(rows) - controls == SYSTEMS
    assert [("mv-beyond" in row) for row in rows] == [number >= 30 for number in range(len(rows))]
    assert "Show all rows" in pages[url]
    assert "Best" in table[: table.index("Memory")], "the best system comes first"
    assert len(gzip.compress(pages[url].encode())) <= 150_000


def test_of_five_hundred_systems_the_tied_ones_share_their_ranks(pages: dict[str, str]) -> None:
    board = pages["benchmarks/fake@1/"]
    assert "the data do not show which" in board
    assert f"1–{SYSTEMS}" in board


def test_the_list_of_systems_has_all_five_hundred(pages: dict[str, str]) -> None:
    assert len(set(re.findall(r'href="[./]*(system-\d+)/"', pages["systems/"]))) == SYSTEMS - 1


def test_a_board_of_one_run_has_every_page_and_no_rank(tmp_path: Path) -> None:
    site = site_of(tmp_path / "results", Made("acme", "Acme Memory"))
    (run,) = (row.run for row in site.board.runs)
    found = pages_of(site, *map(type, publishers()))
    assert {"", "benchmarks/fake@1/", "systems/acme/", f"runs/{run.run_id}/", "compare/", "trends/"} <= found.keys()
    assert (
        "<bdi>Acme Memory</bdi> is the only ranked system. No simple baseline ran here." in found["benchmarks/fake@1/"]
    )
    assert '<p class="mv-facts">1 run ·' in found[""] and "1 row<" in found[""]
    assert "mv-answer" not in found[""] and 'id="capabilities"' not in found[""]
