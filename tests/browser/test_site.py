"""The built site in a real browser."""

import re
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from memeval.site.model.text import visible
from memeval.site.pages.rendering import environment
from tests.browser.conftest import Visit
from tests.browser.looks import COLOURS, inaccessible, too_wide
from tests.site.conftest import Built
from tests.site.factory import HOSTILE, HOSTILE_REPLY

pytestmark = pytest.mark.browser


def kinds(site: Built) -> dict[str, int]:
    """Return an address of each kind of page, with the number of colour schemes in which axe looks at it.

    Where pages share a template, it looks at the one with most on it: in both schemes if it has marks or charts.
    """
    return {
        "": 2,
        "systems/": 1,
        "systems/acme/": 2,
        "systems/hostile/": 0,
        f"runs/{site.runs[0].run.run_id}/": 0,
        f"items/?run={site.runs[0].run.run_id}#q=belief-update-03": 0,
        f"runs/{replayed(site)}/": 2,
        f"items/?run={judged(site)}#q=belief-update-03": 1,
        "benchmarks/": 1,
        "benchmarks/fake@1/": 2,
        "trade-offs/": 1,
        "compare/": 1,
        "trends/": 2,
        "graders/": 1,
        "published/mirix/zep/": 1,
        "published/": 2,
        "judges/": 1,
        f"runs/{shown(site, 'elsewhere')}/": 1,
        "tracks/": 1,
        "methodology/": 1,
        "repeat/": 0,
        "proof/": 0,
        "glossary/": 1,
        "api/": 1,
        "submit/": 1,
        "releases/": 1,
        "ledger/": 1,
    }


def board(page: Page) -> Locator:
    return page.locator("table.mv-board").filter(has_text="Halfway")


def names(page: Page) -> list[str]:
    return board(page).locator("tbody tr:visible th .mv-value").all_inner_texts()


def shown(site: Built, slug: str) -> str:
    return next(run.run.run_id for run in site.runs if run.run.system.slug == slug)


def judged(site: Built) -> str:
    return next(run.run.run_id for run in site.runs if run.run.answers_from)


def replayed(site: Built) -> str:
    return next(run.run.run_id for run in site.runs if run.run.replayed)


@pytest.mark.slow
def test_no_page_fails_overflows_or_is_inaccessible(wide: Visit, blocked: Visit, site: Built) -> None:
    """Each page opens twice: on a phone and on a desktop, in the dark and in the light, with storage and without."""
    found: list[str] = []

    def look(seen: Visit, path: str, width: int, *, dark: bool, rules: tuple[str, ...] | None) -> None:
        seen.page.set_viewport_size({"width": width, "height": 812})
        seen.page.emulate_media(color_scheme="dark" if dark else "light")
        page = seen.go(path)
        expect(page.locator("h1").first).to_be_visible()
        if path.startswith("items/"):
            expect(page.locator(".mv-item h2")).to_be_visible()
            page.evaluate("document.querySelectorAll('.mv-item details').forEach((fold) => { fold.open = true; })")
        found.extend(too_wide(page) + ([] if rules is None else inaccessible(seen, rules)))

    for number, (path, schemes) in enumerate(kinds(site).items()):
        width, then = (1440, 375) if number % 2 else (375, 1440)
        dark = number % 4 > 1
        look(wide, path, width, dark=dark, rules=() if schemes else None)
        look(blocked, path, then, dark=dark is (schemes < 2), rules=COLOURS if schemes > 1 else None)
    assert found == blocked.faults == []


BOARD = "benchmarks/fake@1/"


def test_a_heading_sorts_the_good_end_first_then_the_other_then_as_published(wide: Visit) -> None:
    page = wide.go(BOARD)
    published = names(page)
    head = board(page).locator('th[data-column="composite"]')
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    controls = board(page).locator("tbody.mv-controls tr").count()
    best_first = names(page)
    assert best_first[0] == published[0] and best_first[-1] == "No memory", "controls are below a line"
    assert best_first[-controls - 1] == "Halfway", "a row without a value stands last"
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert names(page)[-controls] == "No memory"
    assert names(page)[-controls - 1] == "Halfway"
    head.get_by_role("button").click()
    expect(head).not_to_have_attribute("aria-sort", re.compile(".*"))
    assert names(page) == published


