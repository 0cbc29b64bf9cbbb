"""The questions of a newcomer, each answered from the front page with three clicks or fewer."""

import csv
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, ViewportSize, expect

from tests.browser.conftest import WIDE, Visit
from tests.browser.test_site import BOARD, board, overview, shown
from tests.site.conftest import Built

pytestmark = pytest.mark.browser


def test_best_for_one_kind_of_question(wide: Visit) -> None:
    page = wide.go()
    page.locator("#find ~ ul").get_by_role("link", name="Noise resistance").first.click()
    expect(board(page).locator("th[aria-sort]")).to_be_in_viewport()
    cells = board(page).locator("tr[data-control=no] td[data-column='category_noise-resistance']")
    values = [float(value) for value in cells.evaluate_all("cells => cells.map((one) => one.dataset.order)") if value]
    assert values == sorted(values, reverse=True) and len(values) > 3
    expect(cells.first).to_be_visible()


def test_who_loses_to_a_simple_baseline(wide: Visit) -> None:
    wide.host.replace("index.html", lambda data: data.replace(b'data-worse="0"', b'data-worse="1"', 1))
    page = wide.go("?only=worse")
    expect(page.get_by_label("Worse than the baseline")).to_be_checked()
    expect(page.locator("[data-overview] tbody tr[data-worse='1']")).to_have_count(1)
    expect(overview(page).locator("tbody tr:visible")).to_have_count(1)
    page.get_by_role("button", name="Reset").click()
    expect(overview(page).locator("tbody tr:visible")).not_to_have_count(1)


def test_a_wrong_answer_and_how_to_repeat_the_score(wide: Visit) -> None:
    page = wide.go()
    overview(page).locator("td.mv-cell a").first.click()
    page.get_by_role("navigation", name="Table of contents").get_by_role("link", name="Reproduce this run").click()
    expect(page.get_by_text("memeval reproduce").first).to_be_in_viewport()
    page.go_back()
    page.get_by_role("link", name="Browse wrong answers").click()
    expect(page.locator(".mv-item .mv-said").first).to_be_visible()
    expect(page.get_by_label("Result")).to_have_value("missed")
    expect(page.locator(".mv-item details[open] > summary", has_text="Retrieved")).to_be_visible()
    expect(page.locator(".mv-item")).to_contain_text("zebrafinch rewritten")


PATHS = {
    "repeat its score": (("Acme Memory", "repeat"), "memeval reproduce"),
    "how it changed": (("Acme Memory", "versions"), "How it changed over its versions"),
    "cite it": (("Acme Memory", "cite this row"), "@misc{memeval-"),
    "what it needs": (("Acme Memory",), "on one machine, no key"),
    "cheapest and fastest": (("Trade-offs",), "within 2 points of the best?"),
    "X above Y": (("Compare two systems",), "Is one system really better than another?"),
    "best for one kind of question": (("Noise resistance",), "Noise resistance"),
    "what vendors claim": (("Published scores",), "graded again here"),
    "own weights": (("Fake benchmark", "Your weights"), "Unofficial."),
    "cite the board": (("Cite",), "Then cite the board"),
    "report": (("Report an error",), "what is wrong"),
    "reply": (("Vendors: reply or correct",), "A reply is shown word for word"),
}
"""What a newcomer asks: what to click, one after the other, and what is then in sight."""


@pytest.mark.parametrize("size", [WIDE, {"width": 375, "height": 812}], ids=["wide", "phone"])
def test_each_task_of_a_newcomer_takes_three_clicks_or_fewer(wide: Visit, size: ViewportSize) -> None:
    wide.resize(size)
    for task, (clicks, words) in PATHS.items():
        page = wide.go()
        assert len(clicks) <= 3, task
        for click in clicks:
            page.locator("a:visible, summary:visible").filter(has_text=re.compile(rf"^\s*{click}")).first.click()
        expect(page.locator("main").get_by_text(words).locator("visible=true").first, task).to_be_in_viewport()


def test_a_page_whose_scripts_arrive_late_does_not_move_what_somebody_reads(wide: Visit, site: Built) -> None:
    wide.resize({"width": 1440, "height": 400})
    held: list[Route] = []
    wide.page.route("**/boards.js", lambda route: held.append(route))
    try:
        page = wide.go(f"{BOARD}?sort={site.runs[0].run.track_id}:composite:ascending")
        fold = page.locator("summary", has_text="Your weights")
        fold.evaluate("fold => fold.scrollIntoView({ block: 'end' })")  # at the foot of the window
        fold.click()
        expect(page.get_by_text("Unofficial.")).to_be_in_viewport()
        for route in held:
            route.continue_()
        expect(page.locator("html[data-awake]")).to_be_attached()
        expect(page.get_by_text("Unofficial.")).to_be_in_viewport()
    finally:
        wide.page.unroute("**/boards.js")
    assert held


