"""Trade-offs, the front page's chart among them: the front, the axes, and names that do not cover each other."""

import re
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.records.run import SystemKind
from memeval.site.charts.scatter import _CHARACTER, _LINE, cost_axis, score_axis
from memeval.site.charts.trade_offs import SIZES, DrawnTradeOff, draw_trade_off, overall_charts, trade_offs
from memeval.site.model.content import read_site
from memeval.site.model.products import ProductKind
from memeval.site.table.overview import Overview, OverviewRow, overviews
from memeval.site.table.tables import view
from tests.site.conftest import Built
from tests.site.factory import HOSTILE, Made
from tests.site.reading import site_of
from tests.site.table.test_overview import indexed, overview_of


def traded(results: Path, *made: Made, cost: str = "tokens_per_question") -> DrawnTradeOff:
    """Draw the trade-off of one cost on a table of some runs."""
    site = site_of(results, *made)
    (table,) = site.board.tables
    shown = view(site, table)
    return draw_trade_off(shown, next(each for each in trade_offs(shown) if each.name == cost))


def system(slug: str, skill: float, tokens: int | None, **more: object) -> Made:
    return Made(slug, slug.title(), skill, tokens=tokens, **more)  # type: ignore[arg-type]


def test_the_front_has_what_no_ranked_system_beats_in_both(tmp_path: Path) -> None:
    found = traded(
        tmp_path,
        system("cheap", 0.4, 100),
        system("middle", 0.05, 500),
        system("dear", 0.95, 1000),
        system("failing", 1.0, 10, errors=20),
        system("unknown", 0.9, None),
        Made("bm25", "BM25", 0.6, SystemKind.CONTROL, tokens=1),
    ).shown
    assert [(spot.name, spot.number) for spot in found.front] == [("Cheap", 1), ("Dear", 2)]
    assert {spot.name for spot in found.spots if spot.number is None} == {"Middle", "Failing"}
    assert found.unknown == ("Unknown",)
    assert [level.name for level in found.levels] == ["BM25"]
    assert found.best is not None and found.best.name == "Dear"


def test_the_cheapest_within_two_points_is_named(tmp_path: Path) -> None:
    def right(but: int) -> dict[str, object]:
        return {"grades": lambda number, grade: grade.model_copy(update={"verdict": number != but}), "responses": None}

    found = traded(
        tmp_path, system("best", 0.5, 900, **right(-1)), system("near", 0.5, 300, **right(3)), system("far", 0.0, 100)
    ).shown
    assert found.nearly_best is not None
    assert (found.nearly_best.name, found.nearly_best.written) == ("Near", "300 tokens")


def test_equal_costs_are_not_drawn(tmp_path: Path) -> None:
    drawn = traded(tmp_path, system("one", 0.9, 400), system("two", 0.2, 400))
    assert drawn.shown.same_cost == "400 tokens" and drawn.chart is None


def test_the_drawing_is_one_picture_with_the_numbers_as_text(tmp_path: Path) -> None:
    runs = [system("one", 0.5, 10), system("two", 0.9, 5000), Made("hostile", HOSTILE, 0.7, tokens=400)]
    chart = traded(tmp_path, *runs).chart
    assert chart is not None
    drawing = ElementTree.fromstring(str(chart.drawing))
    assert drawing.get("role") == "img"
    described = next(drawing.iter("{http://www.w3.org/2000/svg}desc")).text
    assert described is not None and "3 systems" in described and "10 tokens" in described
    words = [each.text for each in drawing.iter() if each.tag.endswith("text")]
    assert {"1 One", "1", "Tokens / question →", "100", "500"} <= set(words), words
    assert not [each for each in drawing.iter() if each.tag.endswith("script")]
    assert len([row for row in chart.spec["data"]["values"] if row["kind"] != "level"]) == 3


def test_names_of_the_front_do_not_cover_each_other(tmp_path: Path) -> None:
    close = traded(tmp_path, *(system(f"name-{n}", 0.3 + 0.1 * n, 100 + n) for n in range(5))).chart
    assert close is not None
    rows = [row for row in close.spec["data"]["values"] if row.get("label")]
    places = sorted(row["label_y"] for row in rows)
    assert rows and all(two - one > 0 for one, two in pairwise(places))


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=20), st.booleans())
def test_every_cost_is_on_its_axis(values: list[float], has_zero: bool) -> None:
    costs = [*values, 0.0] if has_zero else values
    axis = cost_axis(costs)
    assert axis.is_log == (max(values) > 20 * min(values))
    shares = [axis.share(cost) for cost in sorted(costs)]
    assert all(-1e-9 <= share <= 1 + 1e-9 for share in shares)
    assert shares == sorted(shares)
    assert all(axis.start <= tick * (1 + 1e-9) and tick <= axis.end * (1 + 1e-9) for tick in axis.ticks)