def test_what_is_filtered_sorted_and_chosen_survives_in_the_address(wide: Visit) -> None:
    page = wide.go(BOARD)
    tools = page.locator("[data-tools]")
    tools.get_by_role("combobox", name="Run by").select_option("self-run")
    tools.get_by_role("combobox", name="Columns").select_option("scores")
    page.get_by_text("Choose columns", exact=True).click()
    page.locator(".mv-picker").get_by_label("Version").check()
    page.locator(".mv-picker").get_by_label("vs best control without history").uncheck()
    head = board(page).locator('th[data-column="category_belief-update"]')
    head.get_by_role("button").click()
    there = names(page)
    assert "Acme Memory" not in there and "Borealis" in there
    query = parse_qs(urlsplit(page.url).query)
    assert query["answers"] == ["self-run"] and query["columns"] == ["scores"]
    assert query["show"] == ["version"] and query["hide"] == ["gap"]

    address = f"{BOARD}?{urlsplit(page.url).query}"
    wide.forget()
    wide.go(address)
    assert names(page) == there
    for column, is_shown in (("version", True), ("gap", False), ("category_belief-update", True), ("run", False)):
        expect(board(page).locator(f'th[data-column="{column}"]')).to_be_visible(visible=is_shown)


def test_a_table_starts_with_ten_columns_or_fewer_and_fits_the_window(wide: Visit) -> None:
    page = wide.go(BOARD)
    assert board(page).locator("thead tr").last.locator("th:visible").count() <= 10
    box = page.locator(".mv-scroll").filter(has=board(page))
    assert box.evaluate("element => element.scrollWidth - element.clientWidth") <= 0
    page.locator("[data-tools]").get_by_role("combobox", name="Columns").select_option("all")
    expect(board(page).locator('th[data-column="command"]')).to_be_visible()


def test_other_tables_of_a_benchmark_are_links_in_words_and_an_address_may_name_one(wide: Visit) -> None:
    page = wide.go(BOARD)
    expect(page.locator("table.mv-board")).to_have_count(1)
    link = page.locator("a[data-track]").first
    words, track = link.inner_text(), link.get_attribute("data-track")
    assert "track" not in words and "tier" not in words
    page = wide.go(f"{BOARD}?track={track}&text=acme")
    expect(page).to_have_url(re.compile(f"/tracks/{track}/\\?track={track}&text=acme$"))
    expect(page.locator("h1")).to_contain_text(words[1:])
    expect(page.locator("[data-tools] output")).not_to_contain_text("asks for")
    page = wide.go(f"{BOARD}?track=<script>&sort=<script>&sort=belief-update&columns=scores")
    said = page.locator("[data-tools] output")
    expect(said).to_contain_text("table “<script>”")
    expect(said).to_contain_text("order “<script>”")


@pytest.mark.parametrize("width", [1440, 375])
def test_a_link_to_a_category_arrives_sorted_with_its_column_in_view(wide: Visit, width: int) -> None:
    wide.page.set_viewport_size({"width": width, "height": 812})
    page = wide.go(f"{BOARD}?columns=scores&sort=noise-resistance")
    head = board(page).locator('th[data-column="category_noise-resistance"]')
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(head).to_be_in_viewport(ratio=0.9)


def test_before_its_scripts_run_a_page_lays_out_one_tab_and_without_scripts_all(
    alone: Visit, unscripted: Visit
) -> None:
    alone.page.route("**/main.js", lambda route: route.abort())
    panels = alone.go().locator("[data-panel]")
    assert panels.count() > 1
    expect(alone.page.locator("[data-panel]:visible")).to_have_count(1)
    expect(panels.first).to_be_visible()
    alone.page.goto(f"{alone.base}#{panels.last.get_attribute('id')}")
    expect(panels.last).to_be_visible()
    page = unscripted.go()
    expect(page.locator("[data-panel]:visible")).to_have_count(page.locator("[data-panel]").count())


@pytest.mark.parametrize("fragment", ["#%", "#track-nowhere", "#%E0%A4%A"])
def test_a_malformed_fragment_leaves_the_first_tab_and_the_tools(wide: Visit, fragment: str) -> None:
    page = wide.go(fragment)
    expect(page.locator("[data-panel]:visible")).to_have_count(1)
    expect(page.locator("[data-overview-tools]").get_by_label("Find system")).to_be_visible()


