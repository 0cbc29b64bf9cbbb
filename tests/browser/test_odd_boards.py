"""Boards with names that no designer thinks of, in a real browser: long, from right to left, emoji, and equal ones."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from memeval.records.run import SystemKind
from memeval.site import build
from tests.browser.conftest import Host, Visit
from tests.browser.looks import too_wide
from tests.browser.test_site import BOARD, overview
from tests.site.conftest import Built
from tests.site.factory import FakeBenchmark, Made, every_second, make_board

pytestmark = pytest.mark.browser

WIDE = "W" * 80
ARABIC = "ذاكرة طويلة الأمد (2026)"
HEBREW = "זיכרון 1.0"
EMOJI = "🧠 Memory 👩‍👩‍👧‍👦"
SYSTEMS = (
    Made("wide", WIDE, 0.9, tokens=500),
    Made("arabic", ARABIC, 0.85, tokens=450),
    Made("hebrew", HEBREW, 0.8, tokens=410),
    Made("emoji", EMOJI, 0.75, tokens=390),
    Made("twin-one", "Twin", 0.7, tokens=380),
    Made("twin-two", "Twin", 0.65, tokens=370),
    Made("bm25", "BM25", 0.4, SystemKind.CONTROL, tokens=350),
    Made("no-memory", "No memory", 0.08, SystemKind.CONTROL, tokens=0),
)


SMALL = {
    "single": (Made("wide", WIDE, tokens=None),),
    "tied": tuple(Made(f"tied-{name}", f"Tied {name}", grades=every_second) for name in ("a", "b", "c")),
    "missing": (Made("emoji", EMOJI, items=41, tokens=None), Made("hebrew", HEBREW, errors=9, tokens=None)),
}
"""Boards with hardly anything to compare: a single system, equal scores, and a partial run beside one with errors."""


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder, benchmark = tmp_path_factory.mktemp("odd"), FakeBenchmark()
    runs = make_board(folder / "results", benchmark, SYSTEMS)
    known = {benchmark.id: benchmark}
    for name, made in SMALL.items():
        known[f"{name}@1"] = FakeBenchmark(f"{name}@1", told={"title": f"Board {name}"})
        make_board(folder / "results", known[f"{name}@1"], made)
    build(folder / "results", folder / "site", find=known.__getitem__)
    return Built(folder / "site", folder / "results", benchmark, runs)


@pytest.fixture(scope="module")
def host(odd: Built) -> Iterator[Host]:
    with Host(odd.out) as host:
        yield host


def test_names_of_any_kind_fit_every_page(wide: Visit, odd: Built) -> None:
    track, run = odd.runs[0].run.track_id, odd.runs[0].run.run_id
    compared = f"compare/?board={track}&runs={run},{odd.runs[1].run.run_id}"
    found = []
    paths = ("", BOARD, f"{BOARD}?columns=all", compared, "trade-offs/", "systems/", "systems/wide/")
    for path in (*paths, f"runs/{run}/", f"items/?run={run}", "tracks/", "trends/", f"{BOARD}#weights-{track}"):
        wide.page.set_viewport_size({"width": 1440, "height": 900})
        page = wide.go(path)
        if "?run" in path or "weights" in path:
            expect(page.locator(".mv-item h2, .mv-sliders label").first).to_be_visible()
        found += too_wide(page)
        page.set_viewport_size({"width": 375, "height": 812})
        found += too_wide(page)
    assert found == []


def test_a_long_name_leaves_the_scores_in_view(wide: Visit) -> None:
    page = wide.go()
    box = page.locator(".mv-scroll").filter(has=overview(page))
    assert box.evaluate("element => element.scrollWidth - element.clientWidth") <= 0
    expect(overview(page).locator("tbody tr").first.locator("td.mv-cell").last).to_be_in_viewport()


@pytest.mark.parametrize("path", ["", BOARD, "systems/", "compare/?board={track}"])
def test_two_systems_of_one_name_are_told_apart(wide: Visit, odd: Built, path: str) -> None:
    page = wide.go(path.replace("{track}", odd.runs[0].run.track_id))
    if "compare" in path:
        expect(page.locator("datalist option[value^=Twin]").first).to_be_attached()
        names = page.locator("datalist option").evaluate_all("options => options.map((one) => one.value)")
        assert [name for name in names if name.startswith("Twin")] == ["Twin (twin-one)", "Twin (twin-two)"]
    else:
        expect(page.locator("main").get_by_text("Twin (twin-one)").first).to_be_attached()
        expect(page.locator("main").get_by_text("Twin (twin-two)").first).to_be_attached()
        expect(page.locator("main").get_by_text("Twin", exact=True)).to_have_count(0)


@pytest.mark.parametrize(("typed", "name"), [("طويلة", ARABIC), ("זיכ", HEBREW), ("🧠", EMOJI)])
def test_names_in_any_script_are_found_and_lead_to_their_page(wide: Visit, typed: str, name: str) -> None:
    page = wide.go()
    page.get_by_label("Find system").fill(typed)
    expect(overview(page).locator("tbody tr:visible")).to_have_count(1)
    overview(page).get_by_role("link", name=name).click()
    expect(page.locator("h1 bdi").first).to_have_text(name)
    assert name in page.title()


def test_a_name_from_right_to_left_turns_only_itself_around(wide: Visit) -> None:
    page = wide.go(BOARD)
    for element in page.locator("main :is(th, strong)").filter(has_text=HEBREW).all():
        inner = element.locator("bdi, [dir=auto]").filter(has_text=HEBREW).last
        assert inner.evaluate("one => ['isolate', 'isolate-override'].includes(getComputedStyle(one).unicodeBidi)")


@pytest.mark.parametrize(
    ("name", "said", "ranks"),
    [
        ("single", f"{WIDE} is the only ranked system. No simple baseline ran here.", ["only entry"]),
        ("tied", "All 3 systems share first place: their differences may be chance.", ["1–3", "1–3", "1–3"]),
        ("missing", "No run in this table is ranked.", ["–", "–"]),
    ],
)
def test_a_board_with_hardly_anything_to_compare_says_so(wide: Visit, name: str, said: str, ranks: list[str]) -> None:
    page = wide.go(f"benchmarks/{name}@1/")
    expect(page.locator("main")).to_contain_text(said)
    expect(page.locator("tbody tr:visible td[data-column=rank] .mv-value")).to_have_text(ranks)
    page.locator('th[data-column="composite"] button').click()
    if len(ranks) > 1:
        page.locator("select[name=within]").select_option("1")
    expect(page.locator(".mv-board tbody tr:visible")).not_to_have_count(0)
    assert too_wide(page) == []
    page.set_viewport_size({"width": 375, "height": 812})
    assert too_wide(page) == []