def test_costs_that_hardly_differ_stand_close_together() -> None:
    axis = cost_axis([176.0, 182.0])
    assert axis.share(182.0) - axis.share(176.0) < 0.2


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20))
def test_every_score_is_on_its_axis_and_small_differences_stay_small(values: list[float]) -> None:
    axis = score_axis(values)
    assert all(axis.holds(value) for value in values if value >= 0)
    assert axis.end - axis.start >= 0.02


def test_each_table_with_costs_is_listed_once_with_a_way_to_it(built: Built) -> None:
    page = built.read("trade-offs/index.html")
    listed = re.findall(r'<h2 id="track-([^"]*)"><a href="[^"]*track=([^"]*)"', page)
    assert listed and all(one == other for one, other in listed) and len(set(listed)) == len(listed)


@pytest.fixture(scope="module")
def some(built: Built) -> Overview:
    return overviews(read_site(built.results, find=lambda _name: built.benchmark))[0]


def row(some: Overview, name: str, index: float, tokens: float | None, kind: ProductKind) -> OverviewRow:
    return replace(indexed("Ada", index, (1, 9), "worse", some), slug=name, short=name, tokens=tokens, kind=kind)


def crowd(some: Overview) -> Overview:
    """Return an overview of near neighbours, one of them with a name of 80 letters."""
    kinds = [ProductKind.PRODUCT, ProductKind.LIBRARY, ProductKind.REFERENCE]
    rows = [
        row(some, f"Memory {place} 1.2", 0.4 + place / 100, 850 + 20 * place, kinds[place % 3]) for place in range(8)
    ]
    rows += [row(some, "W" * 80, 0.45, 9000, kinds[0]), row(some, HOSTILE, 0.5, 20_000, kinds[1])]
    return overview_of(some, *rows)


@pytest.mark.parametrize(("place", "size"), list(enumerate(SIZES)))
def test_products_are_named_and_no_name_covers_another_or_leaves_the_chart(
    some: Overview, place: int, size: tuple[str, int, int]
) -> None:
    shown, (_name, width, height) = crowd(some), size
    chart = overall_charts(shown)[place]
    low, high = next(
        layer["encoding"]["y"]["scale"]["domain"] for layer in chart.spec["layer"] if "y" in layer["encoding"]
    )
    boxes, labelled = [], set()
    for each in chart.spec["data"]["values"]:
        if "label" in each:
            long = _CHARACTER * len(each["label"])
            left = each["label_x"] * width - (long if each["align"] == "right" else 0)
            boxes.append((left, left + long, height * (high - each["label_y"]) / (high - low)))
            labelled.add(each.get("system"))
    assert {row.short for row in shown.rows if row.kind is ProductKind.PRODUCT} <= labelled
    assert all(left >= -1 and right <= width + 1 for left, right, _y in boxes)
    for (left, right, y), (other_left, other_right, other_y) in combinations(boxes, 2):
        assert abs(y - other_y) >= _LINE - 1 or right <= other_left + 1 or other_right <= left + 1
    assert "<script>" not in str(chart.drawing)


@pytest.mark.parametrize("interval", [(None, None), (-0.3, -0.1)])
def test_systems_below_every_score_leave_an_empty_chart(
    some: Overview, interval: tuple[float | None, float | None]
) -> None:
    rows = [row(some, f"Memory {place}", -0.2 - place / 10, 850 + place, ProductKind.PRODUCT) for place in range(2)]
    ends = dict(zip(("low", "high"), interval, strict=True))
    rows = [replace(each, index=each.index.model_copy(update=ends)) for each in rows if each.index is not None]
    for chart in overall_charts(overview_of(some, *rows)):
        assert not [each for each in chart.spec["data"]["values"] if "system" in each]


def test_systems_on_one_place_of_the_front_share_a_label(some: Overview) -> None:
    names = [("Memory A", 0.4, 850), ("Memory B", 0.401, 851), ("Memory C", 0.6, 9000)]
    rows = [row(some, name, score, tokens, ProductKind.PRODUCT) for name, score, tokens in names]
    wide, phone = overall_charts(overview_of(some, *rows))
    for chart in (wide, phone):
        values = [each for each in chart.spec["data"]["values"] if "system" in each]
        assert len(values) == 3, "each keeps its own point"
        assert sorted(each["label"] for each in values if "label" in each) == ["Memory A, Memory B", "Memory C"]


def test_the_front_is_said_in_words(some: Overview) -> None:
    wide, phone = overall_charts(crowd(some))
    assert "Memory 0 1.2, 40.0, 850" in wide.description
    assert (wide.title, wide.description) == (phone.title, phone.description)


@pytest.mark.parametrize("tokens", [(), (500.0,), (500.0, None), (None, None)])
def test_fewer_than_two_known_points_are_no_chart(some: Overview, tokens: tuple[float | None, ...]) -> None:
    rows = [row(some, f"S{place}", 0.5, each, ProductKind.PRODUCT) for place, each in enumerate(tokens)]
    assert overall_charts(overview_of(some, *rows)) == []
