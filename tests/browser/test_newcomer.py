"""The questions of a newcomer, each answered from the front page with three clicks or fewer."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_site import overview

pytestmark = pytest.mark.browser


def test_best_for_one_kind_of_question(wide: Visit) -> None:
    page = wide.go()
    page.locator("#find ~ ul").get_by_role("link", name="Fake benchmark").click()
    page.locator("[data-panel]:visible").get_by_role("button", name="Noise resistance").click()
    cells = page.locator("[data-panel]:visible td[data-column='category_noise-resistance']")
    values = [float(value) for value in cells.evaluate_all("cells => cells.map((one) => one.dataset.order)") if value]
    assert values == sorted(values, reverse=True) and len(values) > 3
    expect(cells.first).to_be_visible()


def test_cheapest_within_two_points_of_the_best(wide: Visit) -> None:
    page = wide.go()
    page.locator("#find ~ ul").get_by_role("link", name="Trade-offs").click()
    expect(page.get_by_role("columnheader", name="Cheapest within 2 points").first).to_be_visible()


def test_whether_one_system_is_better_than_another(wide: Visit) -> None:
    page = wide.go()
    page.locator("#find ~ ul").get_by_role("link", name="Compare two systems").click()
    page.get_by_label("Baseline").select_option(label="Acme Memory")
    page.get_by_label("System 2").select_option(label="Borealis")
    expect(page.locator(".mv-result-line")).to_contain_text("Borealis scores")


def test_a_wrong_answer_and_how_to_repeat_the_score(wide: Visit) -> None:
    page = wide.go()
    overview(page).locator("td.mv-cell a").first.click()
    page.get_by_role("navigation", name="Table of contents").get_by_role("link", name="Reproduce this run").click()
    expect(page.get_by_text("memeval reproduce").first).to_be_in_viewport()
    page.go_back()
    page.get_by_role("link", name="Browse wrong answers").click()
    expect(page.locator(".mv-item .mv-said").first).to_be_visible()
    expect(page.get_by_label("Verdict")).to_have_value("missed")
    page.locator("summary", has_text="Retrieved").click()
    expect(page.locator(".mv-item")).to_contain_text("zebrafinch rewritten")
