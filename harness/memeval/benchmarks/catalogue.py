"""The catalogue: facts about each benchmark, as a data file beside its code, and checks of the charts it declares."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources

from memeval.keys import ItemKey
from memeval.records.benchmark import BenchmarkInfo, ChartInfo, ChartKind
from memeval.records.errors import BadInput
from memeval.toml import parse_toml


@cache
def load(package: str) -> BenchmarkInfo:
    """Return the catalogue entry of a benchmark; read once.

    ``package``: the package with ``catalogue.toml``. Raises ``BadInput``: the file is not a valid catalogue.
    """
    path = resources.files(package) / "catalogue.toml"
    return parse_toml(path.read_bytes(), path).record(BenchmarkInfo)


_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def check_charts(info: BenchmarkInfo) -> None:
    """Check the charts of a catalogue, as far as that needs no data. Raises ``BadInput``: a chart cannot be drawn."""
    names = [chart.name for chart in info.charts]
    for chart in info.charts:
        if names.count(chart.name) > 1:
            raise BadInput(f"two charts have the name '{chart.name}'.", remedy="Rename one.")
        for problem, remedy in _faults(info, chart):
            raise BadInput(f"the chart '{chart.name}' {problem}", remedy=remedy)


def check_tab(info: BenchmarkInfo) -> None:
    """Check the tab of a catalogue.

    Raises ``BadInput``: a column counts a category that its protocol does not have, or measures an unknown metric.
    """
    if info.tab is None:
        return
    for column in info.tab.columns:
        _check_categories(info, f"the column '{column.title}'", column.protocol, column.categories)
    measures = info.tab.measures
    if measures is None:
        return
    _check_categories(info, f"the table '{measures.title}'", measures.protocol, (measures.category,))
    names = [each.name for each in info.metrics]
    if unknown := [each.metric for each in measures.columns if each.metric not in names]:
        raise BadInput(
            f"the table '{measures.title}' of the tab names unknown metrics: {', '.join(unknown)}.",
            remedy=f"The benchmark has: {', '.join(names)}.",
        )


def _check_categories(info: BenchmarkInfo, part: str, protocol: str, categories: Sequence[str]) -> None:
    protocols = {each.name: each.categories or info.categories for each in info.protocols}
    if protocol not in protocols:
        raise BadInput(
            f"{part} of the tab names the unknown protocol '{protocol}'.",
            remedy=f"Choose one of: {', '.join(protocols)}.",
        )
    names = [each.name for each in protocols[protocol]]
    if unknown := [name for name in categories if name not in names]:
        raise BadInput(
            f"{part} of the tab names unknown categories: {', '.join(unknown)}.",
            remedy=f"The protocol '{protocol}' has: {', '.join(names)}.",
        )


def check_slices(info: BenchmarkInfo, protocol: str, keys: Sequence[ItemKey]) -> None:
    """Check that items have the slices that charts show. Raises ``BadInput``: a value of a slice has no item."""
    for chart in info.charts:
        shown = [key for key in keys if chart.category in (None, key.category)]
        if chart.slice is None or chart.protocol not in (None, protocol) or not shown:
            continue
        found = {key.slices[chart.slice] for key in shown if chart.slice in key.slices}
        if missing := [value for value in chart.values if value not in found]:
            raise BadInput(
                f"the chart '{chart.name}' of {info.id} shows the slice '{chart.slice}' at {', '.join(missing)}, "
                "which no item has.",
                remedy=f"The items have: {', '.join(sorted(found)) or 'no such slice'}.",
            )


def _faults(info: BenchmarkInfo, chart: ChartInfo) -> Iterator[tuple[str, str]]:
    protocols = {each.name: each for each in info.protocols}
    metrics = [each.name for each in info.metrics]
    if not _NAME.fullmatch(chart.name):
        yield "needs another name.", "Use words of a-z and 0-9, joined by dashes."
    for field in ("title", "meaning"):
        if not getattr(chart, field).strip():
            yield f"has no {field}.", f"Write its {field} for people who see only the page."
    if chart.protocol is not None and chart.protocol not in protocols:
        yield f"names the unknown protocol '{chart.protocol}'.", f"Choose one of: {', '.join(protocols)}."
    if chart.metric is not None and chart.metric not in metrics and chart.kind is ChartKind.BARS:
        yield f"names the unknown metric '{chart.metric}'.", f"Choose one of: {', '.join(metrics) or 'none declared'}."
    if chart.category is not None and info.category(chart.category) is None:
        names = ", ".join(dict.fromkeys(each.name for each in info.every_category))
        yield f"names the unknown category '{chart.category}'.", f"Choose one of: {names}."
    if chart.kind is ChartKind.LINE:
        if not chart.slice or len(chart.values) < 2:
            yield "is a line without 'slice' and two 'values'.", "Name the slice and its values, in order."
        if chart.metric is not None:
            yield "is a line with a metric.", "Remove 'metric': a line shows the share of correct items."
        if wrong := [each.name for each in chart.published if each.at not in chart.values]:
            yield f"has published values outside its axis: {', '.join(wrong)}.", "Set 'at' to one of 'values'."
    elif chart.slice or chart.values or chart.category or any(each.at for each in chart.published):
        yield "has bars over a slice.", "Use kind = \"line\", or remove 'slice', 'values', 'category' and 'at'."
    if chart.published and chart.protocol is None and len(protocols) > 1:
        yield "has published values and no protocol.", f"Choose one of: {', '.join(protocols)}."
    if chart.published and not (chart.origin or "").strip():
        yield "has published values without an origin.", "Say in 'origin' where they are from."
