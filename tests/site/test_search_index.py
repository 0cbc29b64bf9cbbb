"""What the search finds on a page: words, and neither charts nor the rows of long tables."""

from __future__ import annotations

import json

from memeval.site.search_index import LONG_TABLE, searched
from tests.site.conftest import Built

ROW = "<tr><th>a system</th><td>12.5</td></tr>\n"


def table(rows: int) -> str:
    return (
        f"<table><caption>By score</caption><thead><tr><th>System</th></tr></thead><tbody>{ROW * rows}</tbody></table>"
    )


def test_a_long_table_is_left_out_but_for_its_head_and_its_title() -> None:
    short, long = table(LONG_TABLE - 1), table(LONG_TABLE)
    found = searched(f"<h1>Runs</h1>{short}<p>between</p>{long}<p>after</p>")
    assert found == f"<h1>Runs</h1>{short}<p>between</p>{table(0).replace('<tbody></tbody>', '')}<p>after</p>"


def test_a_chart_is_left_out_and_a_short_table_keeps_its_bars() -> None:
    bars = ROW.replace("12.5", '<svg class="bar"><title>12</title>\n</svg>') * 2
    page = f"<p>before</p><svg><text>12\n</text></svg><p>between</p><svg></svg><tbody>{bars}</tbody>"
    assert searched(page) == f"<p>before</p><p>between</p><tbody>{bars}</tbody>"


def test_no_text_of_a_chart_is_in_the_index_of_a_site(built: Built) -> None:
    said = "over time, 2 systems. The table on this page has the same values."
    assert f"<desc>Composite score {said}</desc>" in built.read("trends/index.html")
    index = json.loads(built.read("search/search_index.json"))["docs"]
    assert [each for each in index if each["location"].startswith("trends/")]
    assert not [each for each in index if said in each["text"]]