def test_rows_within_some_points_of_the_best_system_stay(wide: Visit) -> None:
    page = wide.go(f"{BOARD}?within=1")
    orders = (
        board(page)
        .locator("tbody tr[data-control=no]:visible td[data-column=composite]")
        .evaluate_all("cells => cells.map((cell) => Number(cell.dataset.order))")
    )
    assert orders and min(orders) >= max(orders) - 0.01
    assert len(orders) < len(board(page).locator("tbody tr[data-control=no]").all())


def test_what_an_address_asks_in_vain_is_named(wide: Visit) -> None:
    page = wide.go(f"{BOARD}?columns=everything&show=gone&hide=away&sort=x:y:descending&grades=perfect&within=7")
    said = page.locator("[data-tools] output")
    wanted = ("columns “everything”", "column “gone”", "column “away”", "order “x:y:descending”", "grades “perfect”")
    for words in (*wanted, "within “7”"):
        expect(said).to_contain_text(words)
    page.get_by_role("button", name="Reset").click()
    expect(said).not_to_contain_text("asks for")


def test_a_filter_by_text_finds_a_system_by_name(wide: Visit) -> None:
    page = wide.go(BOARD)
    page.get_by_label("Find system").fill("bore")
    assert names(page) == ["Borealis"]
    page.get_by_role("button", name="Reset").click()
    assert len(names(page)) > 5
    assert urlsplit(page.url).query == ""


def overview(page: Page) -> Locator:
    return page.locator("table[data-overview]:visible")


def test_the_overview_is_filtered_and_the_address_keeps_it(wide: Visit) -> None:
    page = wide.go()
    every = overview(page).locator("tbody tr:visible").count()
    page.locator("[data-overview-tools]").get_by_label("Find system").fill("acme")
    expect(overview(page).locator("tbody tr:visible")).to_have_count(1)
    assert parse_qs(urlsplit(page.url).query) == {"text": ["acme"]}
    page.reload()
    expect(overview(page).locator("tbody tr:visible")).to_have_count(1)
    page.get_by_role("button", name="Reset").click()
    expect(overview(page).locator("tbody tr:visible")).to_have_count(every)


def test_chips_that_keep_all_rows_or_none_are_not_shown(wide: Visit) -> None:
    wide.host.replace("index.html", lambda data: data.replace(b'data-kind="product"', b'data-kind="library"', 1))
    page = wide.go()
    rows = overview(page).locator("tbody tr:visible")
    every = rows.count()
    for name in ("Better than the baseline", "Reference systems"):
        expect(page.get_by_label(name)).to_be_hidden()
    page.get_by_label("Libraries").check()
    expect(rows).to_have_count(1)
    assert parse_qs(urlsplit(page.url).query) == {"kind": ["library"]}
    page.get_by_label("Products").check()
    expect(rows).to_have_count(every)
    expect(page.locator("[data-overview-tools] output")).to_have_text(f"{every} rows")


def test_the_overview_is_sorted_by_a_benchmark_and_its_tabs_are_in_the_address(wide: Visit) -> None:
    page = wide.go()
    head = overview(page).locator('th[data-column="fake@1"]')
    head.get_by_role("button").click()
    cells = (
        overview(page)
        .locator("tbody tr:visible td.mv-cell")
        .evaluate_all("cells => cells.map((cell) => Number(cell.dataset.order))")
    )
    assert cells == sorted(cells, reverse=True) and len(cells) > 1
    tabs = page.get_by_role("navigation", name="What is measured").locator("[data-tab]")
    if tabs.count() > 1:
        tabs.nth(1).click()
        assert parse_qs(urlsplit(page.url).query)["show"] == [tabs.nth(1).get_attribute("data-tab")]
        expect(overview(page)).to_have_count(1)


def longer(site: Built, path: str, table: str, rows: int) -> str:
    """Return a page on which the first row of a table stands often, as the templates write a long one."""
    tools = environment().get_template("parts/tools.html").module
    page = site.read(path)
    start = page.index(f'<div class="mv-scroll" id="table-{table}"')
    first, end = page.index("<tbody>", start) + len("<tbody>"), page.index("</tbody>", start)
    row = page[first : page.index("</tr>", first) + len("</tr>")]
    after = page.index("</div>", end) + len("</div>")
    before = page[:start] + str(tools.rest(table, rows)) + page[start:first]  # type: ignore[attr-defined]
    below = page[end:after] + str(tools.all_rows(table, rows)) + page[after:]  # type: ignore[attr-defined]
    return before + row * rows + below


