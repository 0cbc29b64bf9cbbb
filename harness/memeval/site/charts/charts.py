"""Charts: Altair specifications, drawn as SVG at build time and made interactive on demand.

Their colours are names of the style sheet, so that a chart follows light and dark mode. A chart takes 10 to 34 ms of
processor time. Two kinds of drawing are written as SVG of our own, because they would cost more: the bars in the
cells of tables (12,000 on a board of 340 runs), and the lines of trends (see ``line_charts``).
"""

import importlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

import vl_convert
from markupsafe import Markup

from memeval.archive.run_cache import kept_file
from memeval.records.base import canonical_json, digest_of
from memeval.site.model.files import Asset, encode
from memeval.site.model.text import visible
from memeval.storage import cache_home

INK, FAINT, ACCENT, CONTROL, PAPER = (f"var(--mv-{name})" for name in ("ink", "line", "accent", "control", "paper"))

SHADES = tuple(f"var(--mv-shade-{number})" for number in range(1, 6))
"""Shades of the accent colour, the darkest first."""

SHARE = {"format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1]}

Spec = dict[str, Any]


@dataclass(frozen=True)
class Chart:
    name: str
    """Its name in addresses."""
    title: str
    description: str
    """Text for screen readers."""
    spec: Spec

    @property
    def path(self) -> str:
        return f"charts/{self.name}.json"

    @property
    def drawing(self) -> Markup:
        return draw(self)

    def asset(self) -> Asset:
        return Asset(self.path, encode(self.spec))


def _kept(name: str, make: Callable[[], str]) -> str:
    """Return what ``make`` returns, cached: it depends on a name and on vl-convert alone."""
    path = cache_home() / f"vl-convert-{version('vl-convert-python')}" / name
    return kept_file(path, name, lambda: make().encode()).decode()


@cache
def library() -> bytes:
    """Return Vega, Vega-Lite, Vega-Embed and their interpreter as one browser module, cached."""
    return _kept("library", lambda: vl_convert.javascript_bundle()).encode()  # type: ignore[call-arg]  # has a default


def draw(chart: Chart) -> Markup:
    """Return a chart as SVG for a page, cached by specification."""
    name = digest_of(chart.spec).removeprefix("sha256:")
    head, _, body = _kept(name, lambda: vl_convert.vega_to_svg(_vega(chart.spec))).partition(">")
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    # Remove the roles of single parts: for a screen reader the chart is one picture, with a table on the page.
    body = re.sub(r' (role|aria-[a-z]+)="[^"]*"', "", body)
    width = re.search(r'viewBox="0 0 ([0-9.]+)', head)
    limit = f' style="max-width:{width[1]}px"' if width else ""
    title = Markup("<title>{}</title><desc>{}</desc>").format(visible(chart.title), visible(chart.description))
    return Markup(head + ' role="img"' + limit + ">") + title + Markup(body)  # noqa: S704 - Vega escapes text


def _vega(spec: Spec) -> Spec:
    """Return a specification for Vega. The same chart of other data is compiled only once."""
    compiled = _compiled(canonical_json(spec | {"data": {"values": []}}))
    source, *derived = compiled["data"]
    return compiled | {"data": [source | {"values": spec["data"]["values"]}, *derived]}


@cache
def _compiled(spec: str) -> Spec:
    compiled: Spec = vl_convert.vegalite_to_vega(json.loads(spec))
    return compiled


def altair() -> Any:
    """Return Altair, imported at first use because the import takes most of a second."""
    return importlib.import_module("altair")


def finish(drawing: Any, rows: Sequence[Spec]) -> Spec:
    """Return a drawing of rows of data as a specification in the board's colours."""
    axis = {
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "gridColor": FAINT,
        "domainColor": FAINT,
        "tickColor": FAINT,
        "labelFontSize": 12,
        "titleFontSize": 12,
    }
    spec: Spec = drawing.configure(background="transparent", font="system-ui, sans-serif").to_dict()
    # Browsers measure text wider than the renderer does: add space.
    spec["padding"] = {"left": 32, "right": 48, "top": 6, "bottom": 6}
    spec["config"] |= {"axis": axis, "view": {"stroke": None}, "aria": False, "text": {"fontSize": 12, "fill": INK}}
    return spec | {"data": {"values": list(rows)}}


def kind_colour() -> Any:
    """Return the colours of systems, controls and published values, by the field ``kind``."""
    kinds = {"system": ACCENT, "control": CONTROL, "published": SHADES[-1]}
    return altair().Color("kind:N", legend=None).scale(domain=list(kinds), range=list(kinds.values()))
