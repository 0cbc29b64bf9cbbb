"""Trends as a page, and as chart files of ``memeval archive trajectory``, which need nothing else."""

import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from markupsafe import Markup, escape

from memeval.leaderboard.series import RunSeries
from memeval.leaderboard.trends import SeriesTrend, Trend
from memeval.records.errors import BadInput
from memeval.site.charts.line_charts import HEIGHT, LEFT, WIDTH, swatch_parts
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Page, assets_root
from memeval.site.model.text import visible
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import environment, render
from memeval.site.trends.trend_charts import TrendView, trend_view
from memeval.site.trends.trend_files import as_csv
from memeval.site.trends.trend_groups import trends_of
from memeval.statistics.steps import LEAST_POINTS
from memeval.storage import unwritable

DOWNLOAD = "downloads/trends.csv"


class TrendsPage(Publisher):
    name = "trends"
    order = 55

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        trends = trends_of(site)
        every = [each for group in trends.groups for each in group.trends]
        yield Asset(DOWNLOAD, as_csv(every).encode("utf-8", "replace"))
        yield Page(
            url="trends/",
            title="Trends",
            description="How scores, tokens, cost and latency of each system change from run to run.",
            body=render(
                "pages/trends.html", "trends/", site=site, trends=trends, least=LEAST_POINTS, download=DOWNLOAD
            ),
        )


STYLE = "site/assets/trends.css"
_ROW = 19
_ABOVE = 28
_LINE_LENGTH = 98


def write_chart(trends: Sequence[SeriesTrend], path: Path) -> None:
    """Write a chart: ``.svg`` for one chart, ``.html`` for one chart for each benchmark and settings.

    Raises:
        BadInput: there is nothing to draw, an ``.svg`` file would need several charts, or the file cannot be written.
    """
    groups: dict[tuple[str, ...], list[SeriesTrend]] = defaultdict(list)
    for each in trends:
        groups[each.series.group].append(each)
    views = [
        view
        for found in groups.values()
        if (view := trend_view(_title(found[0].series, found[0].trend), found, _names(found))) is not None
    ]
    if not views:
        raise BadInput("there is no value to draw.", where=path, remedy="Choose another measure with --measure.")
    if path.suffix == ".svg" and len(views) > 1:
        raise BadInput(
            f"the runs need {len(views)} charts, since their settings differ. An .svg file has one chart.",
            where=path,
            remedy="Name an .html file, or choose runs with --benchmark or --track.",
        )
    style = (assets_root() / STYLE).read_text(encoding="utf-8")
    if path.suffix == ".svg":
        written = _svg(views[0], style)
    else:
        template = environment().get_template("files/trends.html")
        written = template.render(views=views, style=Markup(style), least=LEAST_POINTS)  # noqa: S704 - our own file
    try:
        path.write_text(written, encoding="utf-8")
    except OSError as error:
        raise unwritable(path, error) from None


def _names(trends: Sequence[SeriesTrend]) -> list[str]:
    slugs = [each.series.system for each in trends]
    return [
        f"{slug}, track {each.series.latest.track_id}" if slugs.count(slug) > 1 else slug
        for slug, each in zip(slugs, trends, strict=True)
    ]


def _title(series: RunSeries, trend: Trend) -> str:
    track = series.latest.track
    return f"{trend.measure.title}, {series.benchmark}, {track.protocol}, reader {track.reader}, judge {track.judge}"


def _svg(view: TrendView, style: str) -> str:
    below = list(_below(view))
    height = _ABOVE + HEIGHT + _ROW * (len(below) + 1)
    head = (
        f'<svg class="mv-trend" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}"><style>{style}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="{LEFT}" y="18" font-weight="600">{escape(visible(view.title))}</text>'
    )
    drawing = str(view.drawing).replace("<svg ", f'<svg y="{_ABOVE}" width="{WIDTH}" height="{HEIGHT}" ', 1)
    rows = [
        f'<g transform="translate({LEFT} {_ABOVE + HEIGHT + _ROW * (number + 1)})">{row}</g>'
        for number, row in enumerate(below)
    ]
    return "".join([head, drawing, *rows, "</svg>\n"])


def _below(view: TrendView) -> Iterator[str]:
    for number, name in enumerate(view.names):
        yield f'<g transform="translate(0 -11)">{swatch_parts(number)}</g><text x="42">{escape(visible(name))}</text>'
    for each in view.breaks:
        systems = ", ".join(view.names[line] for line in each.lines)
        words = f"Break {each.number}, {each.at[:10]}: {' '.join(each.reasons)} ({systems})"
        for line in textwrap.wrap(visible(words), _LINE_LENGTH):
            yield f"<text>{escape(line)}</text>"