@pytest.mark.parametrize(("path", "column", "many"), [("", "fake@1", 500), (BOARD, "composite", 80)])
def test_a_long_table_shows_its_first_rows_in_any_order_and_all_on_request(
    wide: Visit, site: Built, path: str, column: str, many: int
) -> None:
    page = wide.go(path)
    table = page.locator(".mv-scroll[id^=table-]:visible").first
    name = str(table.get_attribute("id")).removeprefix("table-")
    wide.host.write(f"{path}index.html", longer(site, f"{path}index.html", name, many))
    page.reload()
    rows = table.locator("tbody").first.locator("tr:visible")
    expect(rows).to_have_count(30)
    expect(page.locator("form output")).to_contain_text("rows")
    page.get_by_label("Find system").fill("nobody")
    expect(rows).to_have_count(0)
    page.get_by_role("button", name="Reset").click()
    table.locator("tbody").first.locator("tr").evaluate_all(
        "(rows, column) => rows.forEach((row, place) => {"
        " const head = [...row.closest('table').querySelectorAll('thead th[data-column]')];"
        " row.cells[head.findIndex((one) => one.dataset.column === column)].dataset.order = place; })",
        column,
    )
    table.locator(f'th[data-column="{column}"]').get_by_role("button").click()
    expect(rows).to_have_count(30)
    place = (
        table.locator("thead tr")
        .last.locator("th")
        .evaluate_all("(heads, column) => heads.findIndex((head) => head.dataset.column === column)", column)
    )
    orders = rows.evaluate_all("(rows, place) => rows.map((row) => Number(row.cells[place].dataset.order))", place)
    assert orders == list(range(many - 1, many - 31, -1)), "the best of all rows, not of those shown before"
    page.get_by_text("Show all rows", exact=True).click()
    expect(rows).to_have_count(many)


def test_a_heading_of_the_overview_leads_to_its_board(wide: Visit) -> None:
    page = wide.go()
    overview(page).locator('th[data-column="fake@1"] a').click()
    expect(page.locator("h2#board")).to_be_visible()


def test_a_deep_link_opens_its_item_with_everything_about_it(wide: Visit, site: Built) -> None:
    page = wide.go(f"items/?run={shown(site, 'acme')}#q=belief-update-03")
    item = page.locator(".mv-item")
    expect(item.locator("h2")).to_have_text("belief-update-03")
    expect(item.locator(".mv-asked")).to_contain_text("Where does zebrafinch live?")
    expect(item).to_contain_text("zebrafinch lives in town 3.")
    item.locator("summary", has_text="s003").click()
    expect(item.locator("details.mv-evidence")).to_contain_text("I moved to town 3")
    item.locator("summary", has_text="Context").click()
    expect(item).to_contain_text("zebrafinch of my own")
    item.locator("summary", has_text="Retrieved").click()
    expect(item).to_contain_text("zebrafinch rewritten")
    item.locator("summary", has_text="Properties and measurements").click()
    expect(item.locator("details .mv-key")).to_contain_text("difficultyhard")


def test_items_are_walked_by_keys_and_buttons_and_the_address_follows(wide: Visit, site: Built) -> None:
    page = wide.go(f"items/?run={shown(site, 'acme')}")
    title = page.locator(".mv-item h2")
    expect(title).to_have_text("belief-update-00")
    page.keyboard.press("j")
    expect(title).to_have_text("belief-update-01")
    assert page.url.endswith("#q=belief-update-01")
    page.get_by_role("button", name="Next").click()
    expect(title).to_have_text("belief-update-02")
    page.keyboard.press("k")
    expect(title).to_have_text("belief-update-01")
    page.locator(".mv-list a").nth(30).click()
    expect(title).to_have_text("noise-resistance-00")


