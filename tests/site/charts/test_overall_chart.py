"""The chart of the front page: names that do not cover each other, on a wide window and on a phone."""

from dataclasses import replace
from itertools import combinations

import pytest

from memeval.site.charts.overall_chart import SIZES, overall_charts
from memeval.site.charts.scatter import _CHARACTER, _LINE
from memeval.site.model.content import read_site
from memeval.site.model.products import ProductKind
from memeval.site.table.overview import Overview, OverviewRow, overviews
from tests.site.conftest import Built
from tests.site.factory import HOSTILE
from tests.site.table.test_overview import indexed, overview_of


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


def test_the_front_is_said_in_words(some: Overview) -> None:
    wide, phone = overall_charts(crowd(some))
    assert "Memory 0 1.2, 40.0, 850" in wide.description
    assert (wide.title, wide.description) == (phone.title, phone.description)


@pytest.mark.parametrize("tokens", [(), (500.0,), (500.0, None), (None, None)])
def test_fewer_than_two_known_points_are_no_chart(some: Overview, tokens: tuple[float | None, ...]) -> None:
    rows = [row(some, f"S{place}", 0.5, each, ProductKind.PRODUCT) for place, each in enumerate(tokens)]
    assert overall_charts(overview_of(some, *rows)) == []
