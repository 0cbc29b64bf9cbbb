"""Comparing systems on the built site."""

import json
import re

from playwright.sync_api import expect
from typer.testing import CliRunner

from memeval.cli.main import app
from tests.browser.conftest import Visit
from tests.browser.looks import inaccessible, too_wide
from tests.browser.test_site import BOARD, shown
from tests.site.conftest import Built


def printed(site: Built, *runs: str) -> list[list[str]]:
    found = CliRunner().invoke(app, ["compare", *runs, "--results", str(site.results)])
    lines = [re.split(r"\s{2,}", line.strip()) for line in found.stdout.splitlines()]
    return [line[:8] for line in lines if line[0] in ("composite", "belief-update", "noise-resistance")]


def address(site: Built, *slugs: str) -> str:
    runs = [shown(site, slug) for slug in slugs]
    track = next(run.run.track_id for run in site.runs if run.run.run_id == runs[0])
    return f"compare/?board={track}&runs={','.join(runs)}"


def test_the_page_shows_what_the_command_prints(wide: Visit, site: Built) -> None:
    page = wide.go(address(site, "acme", "borealis"))
    rows = page.locator(".mv-pair tbody tr")
    expect(rows).to_have_count(3)
    lines = printed(site, shown(site, "acme"), shown(site, "borealis"))
    assert len(lines) == 3
    for row, line in zip(rows.all(), lines, strict=True):
        gap, _bar, interval, p, first, second, items = row.locator("td").all_inner_texts()
        assert [items, first, second, *gap.split(" "), interval, p] == [
            *line[1:4],
            line[4].replace("-", "−"),
            line[7],
            line[5].strip("[]").replace(", ", " to ").replace("-", "−"),
            line[6],
        ]


def test_questions_that_one_of_two_has_right_lead_to_its_answer(wide: Visit, site: Built) -> None:
    page = wide.go(address(site, "acme", "borealis"))
    first = page.locator(".mv-flips li").first
    expect(first).to_contain_text("Where does zebrafinch live?")
    item = first.locator(".mv-flip .mv-note").inner_text()
    first.get_by_role("link", name="wrong").click()
    expect(page.locator(".mv-item h2")).to_have_text(item)
    expect(page.locator("h1")).to_contain_text("Borealis")


def test_as_many_questions_differ_as_the_command_says(wide: Visit, site: Built) -> None:
    runs = [shown(site, slug) for slug in ("acme", "borealis")]
    found = CliRunner().invoke(app, ["compare", *runs, "--results", str(site.results), "--flips", "1"]).stdout
    expected = re.findall(r"(\d+) items? (better|worse):\n\s+(\S+)", found)
    page = wide.go(address(site, "acme", "borealis"))
    sides = page.locator(".mv-sides > div")
    for side, (count, _way, item) in zip((sides.nth(1), sides.nth(0)), expected, strict=True):
        expect(side.locator("h3 .mv-num")).to_have_text(count)
        expect(side.locator("li").first).to_contain_text(item)


def test_the_sentence_has_the_test_of_the_pair_and_that_of_the_ranks(wide: Visit, site: Built) -> None:
    page = wide.go(address(site, "acme", "borealis"))
    expect(page.locator(".mv-result-line")).to_have_text(
        re.compile(r"Borealis scores [\d.]+ points (less|more) than Acme Memory \(95 % interval .* p = [\d.]+\)\. \S+")
    )
    oracle = wide.go(address(site, "no-memory", "acme")).locator(".mv-result-line")
    expect(oracle).to_contain_text("The difference is significant")


def test_a_p_value_has_one_sign(wide: Visit) -> None:
    page = wide.go("compare/")
    written = "import('../assets/js/compare.js').then(({ likelihood }) => ['0.740', '<0.001'].map(likelihood))"
    assert page.evaluate(written) == ["p = 0.740", "p < 0.001"]


def test_a_hostile_name_is_shown_as_text(wide: Visit, site: Built) -> None:
    page = wide.go(address(site, "hostile", "acme"))
    expect(page.locator(".mv-pair h2")).to_contain_text("<script>alert(1)</script> {{ config }}")


def test_missing_data_is_named(served: Visit, site: Built) -> None:
    for path in (site.out / "data/sha256").rglob("*.*"):
        served.host.replace(str(path.relative_to(site.out)), lambda _data: None)
    page = served.go(address(site, "acme", "borealis"))
    expect(page.get_by_role("alert")).to_contain_text("Cannot compare: ")
    expect(page.locator(".mv-pair")).to_have_count(0)


