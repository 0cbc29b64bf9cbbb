"""What is reached without a mouse, without scripts and on paper."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_site import BOARD, board, kinds, shown
from tests.site.conftest import Built

pytestmark = pytest.mark.browser

REACHABLE = """() => [...document.querySelectorAll(
    "main :is(a[href], button, input, select, summary, [tabindex='0'])")]
    .filter((one) => one.checkVisibility({visibilityProperty: true}) && !one.disabled && one.getClientRects().length)
    .map((one, place) => { one.dataset.walk = place; return place; })"""
"""Numbers what a reader can operate in ``main``, in the order of the page."""

FOCUSED = """() => {
    const one = document.activeElement;
    const style = getComputedStyle(one);
    const box = one.getBoundingClientRect();
    return {
        place: one.dataset.walk === undefined ? null : Number(one.dataset.walk),
        ringed: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
        inside: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
        what: one.outerHTML.slice(0, 120),
    };
}"""
"""What has the focus, whether a ring shows it, and whether it is in the window."""


def walk(page: Page, most: int) -> tuple[int, list[int], list[str]]:
    """Press Tab through the page; return how much can be reached, what was, in order, and what had a fault."""
    every = page.evaluate(REACHABLE)
    page.evaluate("document.activeElement.blur()")
    places, faults = [], []
    for _ in range(most):
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUSED)
        if found["place"] is not None:
            places.append(found["place"])
            if not found["ringed"] or not found["inside"]:
                faults.append(found["what"])
        if places and places[-1] == every[-1]:
            break
    return len(every), places, faults


@pytest.mark.parametrize(
    "path", ["", "compare/?board={track}&runs={runs}", "overall/", BOARD + "?weights={track}:10,90"]
)
def test_a_keyboard_reaches_everything_in_order_and_shows_where_it_is(wide: Visit, site: Built, path: str) -> None:
    runs = f"{shown(site, 'acme')},{shown(site, 'borealis')}"
    page = wide.go(path.replace("{track}", site.runs[0].run.track_id).replace("{runs}", runs))
    if "runs=" in path:
        expect(page.locator(".mv-pair")).to_be_visible()
    if "weights" in path:
        expect(page.locator(".mv-sliders:visible")).to_be_visible()
    expect(page.locator("html[data-awake]")).to_be_attached()
    every, places, faults = walk(page, 500)
    assert faults == []
    assert places == list(range(every))


def test_escape_closes_the_column_picker_and_returns_to_it(wide: Visit) -> None:
    page = wide.go(BOARD)
    summary = page.locator("[data-tools] summary")
    summary.focus()
    page.keyboard.press("Enter")
    box = page.locator(".mv-picker").get_by_label("Version")
    expect(box).to_be_visible()
    box.focus()
    page.keyboard.press("Space")
    expect(board(page).locator('th[data-column="version"]')).to_be_visible()
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    expect(summary).to_be_focused()
    expect(board(page).locator('th[data-column="version"]')).to_be_visible()


def test_without_scripts_every_page_reads_and_tables_are_whole(unscripted: Visit, site: Built) -> None:
    page, found = unscripted.page, {"overviews": 0, "tables": 0}
    for path in kinds(site):
        unscripted.go(path)
        expect(page.locator("h1").first).to_be_visible()
        assert len(page.locator("article").inner_text()) > 60, path
        overviews = page.locator("table[data-overview]")
        assert overviews.count() == page.locator("table[data-overview]:visible").count()
        found["overviews"] += overviews.count()
        for table in page.locator("table[data-table]").all():
            heads, rows = table.locator("thead tr").last.locator("th"), table.locator("tbody tr")
            assert heads.count() == table.locator("thead tr").last.locator("th:visible").count() > 20
            assert rows.count() == table.locator("tbody tr:visible").count()
            assert rows.first.locator(":is(th, td):visible").count() == heads.count()
            found["tables"] += 1
    assert min(found.values()) > 0, found
    unscripted.go()
    heights = page.locator("[data-panel] > h2").evaluate_all("all => all.map((one) => one.clientHeight)")
    assert len(heights) > 1 and min(heights) > 10, "panels that are shown together have headings"


@pytest.mark.parametrize("query", ["", "?columns=trust&hide=composite&text=acme", "?columns=all&sort=belief-update"])
def test_paper_has_every_column_of_a_board_for_the_rows_that_are_shown(wide: Visit, query: str) -> None:
    page = wide.go(BOARD + query)
    every = set(board(page).locator("thead th").evaluate_all("heads => heads.map((one) => one.dataset.column)"))
    rows = board(page).locator("tbody tr:visible").count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 within its margins
    page.emulate_media(media="print")
    printed = page.locator("[data-printed]").first
    names = printed.locator("thead th:visible").evaluate_all("heads => heads.map((one) => one.dataset.column)")
    assert set(names) == {name for name in every if name} and len(set(names)) > 20
    assert [one.locator("tbody tr:visible").count() for one in printed.locator("table").all()] == [rows] * (
        printed.locator("table").count()
    )
    assert page.locator("table[data-table]:visible").count() == 0
    assert printed.locator("button, input").count() == 0
    over = "tables => tables.filter((one) => one.getBoundingClientRect().right > 719).map((one) => one.innerText)"
    assert printed.locator("table").evaluate_all(over) == []
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator("[data-printed]")).to_have_count(0)
    expect(board(page)).to_be_visible()
