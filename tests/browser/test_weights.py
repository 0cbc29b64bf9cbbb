"""Trade-offs, and a reader's own weights, on the built site."""

from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.looks import inaccessible, too_wide
from tests.browser.test_site import BOARD
from tests.site.conftest import Built


def track(site: Built) -> str:
    return next(run.run.track_id for run in site.runs if run.run.system.slug == "halfway")


def panel(page: Page, site: Built) -> Locator:
    return page.locator(f'[data-weights="{track(site)}"]')


def column(panel: Locator, number: int) -> list[str]:
    return panel.locator(f"tbody tr > :nth-child({number})").all_inner_texts()


def test_published_weights_give_the_published_scores_and_places(wide: Visit, site: Built) -> None:
    page = wide.go(BOARD)
    weights = panel(page, site)
    weights.locator("summary").click()
    expect(weights.get_by_text("0 of", exact=False)).to_be_visible()
    assert column(weights, 3) == column(weights, 4)
    table = page.locator("table.mv-board").filter(has_text="Halfway")
    for row in weights.locator("tbody tr").all():
        name = row.locator("bdi").inner_text()
        theirs = table.locator("tbody tr").filter(has=page.get_by_text(name, exact=True)).first
        assert (
            row.locator("td").nth(2).inner_text() == theirs.locator('[data-column="composite"] .mv-value').inner_text()
        )


def test_moving_a_slider_ranks_again_and_the_address_keeps_it(wide: Visit, site: Built) -> None:
    page = wide.go(BOARD)
    weights = panel(page, site)
    weights.locator("summary").click()
    weights.get_by_label("Only one category").select_option(label="Noise resistance")
    expect(weights.get_by_role("slider", name="Belief update")).to_have_attribute("aria-valuetext", "0 %")
    table = page.locator("table.mv-board").filter(has_text="Halfway")
    row = weights.locator("tbody tr").filter(has_text="Borealis")
    theirs = table.locator("tbody tr").filter(has_text="Borealis").locator('[data-column="category_noise-resistance"]')
    assert row.locator("td").nth(1).inner_text() == theirs.locator(".mv-value").inner_text()
    weights.get_by_role("slider", name="Belief update").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get("weights") == [f"{track(site)}:1,100"])
    there = column(weights, 3)
    copied = page.url.removeprefix(wide.base)
    wide.forget()
    page = wide.go(copied)
    expect(panel(page, site).locator("tbody tr").first).to_be_visible()
    assert column(panel(page, site), 3) == there
    panel(page, site).get_by_role("button", name="Reset").click()
    assert "weights" not in parse_qs(urlsplit(page.url).query)
    assert column(panel(page, site), 3) == column(panel(page, site), 4)


def test_a_link_to_the_panel_opens_it(wide: Visit, site: Built) -> None:
    page = wide.go(f"{BOARD}#weights-{track(site)}")
    expect(panel(page, site).get_by_role("slider")).to_have_count(2)


def test_no_weight_at_all_is_said(wide: Visit, site: Built) -> None:
    page = wide.go(f"{BOARD}?weights={track(site)}:0,1")
    weights = panel(page, site)
    weights.get_by_role("slider", name="Noise resistance").focus()
    page.keyboard.press("ArrowLeft")
    expect(weights).to_contain_text("All weights are 0")


def test_forged_weights_are_named(wide: Visit, site: Built) -> None:
    page = wide.go(f"{BOARD}?weights={track(site)}:1e2,5")
    expect(panel(page, site).locator(".mv-problem")).to_contain_text("‘1e2,5’ is not a list of 2 weights")
    forged = ("1", "1,2,3", "0,0", "-1,5", "1e2,5", "<b>,1", "101,1")
    parsed = "([module, texts]) => import(module).then(({ parsed }) => texts.map((one) => parsed(one, 2)))"
    read = page.evaluate(parsed, [f"{wide.base}assets/js/weights.js", [*forged, "1,2"]])
    assert read == [*[None] * len(forged), [1, 2]]
    page = wide.go(f"{BOARD}?weights=gone:1,2")
    expect(page.locator(".mv-problem")).to_have_text("This page has no table ‘gone’ for your weights.")


def test_your_weights_are_accessible_and_fit_a_phone(wide: Visit, site: Built) -> None:
    page = wide.page
    page.set_viewport_size({"width": 375, "height": 812})
    wide.go(f"{BOARD}?weights={track(site)}:10,90")
    expect(panel(page, site).locator("tbody tr").first).to_be_visible()
    assert too_wide(page) + inaccessible(wide, within=f'[data-weights="{track(site)}"]') == []


def test_trade_offs_fit_a_phone_and_name_a_point_when_asked(wide: Visit, site: Built) -> None:
    page = wide.page
    page.set_viewport_size({"width": 375, "height": 812})
    wide.go(f"{BOARD}?track={track(site)}")
    page.locator("summary", has_text="Score against").click()
    assert too_wide(page) == []
    sizes = page.locator(".mv-trade svg").first.evaluate(
        "chart => [...chart.querySelectorAll('text')].map((text) => text.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 10, "legible on a phone"
    page.locator(".mv-trade").get_by_role("button", name="Open interactive chart").first.click()
    expect(page.locator(".vega-embed svg").first).to_be_visible(timeout=20_000)
    spot = page.locator(".vega-embed .mark-symbol path").first
    spot.evaluate("one => one.scrollIntoView({ block: 'center', inline: 'center' })")  # the header covers the top
    spot.hover(force=True)
    expect(page.locator("#vg-tooltip-element")).to_contain_text("score")
