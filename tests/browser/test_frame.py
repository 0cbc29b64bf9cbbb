"""What the header does: colours, search, menu; and what a page leaves for later."""

from typing import Literal

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_are_the_systems_until_a_person_chooses_and_the_choice_stays(
    alone: Visit, scheme: Literal["light", "dark"]
) -> None:
    alone.page.emulate_media(color_scheme=scheme)
    page = alone.go("methodology/")
    root, button = page.locator("html"), page.locator("[data-scheme]")
    names = {"light": "default", "dark": "slate"}
    expect(root).to_have_attribute("data-md-color-scheme", names[scheme])
    for wanted in ("light", "dark"):
        button.click()
        expect(root).to_have_attribute("data-md-color-scheme", names[wanted])
        assert root.evaluate("one => getComputedStyle(one).colorScheme") == wanted
    alone.go("faq/")
    expect(root).to_have_attribute("data-md-color-scheme", "slate")
    button.click()
    expect(root).to_have_attribute("data-md-color-scheme", names[scheme])
    alone.page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
    expect(root).not_to_have_attribute("data-md-color-scheme", names[scheme])
    assert alone.faults == []


def test_a_phone_has_every_page_in_its_menu_and_escape_closes_it(alone: Visit) -> None:
    alone.page.set_viewport_size({"width": 375, "height": 812})
    page = alone.go("faq/")
    menu = page.get_by_role("navigation", name="Menu")
    expect(menu).to_be_hidden()
    page.locator("summary[aria-label=Menu]").press("Enter")
    expect(menu.get_by_role("link", name="Glossary")).to_be_visible()
    expect(menu.locator("[aria-current=page]")).to_have_text("Questions and answers")
    menu.get_by_text("More results", exact=True).click()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(page.locator("summary[aria-label=Menu]")).to_be_focused()
    page.keyboard.press("Enter")
    menu.get_by_role("link", name="Trends", exact=True).click()
    expect(page.locator("h1")).to_have_text("Trends")


def test_without_scripts_the_menu_leads_on_and_nothing_is_shown_that_needs_them(unscripted: Visit) -> None:
    unscripted.page.set_viewport_size({"width": 375, "height": 812})
    page = unscripted.go("faq/")
    for needs_scripts in ("[data-search]", "[data-scheme]"):
        expect(page.locator(needs_scripts)).to_be_hidden()
    page.locator("summary[aria-label=Menu]").click()
    page.get_by_role("navigation", name="Menu").get_by_role("link", name="Glossary").click()
    expect(page.locator("h1")).to_contain_text("Glossary")


def test_paper_has_the_content_alone(alone: Visit) -> None:
    page = alone.go("methodology/")
    around = page.locator(".md-header, .md-tabs, .mv-beside, .mv-contents, .md-footer, .mv-copy >> visible=true")
    assert around.count() > 4
    page.emulate_media(media="print")
    expect(around).to_have_count(0)
    expect(page.locator("article h1")).to_be_visible()


def test_the_first_tab_stop_skips_to_the_content(alone: Visit) -> None:
    page = alone.go("methodology/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("article")).to_be_focused()


def test_a_slash_starts_a_search_and_escape_ends_it(alone: Visit) -> None:
    page = alone.go("methodology/")
    page.keyboard.press("/")
    expect(page.locator("#mv-search")).to_be_focused()
    page.keyboard.type("zzzz")
    expect(page.locator(".mv-results")).to_contain_text("No section has these words.")
    page.keyboard.press("Escape")
    expect(page.locator(".mv-results")).to_be_hidden()
    expect(page.locator("#mv-search")).to_have_value("")


def test_the_search_index_is_loaded_by_a_search_and_not_by_a_page(alone: Visit) -> None:
    asked: list[str] = []
    alone.page.on("request", lambda request: asked.append(request.url))
    page = alone.go("methodology/")
    page.wait_for_load_state("networkidle")
    assert asked and not [url for url in asked if "search_index" in url]
    page.locator("#mv-search").click()
    page.locator("#mv-search").press_sequentially("hostile")
    expect(page.locator(".mv-results li").first).to_contain_text("<script>alert(1)", timeout=15_000)
    assert len([url for url in asked if "search_index" in url]) == 1
    address = page.locator(".mv-results li a").first.get_attribute("href") or ""
    assert "h=hostile" in address
    page.goto(address)
    expect(page.locator("article mark").first).to_have_text("Hostile", ignore_case=True)
    assert alone.faults == []


def test_a_block_of_code_is_copied_by_its_button(alone: Visit) -> None:
    alone.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = alone.go("submit/")
    block = page.locator("article pre").last
    words = block.locator("code").inner_text()
    block.get_by_role("button", name="Copy").click()
    expect(block.locator(".mv-copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").strip() == words.strip()
