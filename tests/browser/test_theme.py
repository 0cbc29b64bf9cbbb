"""What the theme does when a page loads, and what it leaves for later."""

from __future__ import annotations

from typing import Literal

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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_browser_learns_the_scheme_of_a_page_unless_it_is_light(
    alone: Visit, scheme: Literal["light", "dark"]
) -> None:
    alone.page.emulate_media(color_scheme=scheme)
    page = alone.go("methodology/")
    page.wait_for_load_state("networkidle")
    learnt = "[...document.querySelectorAll('meta[name=color-scheme]')].map((one) => one.content)"
    assert page.evaluate(learnt) == ([] if scheme == "light" else ["dark"])
    for wanted in ("light", "dark"):
        page.locator("label[for^=__palette]:visible").click()
        assert page.evaluate(learnt) == ([] if wanted == scheme == "light" else [wanted])


def test_the_classes_that_the_theme_adds_are_on_the_page_from_the_start(alone: Visit) -> None:
    alone.page.route("**/bundle.*.js", lambda route: route.abort())
    before = alone.go("methodology/").locator("html").get_attribute("class")
    alone.page.unroute_all()
    page = alone.go("methodology/")
    page.wait_for_load_state("networkidle")
    assert page.locator("html").get_attribute("class") == before == "js js-focus-visible"


def test_the_search_index_is_loaded_by_a_search_and_not_by_a_page(alone: Visit) -> None:
    asked: list[str] = []
    alone.page.on("request", lambda request: asked.append(request.url))
    page = alone.go("methodology/")
    page.wait_for_load_state("networkidle")
    assert asked and not [url for url in asked if "search_index" in url]
    page.locator("input.md-search__input").click()
    page.locator("input.md-search__input").press_sequentially("hostile")
    expect(page.locator(".md-search-result__item").first).to_contain_text("<script>alert(1)", timeout=15_000)
    assert len([url for url in asked if "search_index" in url]) == 1
    address = page.locator(".md-search-result__item a").first.get_attribute("href") or ""
    assert "h=hostile" in address
    page.goto(address)
    expect(page.locator("article mark").first).to_have_text("Hostile", ignore_case=True)
    assert alone.faults == []


def test_a_code_block_gets_its_copy_button_when_it_comes_into_view(alone: Visit) -> None:
    alone.page.set_viewport_size({"width": 1200, "height": 500})
    page = alone.go("submit/")
    last = page.locator("article pre").last
    assert last.locator("button").count() == 0
    last.scroll_into_view_if_needed()
    expect(last.locator("button")).to_be_visible()
