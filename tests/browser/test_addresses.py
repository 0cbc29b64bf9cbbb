"""Forged addresses, addresses from another release, and a browser that stores nothing."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_site import BOARD, board, shown
from tests.site.conftest import Built

pytestmark = pytest.mark.browser

FORGED = "gone<b>"


@pytest.mark.parametrize(
    ("path", "named"),
    [
        (f"?show={FORGED}", [f"tab “{FORGED}”"]),
        ("?only=free&within=3&sort=retrieval:x:up", ["only “free”", "within “3”", "order “retrieval:x:up”"]),
        (f"{BOARD}?track={FORGED}", [f"table “{FORGED}”"]),
        ("compare/?systems=<b>nobody,acme", ["No system ‘<b>nobody’"]),
        (f"overall/?weights={FORGED}:1,2", [f"no table ‘{FORGED}’"]),
        ("items/?run={run}&verdict=perfect&category=none&cause=x&evidence=y&flag=z", ["verdict “perfect”", "flag “z”"]),
    ],
)
def test_every_value_that_a_page_does_not_have_is_named(wide: Visit, site: Built, path: str, named: list[str]) -> None:
    page = wide.go(path.replace("{run}", shown(site, "acme")))
    for words in named:
        expect(page.locator(".mv-problem, output").filter(has_text=words).first).to_be_visible()


def test_forged_filters_of_questions_hide_none(wide: Visit, site: Built) -> None:
    page = wide.go(f"items/?run={shown(site, 'acme')}&verdict=perfect")
    expect(page.locator(".mv-list li")).to_have_count(60)
    page.get_by_label("Result").select_option("wrong")
    expect(page.locator(".mv-filters output")).not_to_contain_text("asks for")
    assert "perfect" not in page.url


def test_a_tab_that_is_chosen_ends_the_complaint(wide: Visit) -> None:
    page = wide.go(f"?show={FORGED}")
    expect(page.locator("[data-panel]:visible")).to_have_count(1)
    page.locator("[data-tab]").last.click()
    expect(page.locator(".mv-problem")).to_have_count(0)


def test_with_storage_blocked_a_board_items_a_comparison_and_the_search_work(blocked: Visit, site: Built) -> None:
    page = blocked.go(BOARD)
    page.get_by_label("Find system").fill("bore")
    expect(board(page).locator("tbody tr:visible")).to_have_count(1)
    blocked.go("compare/?systems=acme,borealis")
    expect(page.locator(".mv-result-line").first).to_contain_text("Borealis scores")
    blocked.go(f"items/?run={shown(site, 'acme')}#q=belief-update-03")
    expect(page.locator(".mv-item h2")).to_be_visible()
    page.locator("#mv-search").click()
    page.locator("#mv-search").press_sequentially("acme")
    expect(page.locator(".mv-results li").first).to_be_visible(timeout=15_000)
    assert blocked.faults == []