def test_what_follows_the_board_and_what_a_notebook_reads_are_files_of_the_site(wide: Visit, site: Built) -> None:
    page = wide.go()
    for link in (page.locator("footer a", has_text="Subscribe"), page.locator("main a[download]").first):
        assert (site.out / (link.get_attribute("href") or "missing")).stat().st_size > 100


def test_a_wrong_answer_with_what_was_retrieved_is_three_clicks_from_a_front_page_without_links_to_runs(
    wide: Visit,
) -> None:
    cell = rb'(<td class="mv-cell[^>]*>)<a [^>]*>([^<]*)</a>'
    wide.host.replace("index.html", lambda data: re.sub(cell, rb"\1\2", data))
    page = wide.go()
    page.get_by_label("Find system").fill("Acme")
    expect(overview(page).locator("td.mv-cell a")).to_have_count(0)
    overview(page).locator("tbody tr:visible th a").first.click()
    page.get_by_role("region", name="Evidence").locator("a[href*='verdict=missed']").first.click()
    expect(page.locator(".mv-item details[open] > summary", has_text="Retrieved")).to_be_visible()


def test_what_was_retrieved_for_a_right_answer_is_shown_when_asked(wide: Visit, site: Built) -> None:
    page = wide.go(f"items/?run={shown(site, 'acme')}&verdict=right")
    fold = page.locator(".mv-item details", has=page.locator("summary", has_text="Retrieved"))
    expect(fold).to_be_visible()
    expect(fold.locator("li").first).to_be_hidden()
    fold.locator("summary").click()
    expect(fold.locator("li").first).to_be_visible()


def test_a_board_is_filtered_by_what_systems_need(wide: Visit) -> None:
    page = wide.go(BOARD)
    rows = board(page).locator("tbody tr:visible")
    before = rows.count()
    expect(page.get_by_label("Open licence")).to_have_count(0)  # no two systems differ in it
    page.get_by_label("No key needed").check()
    expect(rows).to_have_count(board(page).locator('tbody tr[data-keyless="1"]').count())
    assert 0 < rows.count() < before
    assert "only=keyless" in page.url
    page.reload()
    expect(page.get_by_label("No key needed")).to_be_checked()
    assert rows.count() < before


def saved(page: Page, kind: str) -> str:
    with page.expect_download() as download:
        page.locator(".mv-shown").get_by_role("button", name=kind).click()
    return Path(download.value.path()).read_text(encoding="utf-8")


def test_the_rows_and_columns_that_are_shown_are_a_file(wide: Visit, site: Built) -> None:
    track = site.runs[0].run.track_id
    page = wide.go(f"{BOARD}?track={track}&columns=scores&show=version&sort={track}:composite:ascending")
    table = page.locator("table.mv-board:visible")
    shown = table.locator("tbody tr:visible td[data-column=run]").evaluate_all(
        "cells => cells.map((one) => one.dataset.order)"
    )
    heads = (
        table.locator("thead tr").last.locator("th:visible").evaluate_all("all => all.map((one) => one.dataset.column)")
    )
    content = json.loads(saved(page, "JSON"))
    assert [row["run"] for row in content["rows"]] == shown and len(shown) > 3
    assert [column["name"] for column in content["columns"]] == heads
    whole = {row["run"]: row for row in json.loads(site.read(f"downloads/{track}.json"))["rows"]}
    for row in content["rows"]:
        assert {name: row[name] for name in heads} == {name: whole[row["run"]][name] for name in heads}
    rows = list(csv.DictReader(saved(page, "CSV").splitlines()))
    assert [row["slug"] for row in rows] == [whole[run]["slug"] for run in shown]
    for row, run in zip(rows, shown, strict=True):
        best, worst = whole[run]["ranges"].get("rank", ("", ""))
        assert (row["rank_best"], row["rank_worst"]) == (str(best), str(worst))
        low, _high = whole[run]["intervals"].get("composite", ("", ""))
        assert (float(row["composite_low"]) if row["composite_low"] else "") == low
    assert "tokens_per_question" not in rows[0] and "version" in rows[0]
