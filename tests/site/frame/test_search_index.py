"""What the search finds on a page, by section: neither charts nor numbers of long tables; and what it finds first."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from markupsafe import Markup

from memeval.records.run import SystemKind
from memeval.site import build
from memeval.site.frame.search_index import LONG_TABLE, SEARCH_INDEX, SHOWN, entries
from memeval.site.model.files import Page, assets_root
from tests.site.conftest import Built, published_board
from tests.site.factory import FakeBenchmark, Made, make_run

ROW = "<tr><th>a system</th><td>12.5</td></tr>\n"


def table(rows: int) -> str:
    return (
        f"<table><caption>By score</caption><thead><tr><th>System</th></tr></thead><tbody>{ROW * rows}</tbody></table>"
    )


def found(body: str) -> list[tuple[str, str, str]]:
    page = Page("runs/", "Runs & more", Markup(body), "All runs")
    return [(each["location"], each["title"], each["text"]) for each in entries(page)]


def test_a_page_is_divided_at_the_headings_with_an_anchor() -> None:
    body = (
        '<p>crumb</p><h1>Runs</h1><p>a<b>b</b> c</p><h2 id="one">One <code>x</code>'
        '<a class="headerlink" href="#one">#</a></h2>'
        "<p>first</p><h3>no anchor</h3><p>more</p><h2 id='two'>Two</h2><ul><li>a</li><li>b</li></ul>"
    )
    assert found(body) == [
        ("runs/", "Runs & more", "crumb Runs ab c"),
        ("runs/#one", "One x", "first no anchor more"),
        ("runs/#two", "Two", "a b"),
    ]


def test_text_is_found_as_a_reader_sees_it() -> None:
    assert found("<p>a &lt;b&gt; &amp; c</p><script>f()</script><button>Sort</button>") == [
        ("runs/", "Runs & more", "a <b> & c")
    ]


def test_a_long_table_is_left_out_but_for_its_head_its_title_and_the_names_of_its_rows() -> None:
    short, long = found(table(LONG_TABLE - 1)), found(f"{table(LONG_TABLE)}<p>after</p>")
    assert short[0][2].startswith("By score System" + " a system 12.5" * 15)
    assert long[0][2].startswith("By score System a system a system") and "12.5" not in long[0][2]


def test_after_the_start_of_a_section_each_word_is_kept_once_and_no_number_or_digest() -> None:
    page = Page(
        "runs/",
        "Runs",
        Markup(f"<p>{'word ' * (SHOWN // 5)}word later 12.5 later f2e2c8344fd7 qwen2.5 --to-file</p>"),
        "All",
    )
    (section,) = entries(page)
    assert section["text"] == ("word " * (SHOWN // 5)).strip() and section["more"] == "later qwen2.5 --to-file"


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with products, and the modules of its search as node reads them."""
    folder = tmp_path_factory.mktemp("ranked")
    for slug, name in (("mem0-verbatim", "mem0 (open source), verbatim"), ("zep", "Zep"), ("letta", "Letta")):
        make_run(folder / "results", Made(slug, name), FakeBenchmark())
    make_run(folder / "results", Made("soft-delete", "Soft delete", kind=SystemKind.CONTROL), FakeBenchmark())
    published_board(folder)
    build(folder / "results", folder / "site", find=lambda _name: FakeBenchmark())
    shutil.copytree(assets_root() / "site/assets/js", folder / "js")
    (folder / "js/package.json").write_text('{"type": "module"}')
    (folder / "js/ask.js").write_text("""
        import { readFileSync } from "node:fs";
        globalThis.document = { querySelector: () => ({ content: "./" }) };
        globalThis.location = { href: "http://board.test/" };
        const { matches } = await import("./search.js");
        const [, , index, ...asked] = process.argv;
        const { docs } = JSON.parse(readFileSync(index));
        console.log(JSON.stringify(asked.map((one) => matches(docs, one).map(({ location }) => location))));
    """)
    return folder


FIRST = {
    "mem0": "systems/mem0-verbatim/",
    "zep": "systems/zep/",
    "letta": "systems/letta/",
    "delete": "lifecycle/",
    "licence": "data/",
    "license": "data/",
    "cite": "releases/",
    "cheapest": "trade-offs/",
    "temporal": "benchmarks/",
    "api key": "products/",
}


def test_the_search_shows_products_and_the_page_that_answers_first(ranked: Path) -> None:
    asked = ["node", str(ranked / "js/ask.js"), str(ranked / "site" / SEARCH_INDEX), *FIRST]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    shown = dict(zip(FIRST, json.loads(done.stdout), strict=True))
    wrong = {word: shown[word][:4] for word, first in FIRST.items() if first not in shown[word][:3]}
    assert not wrong
    assert shown["delete"].index("lifecycle/") < shown["delete"].index("systems/soft-delete/"), "a control comes last"
    assert [shown[word][0] for word in ("mem0", "zep", "letta")] == list(FIRST.values())[:3]
    assert "published/" in shown["mem0"][:3], "its published scores come next"


def test_a_chart_is_left_out_and_a_short_table_keeps_its_words() -> None:
    bars = ROW.replace("12.5", '12 <svg class="bar"><title>30</title>\n<g><svg></svg></g></svg>') * 2
    body = f"<p>before</p><svg><text>12\n</text></svg><p>between</p><svg></svg><table><tbody>{bars}</tbody></table>"
    assert found(body)[0][2] == "before between a system 12 a system 12"


def test_no_text_of_a_chart_is_in_the_index_of_a_site(built: Built) -> None:
    page = "benchmarks/fake@1/"
    said = re.findall("<desc>([^<]+)</desc>", built.read(f"{page}index.html"))
    index = json.loads(built.read("search/search_index.json"))["docs"]
    assert said and [each for each in index if each["location"].startswith(page)]
    assert not [each for each in index for text in said if text in each["text"]]
