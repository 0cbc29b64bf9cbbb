"""What the theme does when a page loads, and what it leaves for later."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser

WATCH = """globalThis.switches = 0;
new MutationObserver((found) => { switches += found.length; })
    .observe(document, {subtree: true, attributeFilter: ["data-md-color-switching"]});"""


def test_colours_are_switched_by_a_person_and_not_by_loading(alone: Visit) -> None:
    alone.page.add_init_script(WATCH)
    page = alone.go("methodology/")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("switches") == 0
    scheme = page.locator("body").get_attribute("data-md-color-scheme")
    page.locator("label[for^=__palette]:visible").click()
    page.locator("label[for^=__palette]:visible").click()
    expect(page.locator("body")).not_to_have_attribute("data-md-color-scheme", scheme or "")
    assert page.evaluate("switches") > 0


def test_the_search_index_is_loaded_by_a_search_and_not_by_a_page(alone: Visit) -> None:
    asked: list[str] = []
    alone.page.on("request", lambda request: asked.append(request.url))
    page = alone.go("methodology/")
    page.wait_for_load_state("networkidle")
    assert asked and not [url for url in asked if "search_index" in url]
    page.locator("input.md-search__input").click()
    page.locator("input.md-search__input").press_sequentially("hostile")
    expect(page.locator(".md-search-result__item").first).to_be_visible(timeout=15_000)
    assert len([url for url in asked if "search_index" in url]) == 1
    address = page.locator(".md-search-result__item a").first.get_attribute("href") or ""
    assert "h=hostile" in address
    page.goto(address)
    expect(page.locator("article mark").first).to_have_text("Hostile", ignore_case=True)
