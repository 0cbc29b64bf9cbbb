"""The page of trends in a real browser: systems are put on its charts and taken off."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from memeval.site import build
from tests.browser.conftest import Host, Visit
from tests.site.conftest import Built
from tests.site.factory import FakeBenchmark, Made, make_board

pytestmark = pytest.mark.browser

BOARD = (
    Made("acme", "Acme", 0.8, started="2026-10-01T10:00:00+00:00"),
    Made("acme", "Acme", 0.9, version="1.1", started="2026-11-01T10:00:00+00:00"),
    Made("borealis", "Borealis", 0.5),
)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """A site of two systems on one track, of which one has two runs."""
    folder, benchmark = tmp_path_factory.mktemp("trends"), FakeBenchmark()
    runs = make_board(folder / "results", benchmark, BOARD)
    build(folder / "results", folder / "site", find=lambda _name: benchmark)
    with Host(Built(folder / "site", folder / "results", benchmark, runs).out) as host:
        yield host


def test_a_system_is_put_on_a_chart_and_taken_off_by_keyboard(wide: Visit) -> None:
    page = wide.go("trends/")
    section = page.locator("[data-trends]").first
    box = section.get_by_role("checkbox").first
    line = section.locator('figure >> nth=0 >> [data-series="s1"]')
    expect(box).to_be_checked()
    expect(line).to_be_visible()
    box.focus()
    page.keyboard.press("Space")
    expect(line).to_be_hidden()
    page.reload()
    expect(line).to_be_hidden()
    box.focus()
    page.keyboard.press("Space")
    expect(line).to_be_visible()
    name = section.get_by_role("listitem").first.inner_text()
    assert box.get_attribute("type") == "checkbox" and section.get_by_label(name).count() == 1


def test_a_system_in_the_address_that_no_chart_has_is_named(wide: Visit) -> None:
    page = wide.go("trends/?draw=<b>nobody")
    expect(page.locator(".mv-problem")).to_contain_text("system “<b>nobody”")


def test_the_charts_read_without_scripts(unscripted: Visit) -> None:
    page = unscripted.go("trends/")
    expect(page.locator("[data-trends] figure svg").first).to_be_visible()
    expect(page.locator('[data-series="s2"]').first).to_be_visible()
