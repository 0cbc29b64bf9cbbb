"""What the built site must hold, whatever stands on the board."""

import base64
import hashlib
import json
import re
import time
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from memeval.site import build
from memeval.site.frame.csp import POLICY, SCRIPTS
from memeval.site.frame.not_found import SECTIONS
from memeval.site.model.content import read_site
from memeval.site.model.text import breakable
from memeval.site.pages.product_results import headline_tables
from memeval.site.table.tables import board_views
from tests.site.conftest import Built
from tests.site.factory import HOSTILE, FakeBenchmark, Made, make_run

MARKED = "noopener noreferrer nofollow"
"""How a link that leaves the site is marked."""


class Links(HTMLParser):
    """Collects what a page refers to, the ids it has, and its inline scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.ids: set[str] = set()
        self.metas: list[dict[str, str | None]] = []
        self.handlers: list[str] = []
        self.scripts: list[str] = []
        self._inline = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.ids.add(str(found["id"]))
        if tag == "meta":
            self.metas.append(found)
        for name in ("href", "src", "data-chart"):
            if found.get(name) and tag != "base" and not _leaves_openly(tag, found):
                self.targets.append(str(found[name]))
        self.handlers += [name for name in found if name.startswith("on")]
        self._inline = tag == "script" and "src" not in found and "json" not in str(found.get("type"))

    def handle_data(self, data: str) -> None:
        if self._inline:
            self.scripts.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._inline = False


def _leaves_openly(tag: str, found: dict[str, str | None]) -> bool:
    """Return whether this is a link that a reader follows to a named source, marked so that nothing else happens."""
    return tag == "a" and str(found.get("href")).startswith("https://") and found.get("rel") == MARKED


def pages(out: Path) -> list[Path]:
    return sorted(out.rglob("*.html"))


def parsed(page: Path) -> Links:
    links = Links()
    links.feed(page.read_text(encoding="utf-8"))
    return links


@pytest.mark.parametrize("page", ["methodology", "simulation", "exchange"])
def test_a_keyboard_can_scroll_every_table_of_the_guide(built: Built, page: str) -> None:
    html = (built.out / page / "index.html").read_text(encoding="utf-8")
    tables = re.findall(r"(<[^<>]*>)\s*<table", html)
    assert tables
    assert all('class="mv-scroll"' in each and 'tabindex="0"' in each for each in tables)


def test_every_internal_link_leads_somewhere(built: Built) -> None:
    known = {page: parsed(page) for page in pages(built.out)}
    broken = []
    for page, links in known.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme == "data" or (page.name == "404.html"):
                continue
            assert not parts.scheme and not parts.netloc, f"{page}: {target} leaves the site"
            assert not target.startswith("/"), f"{page}: {target} does not survive a sub-path"
            there = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if there.is_dir():
                there /= "index.html"
            if not there.is_file():
                broken.append((str(page.relative_to(built.out)), target))
                continue
            anchor = unquote(parts.fragment)
            if anchor and there in known and not anchor.startswith("q=") and anchor not in known[there].ids:
                broken.append((str(page.relative_to(built.out)), target))
    assert broken == []


def test_every_page_carries_a_policy_that_allows_its_own_scripts_and_no_others(built: Built) -> None:
    for page in pages(built.out):
        links = parsed(page)
        policies = [m["content"] for m in links.metas if m.get("http-equiv") == "Content-Security-Policy"]
        assert policies == [POLICY], page
        for script in links.scripts:
            digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
            assert digest in SCRIPTS, (page, script[:80])
        assert links.handlers == [], page


def test_hostile_text_is_text_on_every_page_and_in_the_search_index(built: Built) -> None:
    for page in pages(built.out):
        text = page.read_text(encoding="utf-8")
        assert "<script>alert" not in text, page
        assert "\x00" not in text, page
        assert 'href="javascript:' not in text and "href='javascript:" not in text, page
    assert "javascript:alert(1)" in built.read("benchmarks/fake@1/index.html")
    title = built.read("systems/hostile/index.html")
    assert re.search(r"<title>&lt;script&gt;alert\(1\)&lt;/script&gt; \{\{ config \}\}", title)
    index = json.loads(built.read("search/search_index.json"))
    named = [entry for entry in index["docs"] if entry["location"].startswith("systems/hostile/")]
    assert named[0]["title"].startswith("<script>alert(1)</script>")  # words: the search shows them as text
    assert not any("\x00" in entry["title"] + entry["text"] for entry in index["docs"])


def test_runs_stay_out_of_search_and_navigation(built: Built) -> None:
    index = json.loads(built.read("search/search_index.json"))
    assert not any(entry["location"].startswith(("runs/", "items/")) for entry in index["docs"])
    navigation = re.search(r"<nav class=\"md-tabs\".*?</nav>", built.read("index.html"), re.DOTALL)
    assert navigation is not None and "runs/" not in navigation[0]


def test_a_board_shows_all_that_a_published_row_shows(built: Built) -> None:
    page = built.read("benchmarks/fake@1/index.html")
    for part in ("60/60", "recomputed", "maintainer-run", "self-run", "partial", "too many errors", "1–2", "%"):
        assert part in page, part
    for column in (
        "composite",
        "gap",
        "composite_published",
        "category_belief-update",
        "error_rate",
        "false_hedge_rate",
    ):
        assert f'data-column="{column}"' in page
    assert "memeval run acme --benchmark fake@1" in page
    assert "self-reported" in page or "measured" in page
    assert "invalidated or superseded run" in page


def test_downloads_hold_what_the_table_shows(built: Built) -> None:
    track = built.runs[0].run.track_id
    data = json.loads(built.read(f"downloads/{track}.json"))
    [acme] = [row for row in data["rows"] if row["slug"] == "acme"]
    assert acme["composite"] == built.runs[0].run.scores.composite.value
    lines = built.read(f"downloads/{track}.csv").splitlines()
    assert len(lines) == 1 + len(data["rows"])
    assert lines[0].startswith("slug,standing,rank,system,composite")


def test_tied_systems_have_the_range_of_their_ranks_in_downloads(built: Built) -> None:
    track = built.runs[0].run.track_id
    [acme] = [row for row in json.loads(built.read(f"downloads/{track}.json"))["rows"] if row["slug"] == "acme"]
    best, worst = acme["ranges"]["rank"]
    assert best < worst
    [line] = [line for line in built.read(f"downloads/{track}.csv").splitlines() if line.startswith("acme,")]
    assert line.split(",")[2] == f"{best} to {worst}"


def test_a_page_that_is_not_there_links_to_the_leaderboard(built: Built) -> None:
    page = built.read("404.html")
    assert '<a id="home" href="/">Go to the leaderboard</a>' in page


def test_addresses_of_a_site_are_told_only_if_they_are_known(tmp_path: Path, built: Built) -> None:
    benchmark = FakeBenchmark()
    make_run(tmp_path / "results", Made("acme", 'Acme "<b>"'), benchmark)
    (tmp_path / "memeval.toml").write_text('site_url = "https://board.example/x"\n')
    build(tmp_path / "results", tmp_path / "site", find=lambda _name: benchmark)
    page = (tmp_path / "site/systems/acme/index.html").read_text()
    assert '<meta property="og:url" content="https://board.example/x/systems/acme/">' in page
    assert '<meta property="og:title" content="Acme &#34;&lt;b&gt;&#34;">' in page
    assert "<loc>https://board.example/x/systems/acme/</loc>" in (tmp_path / "site/sitemap.xml").read_text()
    assert 'href="/x/">Go to the leaderboard' in (tmp_path / "site/404.html").read_text()
    page = built.read("systems/acme/index.html")
    assert 'property="og:title"' in page and "og:url" not in page and not (built.out / "sitemap.xml").exists()


def test_every_folder_of_a_site_leads_home_from_a_page_that_is_not_there(built: Built) -> None:
    folders = {page.parent.relative_to(built.out).parts[0] for page in built.out.glob("*/**/index.html")}
    generated = {each for each in folders if len(list((built.out / each).glob("*/index.html"))) > 0}
    assert generated <= set(SECTIONS)


def test_tables_of_one_benchmark_have_different_headings(built: Built) -> None:
    others = [file.read_text() for file in (built.out / "tracks").glob("*/index.html")]
    headings = re.findall(r"<h1[^>]*>(Fake benchmark: [^<]*)</h1>", "".join(others))
    assert len(headings) > 1 and len(set(headings)) == len(headings)
    words = re.findall(r"data-track=\"[^\"]*\">([^<]*)</a>", built.read("benchmarks/fake@1/index.html"))
    assert {f"Fake benchmark: {each[:1].lower()}{each[1:]}" for each in words} == set(headings)


def test_the_tables_of_the_front_page_come_first_on_the_page_of_a_benchmark(built: Built) -> None:
    site = read_site(built.results, find=lambda _name: built.benchmark)
    (benchmark,) = (each for each in site.benchmarks.values() if each.id == "fake@1")
    usual = [each.id for each in board_views(site, benchmark, ())]
    assert len(usual) > 2
    first = [each.id for each in board_views(site, benchmark, {usual[-1]})]
    assert first == [usual[-1], *usual[:-1]]
    front = {table.track.id for table in headline_tables(site)}
    shown = re.findall(r' id="track-([^"]*)"', built.read("benchmarks/fake@1/index.html"))
    assert set(shown[: len(front & set(shown))]) == front & set(shown)
    listed = re.findall(r'<h2 id="track-([^"]*)"', built.read("trade-offs/index.html"))
    assert set(listed[: len(front & set(listed))]) == front & set(listed)


def test_a_long_name_may_break_between_its_parts() -> None:
    assert breakable("PrecisionMemBench <b>") == "Precision<wbr>MemBench &lt;b&gt;"
    assert breakable("LoCoMo and DeepMemEval") == "LoCoMo and DeepMemEval"


def test_what_columns_mean_is_text_and_not_a_tooltip(built: Built) -> None:
    page = built.read("benchmarks/fake@1/index.html")
    table = page[page.index('<table class="mv-board"') :]
    assert " title=" not in table[: table.index("</thead>")]
    assert "Weighted mean of the category scores" in page[page.index('id="legend"') :]


def test_unknown_cost_is_a_dash_with_a_reason_and_never_zero(built: Built) -> None:
    track = built.runs[0].run.track_id
    data = json.loads(built.read(f"downloads/{track}.json"))
    [borealis] = [row for row in data["rows"] if row["slug"] == "borealis"]
    assert borealis["cost_usd"] is None
    assert "no price is known" in built.read("benchmarks/fake@1/index.html")


def test_the_sites_own_data_leads_from_run_to_item(built: Built) -> None:
    run_id = built.runs[0].run.run_id
    index = built.index_of(run_id)
    assert len(index["items"]) == 60
    shard = built.shard(run_id)
    assert shard["items"][0]["id"] == index["items"][0]["id"]
    assert HOSTILE.replace("\u202e", "\ufffd") in shard["items"][0]["responses"][0]["answer"]
    shared = built.unpacked(index["benchmark_data"])
    where = shared["shards"][index["items"][0]["id"]]
    scenarios = built.unpacked(shared["files"][where])["scenarios"]
    assert any(index["items"][0]["id"] in scenario["keys"] for scenario in scenarios)


def test_a_benchmark_whose_data_is_not_here_still_gets_pages_that_say_so(built: Built, tmp_path: Path) -> None:
    out = tmp_path / "site"
    build(built.results, out, find=lambda _name: FakeBenchmark(absent=True))
    assert "data missing at build" in (out / "benchmarks/fake@1/index.html").read_text()
    index = replace(built, out=out).index_of(built.runs[0].run.run_id)
    assert index["benchmark_data"] is None and "not here" in index["benchmark_missing"]


def test_an_empty_results_folder_gives_a_board_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    build(tmp_path / "results", tmp_path / "site")
    assert "No runs yet" in (tmp_path / "site/index.html").read_text()


def test_a_version_is_offered_only_where_one_is_published(built: Built, tmp_path: Path) -> None:
    out = tmp_path / "site"
    build(built.results, out, version="2026.11", find=lambda _name: built.benchmark)
    assert (
        '<div class="mv-releases" data-releases><a href="./releases/">2026.11</a>' in (out / "index.html").read_text()
    )
    assert "data-releases" not in built.read("index.html")


@pytest.mark.slow
def test_many_runs_cost_little_more_than_their_bytes(tmp_path: Path) -> None:
    benchmark = FakeBenchmark()
    for number in range(20):
        started = f"2026-01-{1 + number:02}T10:00:00+00:00"
        make_run(
            tmp_path / "results", Made(f"system-{number % 10}", f"System {number % 10}", started=started), benchmark
        )
    before = time.process_time()
    build(tmp_path / "results", tmp_path / "site", find=lambda _name: benchmark)
    assert time.process_time() - before < 4.5, "a thousand runs must stay well under a minute"
