"""Charts: Altair specifications, drawn as SVG at build time and made interactive on demand.

Their colours are names of the style sheet, so that a chart follows light and dark mode. A chart takes 10 to 34 ms of
processor time. Two kinds of drawing are written as SVG of our own, because they would cost more: the bars in the
cells of tables (12,000 on a board of 340 runs), and the lines of trends (see ``line_charts``).
"""

import hashlib
import importlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import platformdirs
import vl_convert
from markupsafe import Markup

from memeval.records.base import canonical_json
from memeval.site.model.files import Asset, encode
from memeval.site.model.text import visible
from memeval.storage import write_whole

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


def cache_folder() -> Path:
    """Return the cache folder for drawn charts and the chart library."""
    folder = platformdirs.user_cache_path("memeval") / f"vl-convert-{version('vl-convert-python')}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@cache
def library() -> bytes:
    """Return Vega, Vega-Lite, Vega-Embed and their interpreter as one browser module, cached."""
    kept = cache_folder() / "vega.js"
    if not kept.is_file():
        bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # the stub lacks the default
        write_whole(kept, bundle.encode(), synced=False)
    return kept.read_bytes()


def draw(chart: Chart) -> Markup:
    """Return a chart as SVG for a page, cached by specification."""
    key = hashlib.sha256(canonical_json(chart.spec).encode()).hexdigest()
    kept = cache_folder() / f"{key}.svg"
    if not kept.is_file():
        write_whole(kept, vl_convert.vega_to_svg(_vega(chart.spec)).encode(), synced=False)
    head, _, body = kept.read_text(encoding="utf-8").partition(">")
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