def test_a_long_list_of_items_grows_where_it_is_scrolled_and_up_to_the_open_item(alone: Visit, site: Built) -> None:
    script = site.read("assets/js/items.js").replace("STEP = 100", "STEP = 12")
    alone.page.route("**/items.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    page = alone.go(f"items/?run={shown(site, 'acme')}")
    entries = page.locator(".mv-list li")
    expect(page.locator(".mv-list a[aria-current]")).to_be_visible()
    assert 0 < entries.count() < 60
    for _step in range(8):
        page.locator(".mv-list").evaluate("list => list.scrollTo(0, list.scrollHeight)")
        page.wait_for_timeout(100)
    expect(entries).to_have_count(60)
    page.keyboard.press("j")
    expect(page.locator(".mv-list a[aria-current]")).to_have_text(re.compile("belief-update-01"))
    page = alone.go(f"items/?run={shown(site, 'acme')}#q=noise-resistance-09")
    expect(page.locator(".mv-list a[aria-current]")).to_be_in_viewport()


def test_on_a_phone_the_open_item_comes_before_the_list(wide: Visit, site: Built) -> None:
    wide.resize({"width": 375, "height": 812})
    page = wide.go(f"items/?run={shown(site, 'acme')}")
    expect(page.locator(".mv-item .mv-said").first).to_be_in_viewport()
    expect(page.locator(".mv-list")).to_be_hidden()
    page.locator("summary", has_text="Filters and list").click()
    expect(page.locator(".mv-list li")).to_have_count(60)


def test_the_position_of_an_item_counts_the_filtered_items(wide: Visit, site: Built) -> None:
    page = wide.go(f"items/?run={shown(site, 'acme')}")
    position = page.locator(".mv-move")
    expect(position).to_contain_text("1 of 60 · shortcuts")
    page.get_by_label("Find text").fill("noise-resistance-1")
    expect(position).to_contain_text("not among the 10 filtered items")
    page.locator(".mv-list a").nth(2).click()
    expect(position).to_contain_text("3 of 10 filtered items")
    page.get_by_label("Find text").blur()
    page.keyboard.press("j")
    expect(position).to_contain_text("4 of 10 filtered items")


def test_an_item_can_be_reported_where_the_board_names_a_repository(wide: Visit, site: Built) -> None:
    page, run = wide.go(f"items/?run={shown(site, 'acme')}#q=belief-update-03"), shown(site, "acme")
    expect(page.locator(".mv-item h2")).to_have_text("belief-update-03")
    expect(page.get_by_text("Report this item")).to_have_count(0)
    for form, fields in (
        ("https://git.example/o/r/issues/new", ("title", "body")),
        ("https://gitlab.example/o/r/-/issues/new", ("issue[title]", "issue[description]")),
    ):
        named = f'<div data-items data-report="{form}" '
        wide.host.write("items/index.html", site.read("items/index.html").replace("<div data-items ", named))
        page.reload()
        link = page.get_by_role("link", name="Report this item")
        expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
        address = urlsplit(str(link.get_attribute("href")))
        asked = parse_qs(address.query)
        assert f"{address.scheme}://{address.netloc}{address.path}" == form
        assert asked[fields[0]] == [f"Item belief-update-03 of run {run}"]
        assert f"Item: belief-update-03\nPage: {page.url}\n" in asked[fields[1]][0]


@pytest.mark.parametrize("path", ["", "benchmarks/fake@1/", "systems/acme/"])
def test_a_printed_table_keeps_its_columns_on_the_page(wide: Visit, path: str) -> None:
    page = wide.go(path)
    columns = page.locator("thead th:visible").count()
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 within its margins
    page.emulate_media(media="print")
    assert page.locator("thead th:visible").count() >= columns, "tabs show one table, paper shows all"
    over = page.evaluate(
        "[...document.querySelectorAll('.mv-scroll table')].filter((one) => one.getBoundingClientRect().right > 718)"
        ".map((one) => one.outerHTML.slice(0, 150))"
    )
    assert over == []
    page.emulate_media(media="screen")


def test_a_keyboard_skips_to_the_table_of_the_open_tab(wide: Visit) -> None:
    page = wide.go()
    skip = page.get_by_role("link", name="Skip to the table")
    tabs = page.locator("[data-tab]:not([data-tab=regraded])")
    for tab in (tabs.first, tabs.last):
        tab.click()
        skip.focus()
        expect(skip).to_be_in_viewport()
        page.keyboard.press("Enter")
        focused = page.locator(".mv-scroll:focus")
        expect(focused).to_be_visible()
        assert focused.locator("table").count() == 1
        assert focused.evaluate("one => one.closest('[data-panel]').dataset.panel") == tab.get_attribute("data-tab")


def test_a_tab_without_a_table_has_no_link_to_one(wide: Visit) -> None:
    page = wide.go()
    page.get_by_role("navigation", name="What is measured").get_by_role("link", name="Published scores").click()
    expect(page.locator("#regraded")).to_contain_text("counted or graded again here")
    expect(page.get_by_role("link", name="Skip to the table")).to_be_hidden()


def test_the_search_answers_what_newcomers_ask(wide: Visit) -> None:
    page = wide.go()
    box = page.locator("#mv-search")
    box.click()
    for words in ("cheapest", "mem0"):
        box.clear()
        box.press_sequentially(words)
        result = page.locator(".mv-results li").filter(has=page.locator("a[href*='/faq/']"))
        expect(result.first).to_contain_text(re.compile(words, re.IGNORECASE))


def test_evidence_counts_of_a_system_open_as_many_questions(wide: Visit, site: Built) -> None:
    page = wide.go("systems/acme/")
    links = page.locator("#evidence ~ .mv-scroll").first.locator("tbody a[href*='evidence=']")
    counts = {str(link.get_attribute("href")): link.inner_text() for link in links.all()}
    assert counts
    for address, number in counts.items():
        page.goto(urljoin(f"{wide.base}systems/acme/", address))
        expect(page.locator(".mv-filters output")).to_have_text(f"{number} of 60 items")
        expect(page.locator(".mv-filters label", has_text=re.compile("^Evidence")).locator("select")).not_to_have_value(
            ""
        )


def test_items_are_filtered_and_the_filter_survives_in_the_address(wide: Visit, site: Built) -> None:
    page = wide.go(f"items/?run={shown(site, 'shaky')}")
    page.get_by_label("Result").select_option("failed")
    expect(page.locator(".mv-list li")).to_have_count(4)
    page.reload()
    expect(page.locator(".mv-list li")).to_have_count(4)
    page.get_by_label("Result").select_option("")
    page.get_by_label("Find text").fill("noise-resistance-1")
    expect(page.locator(".mv-list li")).to_have_count(10)


def test_a_cause_on_a_runs_page_leads_to_its_items_alone(wide: Visit, site: Built) -> None:
    page = wide.go(f"runs/{shown(site, 'shaky')}/")
    page.get_by_role("link", name="Error", exact=True).click()
    expect(page.locator(".mv-list li")).to_have_count(4)
    expect(page.get_by_label("Cause")).to_have_value("error")
    expect(page.locator(".mv-item .mv-badge", has_text="error").last).to_be_visible()


def test_the_footer_stays_below_the_fold_while_items_load(alone: Visit, site: Built) -> None:
    alone.page.set_viewport_size({"width": 412, "height": 823})
    alone.page.route("**/items/runs.json", lambda route: None)
    page = alone.go(f"items/?run={shown(site, 'acme')}")
    expect(page.get_by_text("Loading…")).to_be_visible()
    footer = page.locator("footer").bounding_box()
    assert footer is not None and footer["y"] >= 823


def test_a_run_or_item_that_is_not_there_is_said_so(wide: Visit, site: Built) -> None:
    page = wide.go("items/?run=../../secret")
    expect(page.get_by_role("alert")).to_contain_text("no such run")
    page = wide.go(f"items/?run={shown(site, 'acme')}#q=nobody")
    expect(page.get_by_role("alert")).to_contain_text("no item with this id")


def test_hostile_text_is_shown_and_never_run(wide: Visit, site: Built) -> None:
    page = wide.go("systems/hostile/")
    expect(page.locator("h1")).to_contain_text("<script>alert(1)</script> {{ config }}")
    assert page.title().startswith("<script>alert(1)</script> {{ config }} [x](javascript:1)")
    page = wide.go(f"items/?run={shown(site, 'hostile')}#q=belief-update-00")
    expect(page.locator(".mv-item .mv-said").nth(1)).to_contain_text(visible(HOSTILE))


def test_a_judges_hostile_reply_is_shown_as_text_with_what_was_read_from_it(wide: Visit, site: Built) -> None:
    page = wide.go(f"items/?run={judged(site)}#q=belief-update-03")
    item = page.locator(".mv-item")
    reply = visible(HOSTILE_REPLY)
    expect(item.locator(".mv-said", has_text=reply).first).to_be_visible()
    expect(item.locator(".mv-badge", has_text="unclear: neither yes nor no")).to_have_count(2)
    expect(item).to_contain_text("Second request.")
    item.locator("summary", has_text="Judge prompt").nth(1).click()
    expect(item.locator("details .mv-asked").first).to_contain_text("Question: Where does zebrafinch live")
    expect(item.locator("details .mv-asked").first).to_contain_text("Reply with one word: yes or no.")
    assert item.locator("img, script").count() == 0
    expect(page.locator("p", has_text="Judge:").first).to_contain_text("passes 7.9 % of wrong answers")
    page.get_by_role("link", name="passes 7.9 %").click()
    expect(page.locator("h3:target")).to_have_text("openai:gpt-4o-2024-08-06@1")


def test_a_readers_prompt_is_put_together_word_for_word(wide: Visit, site: Built) -> None:
    page = wide.go(f"items/?run={replayed(site)}#q=belief-update-03")
    page.locator("summary", has_text="Reader prompt").click()
    shown = page.locator("details", has_text="Reader prompt").locator(".mv-asked")
    run = next(run for run in site.runs if run.run.replayed)
    kept = next(call for call in run.calls() if "(belief-update-03)" in str(call.request.body))
    messages = kept.request.body["messages"]
    assert isinstance(messages, list) and isinstance(messages[0], dict)
    assert "[2026-01-04] user: zebrafinch" in str(messages[0]["content"])
    assert shown.text_content() == visible(str(messages[0]["content"]))


def test_a_badge_is_drawn_and_its_markdown_has_whole_addresses(wide: Visit) -> None:
    page = wide.go("systems/acme/")
    page.get_by_text("Badges for a README").click()
    image = page.locator("img[src*='badges/']").first
    image.scroll_into_view_if_needed()
    expect(image).to_have_js_property("complete", True)
    assert image.evaluate("image => image.naturalWidth") > 200
    address = r"http://127\.0\.0\.1:\d+/(?:\S+/)?"
    whole = rf"\[!\[memeval [^\]]+\]\({address}badges/acme/\w+\.svg\)\]\({address}systems/acme/\)"
    expect(page.locator("[data-badge]").first).to_have_text(re.compile(f"^{whole}$"))


def test_a_chart_becomes_interactive_when_asked(wide: Visit) -> None:
    page = wide.go(BOARD)
    page.locator("summary", has_text="Score against tokens").click()
    assert page.locator(".mv-drawing > svg").count() >= 1
    page.get_by_role("button", name="Open interactive chart").first.click()
    expect(page.locator(".vega-embed svg").first).to_be_visible(timeout=20_000)
    expect(page.locator("[data-chart]").first.get_by_role("button", name="Open interactive chart")).to_have_count(0)


def test_everything_but_the_drill_down_reads_without_scripts(unscripted: Visit, site: Built) -> None:
    page = unscripted.go()
    expect(page.locator("form.mv-tools")).to_be_hidden()
    unscripted.go(f"runs/{shown(site, 'acme')}/")
    expect(page.get_by_text("memeval reproduce").first).to_be_visible()
    expect(page.get_by_role("table", name="Cost and time")).to_be_visible()
    unscripted.go("benchmarks/fake@1/")
    page.locator("summary", has_text="Grader audits").click()
    expect(page.get_by_role("table", name="Audit of rules@3, 2026-11-03")).to_contain_text("12 of 390")
    unscripted.go(f"items/?run={shown(site, 'acme')}")
    expect(page.get_by_text("This page needs JavaScript")).to_be_visible()


def test_the_first_column_stays_while_a_phone_scrolls_a_table(wide: Visit) -> None:
    wide.page.set_viewport_size({"width": 375, "height": 812})
    page = wide.go("benchmarks/fake@1/?columns=all")
    box = page.locator(".mv-scroll").filter(has=board(page))
    box.evaluate("element => element.scrollTo(600, 0)")
    cell = board(page).locator("tbody th").first.bounding_box()
    assert cell is not None and 0 <= cell["x"] < 60


def test_published_scores_are_filtered_by_the_lists_and_by_the_address(wide: Visit) -> None:
    page = wide.go("published/?product=Zep&verdict=wrong")
    rows = page.locator("table.mv-findings tbody tr:visible")
    expect(rows).to_have_count(2)
    expect(page.locator("[data-overview-tools] output")).to_contain_text("does not have: verdict “wrong”.")
    page.get_by_label("Verdict").select_option("named file absent")
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Reset").click()
    page.get_by_label("Find system").fill("mem0")
    expect(rows).to_have_count(1)
