"""Templates: all values are escaped, undefined names are errors, and outside text is never a template."""

from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, TemplateNotFound
from markupsafe import Markup

from memeval.records.base import Digest, digest_bytes, digest_of
from memeval.records.errors import BadInput
from memeval.records.scores import Interval
from memeval.site.charts.line_charts import swatch
from memeval.site.model import labels, text, urls
from memeval.site.model.files import assets_root
from memeval.site.table import standings, tiers
from memeval.systems.controls import all_controls

MANY_ROWS = 75
"""Most rows of a table that are all shown at first."""

FIRST_ROWS = 30
"""Rows of a longer table that are shown at first; also in ``table.js``."""


class _Templates(FileSystemLoader):
    """Says which file is missing, also one that another template includes."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        try:
            return super().get_source(environment, template)
        except TemplateNotFound:
            where = Path(self.searchpath[0]) / template
            raise BadInput("this template is missing.", where=where, remedy="Install memeval again.") from None


@cache
def environment() -> Environment:
    made = Environment(
        loader=_Templates(assets_root() / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=text.visible,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "percent": text.percent,
        "bounded": text.bounded,
        "signed": text.signed_percent,
        "count": text.count,
        "counted": text.counted,
        "probability": text.probability,
        "number": text.number,
        "fraction": text.fraction,
        "seconds": text.seconds,
        "dollars": text.dollars,
        "day": text.day,
        "minute": text.minute,
        "short": text.short,
        "breakable": text.breakable,
        "capitalize_first": text.capitalize_first,
        "outside": urls.outside,
        "label": labels.label,
        "licence_text": labels.licence_text,
        "data_licence": labels.data_licence,
        "reader_label": labels.reader_label,
        "slice_label": labels.slice_label,
        "slice_value": lambda value, name: labels.slice_value(name, value),
        "rank": standings.rank_text,
        "detectable": tiers.detectable_text,
    }
    made.globals |= {
        "system_url": urls.system_url,
        "run_url": urls.run_url,
        "items_url": urls.items_url,
        "benchmark_url": urls.benchmark_url,
        "samples_url": urls.samples_url,
        "track_url": urls.track_url,
        "compare_url": urls.compare_url,
        "trade_offs_url": urls.trade_offs_url,
        "interval_bar": interval_bar,
        "range_text": standings.range_text,
        "segment": urls.segment,
        "controls": all_controls(),
        "many_rows": MANY_ROWS,
        "first_rows": FIRST_ROWS,
        "swatch": swatch,
    }
    return made


@cache
def templates_digest() -> Digest:
    """Return the digest of all templates, and of the version of what renders them."""
    root = assets_root() / "templates"
    files = {file.relative_to(root).as_posix(): file for file in root.rglob("*") if file.is_file()}
    return digest_of([version("jinja2"), {name: digest_bytes(file.read_bytes()) for name, file in files.items()}])


def render(template: str, url: str, **values: Any) -> Markup:
    """Render a page's body, from the path of a template.

    ``url``: address of the page; ``link`` makes links relative to it. With ``site``, a link to a
    system leads to the page of its product.
    """
    return _rendered(environment().get_template(template), url, values)


def render_text(template: str, url: str, **values: Any) -> Markup:
    """Render a page's body from a template's own text, for pages of other packages."""
    return _rendered(environment().from_string(template), url, values)


def _rendered(template: Template, url: str, values: dict[str, Any]) -> Markup:
    site = values.get("site")

    def link(target: str) -> str:
        return urls.relative(url, target if site is None else site.products.address(target))

    return Markup(template.render(link=link, **values))  # noqa: S704 - autoescaped


def interval_bar(value: float | None, interval: Interval | None, mark: float | None = None) -> Markup:
    """Draw a value and its interval as a bar for a table cell; the cell also shows them as text.

    ``mark``: the score of a baseline, as an upright line.
    """
    if value is None:
        return Markup("")
    parts = ['<rect class="mv-bar-track" width="100" height="6" rx="3"/>']
    parts.append(f'<rect class="mv-bar-fill" width="{100 * value:.2f}" height="6" rx="3"/>')
    if interval is not None:
        low, high = 100 * interval.low, 100 * interval.high
        parts.append(
            f'<rect class="mv-bar-interval" x="{low:.2f}" y="2" width="{max(high - low, 0.6):.2f}" height="2"/>'
        )
    if mark is not None:
        parts.append(f'<rect class="mv-bar-mark" x="{100 * mark - 0.5:.2f}" width="1" height="6"/>')
    body = "".join(parts)
    return Markup(f'<svg class="mv-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">{body}</svg>')  # noqa: S704 - numbers only
