"""What the search finds on a page: words by section, and neither charts nor the rows of long tables."""

import json
import re

from markupsafe import Markup

from memeval.site.frame.search_index import LONG_TABLE, entries
from memeval.site.model.files import Page
from tests.site.conftest import Built

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


def test_a_long_table_is_left_out_but_for_its_head_and_its_title() -> None:
    short, long = found(table(LONG_TABLE - 1)), found(f"{table(LONG_TABLE)}<p>after</p>")
    assert short[0][2] == "By score System" + " a system 12.5" * (LONG_TABLE - 1)
    assert long[0][2] == "By score System after"


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
