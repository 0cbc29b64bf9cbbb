"""Trends as a page, and as chart files of ``memeval archive trajectory``, which need nothing else."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from markupsafe import Markup, escape

from memeval.leaderboard.trend_rows import trends_csv
from memeval.leaderboard.trends import COMPOSITE, run_measures, trend_of
from memeval.records.errors import BadInput
from memeval.site.charts.line_charts import HEIGHT, LEFT, WIDTH, swatch_parts
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Page, assets_root
from memeval.site.model.text import visible
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import environment, render
from memeval.site.trends.product_trends import trends_of
from memeval.site.trends.version_charts import ChartLine, VersionChart, spark, version_chart, written
from memeval.storage import unwritable

DOWNLOAD = "downloads/trends.csv"


class TrendsPage(Publisher):
    name = "trends"
    order = 55

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        trends = trends_of(site)
        every = [
            (trend_of(changes.series, measure), changes if measure.name == COMPOSITE else None)
            for changes in site.version_changes
            for measure in run_measures(changes.series.runs)
        ]
        yield Asset(DOWNLOAD, trends_csv(every).encode("utf-8", "replace"))
        yield Page(
            url="trends/",
            title="Trends",
            description="How the score and speed of each product changed from released version to version.",
            body=render(
                "pages/trends.html",
                "trends/",
                site=site,
                trends=trends,
                download=DOWNLOAD,
                spark=spark,
                written=written,
            ),
            wide=True,
        )


STYLE = "site/assets/trends.css"
_ROW = 19
_ABOVE = 28


def write_chart(lines: Sequence[ChartLine], path: Path) -> None:
    """Write a chart: ``.svg`` for one system, ``.html`` for one chart and table for each system.

    Raises:
        BadInput: there is nothing to draw, an ``.svg`` file would need several charts, or the file cannot be written.
    """
    by_system: dict[str, list[ChartLine]] = {}
    for line in lines:
        by_system.setdefault(line.trend.series.system, []).append(line)
    charts = [
        (chart, found)
        for system, found in by_system.items()
        if (chart := version_chart(f"{system}: {found[0].trend.measure.title}", found)) is not None
    ]
    if not charts:
        raise BadInput("there is no value to draw.", where=path, remedy="Choose another measure with --measure.")
    if path.suffix == ".svg" and len(charts) > 1:
        raise BadInput(
            f"{len(charts)} systems need a chart each. An .svg file has one chart.",
            where=path,
            remedy="Name an .html file, or one system.",
        )
    style = (assets_root() / STYLE).read_text(encoding="utf-8")
    if path.suffix == ".svg":
        text = _svg(charts[0][0], style)
    else:
        template = environment().get_template("files/trends.html")
        text = template.render(charts=charts, style=Markup(style), written=written)  # noqa: S704 - our own file
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(path, error) from None


def _svg(chart: VersionChart, style: str) -> str:
    below = list(_below(chart))
    height = _ABOVE + HEIGHT + _ROW * (len(below) + 1)
    head = (
        f'<svg class="mv-trend" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}"><style>{style}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="{LEFT}" y="18" font-weight="600">{escape(visible(chart.title))}</text>'
    )
    drawing = str(chart.drawing).replace("<svg ", f'<svg y="{_ABOVE}" width="{WIDTH}" height="{HEIGHT}" ', 1)
    rows = [
        f'<g transform="translate({LEFT} {_ABOVE + HEIGHT + _ROW * (number + 1)})">{row}</g>'
        for number, row in enumerate(below)
    ]
    return "".join([head, drawing, *rows, "</svg>\n"])


def _below(chart: VersionChart) -> Iterator[str]:
    for number, name in enumerate(chart.names):
        yield f'<g transform="translate(0 -11)">{swatch_parts(number)}</g><text x="42">{escape(visible(name))}</text>'
    for each in chart.breaks:
        words = f"Break {each.number}, version {each.version}: {' '.join(each.reasons)}"
        yield f"<text>{escape(visible(words))}</text>"