def test_two_systems_are_typed_and_every_table_of_both_says_the_difference(wide: Visit, site: Built) -> None:
    page = wide.go("compare/")
    expect(page.locator("datalist option[value='Acme Memory']")).to_have_count(1)
    page.get_by_label("First system").focus()
    page.keyboard.type("acme memory")
    page.keyboard.press("Tab")
    page.keyboard.type("Nobody")
    page.keyboard.press("Tab")
    expect(page.locator(".mv-problem")).to_contain_text("No system ‘Nobody’ can be compared.")
    page.get_by_label("Second system").fill("Borealis")
    expect(page.locator(".mv-pair")).to_have_count(1)
    slugs = {
        slug: {run.run.track_id for run in site.runs if run.run.system.slug == slug and run.run.coverage.full}
        for slug in ("acme", "borealis")
    }
    expect(page.locator(".mv-shared")).to_have_count(len(slugs["acme"] & slugs["borealis"]))
    summary = page.locator(".mv-shared summary").first
    expect(summary).to_have_text(re.compile("no significant difference|scores [0-9.]+ points more than"))
    there = page.locator(".mv-result-line").all_inner_texts()
    copied = page.url.removeprefix(wide.base)
    wide.forget()
    wide.go(copied)
    expect(page.locator(".mv-result-line").first).to_be_visible()
    assert page.locator(".mv-result-line").all_inner_texts() == there


def test_an_old_or_forged_address_is_named_in_a_sentence(wide: Visit, site: Built) -> None:
    page = wide.go("compare/?board=none<b>&runs=a,b")
    expect(page.locator(".mv-problem")).to_have_text("No table ‘none<b>’ in this release. Choose another one.")
    both = address(site, "acme", "borealis")
    page = wide.go(f"{both},no-such-run,{shown(site, 'acme')},{shown(site, 'halfway')}")
    expect(page.locator(".mv-problem")).to_contain_text(
        ["A run was named twice. It is shown once.", "No run ‘no-such-run’ in this table.", "Halfway"]
    )
    expect(page.locator(".mv-pair")).to_have_count(1)


def test_comparing_is_accessible_and_fits_a_phone(wide: Visit, site: Built) -> None:
    page = wide.page
    page.set_viewport_size({"width": 375, "height": 812})
    wide.go(address(site, "acme", "borealis", "oracle-evidence"))
    expect(page.locator(".mv-pair")).to_have_count(2)
    assert too_wide(page) + inaccessible(wide) == []


def test_systems_without_a_common_table_are_told_so_in_words(served: Visit, site: Built) -> None:
    def apart(data: bytes) -> bytes:
        index = json.loads(data)
        for number, each in enumerate(index["systems"]):
            each["runs"] = [[f"{number}", *run[1:]] for run in each["runs"]]
        return json.dumps(index).encode()

    served.host.replace("compare/data/systems.json", apart)
    page = served.go("compare/?systems=acme,borealis")
    expect(page.locator(".mv-lead").last).to_contain_text("No table has both systems.")


def test_without_javascript_the_page_names_the_command(unscripted: Visit) -> None:
    expect(unscripted.go("compare/").get_by_role("link", name="memeval compare")).to_be_visible()


def test_ticked_rows_are_compared(wide: Visit) -> None:
    page = wide.go(BOARD)
    table = page.locator("table.mv-board").filter(has_text="Halfway")
    bar = table.locator("xpath=ancestor::*[contains(@class, 'mv-scroll')]/following-sibling::div[1]")
    expect(table.get_by_role("checkbox", name="Compare Halfway")).to_have_count(0)
    table.get_by_role("checkbox", name="Compare Borealis").focus()
    page.keyboard.press("Space")
    expect(bar.get_by_role("link", name="Compare")).to_be_hidden()
    for name in ("Acme Memory", "Oracle evidence", "No memory", "Full context"):
        table.get_by_role("checkbox", name=f"Compare {name}").click()
    expect(bar).to_contain_text("At most 4 systems can be compared.")
    expect(table.get_by_role("checkbox", name="Compare Full context")).not_to_be_checked()
    table.get_by_role("checkbox", name="Compare No memory").uncheck()
    bar.get_by_role("link", name="Compare").click()
    expect(page.locator(".mv-pair")).to_have_count(2)
    expect(page.locator(".mv-pair h2").first).to_have_text("Acme Memory against Borealis")
    page.go_back()
    expect(page.locator("table.mv-board").first).to_be_visible()


def test_a_part_of_one_name_chooses_its_system(wide: Visit, site: Built) -> None:
    page = wide.go("compare/")
    page.get_by_label("First system").fill("acme")
    page.get_by_label("Second system").fill("orealis")
    expect(page.locator(".mv-problem")).to_have_count(0)
    page.get_by_label("First system").focus()
    expect(page.get_by_label("Second system")).to_have_value("Borealis")
    expect(page.locator(".mv-result-line").first).to_contain_text("Borealis scores")


def test_a_part_of_several_names_says_how_many_fit(wide: Visit, site: Built) -> None:
    page = wide.go("compare/")
    page.get_by_label("First system").fill("e")
    page.get_by_label("Second system").focus()
    expect(page.locator(".mv-problem")).to_contain_text("systems fit ‘e’. Choose one of the suggestions.")
