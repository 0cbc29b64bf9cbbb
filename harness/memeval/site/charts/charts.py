"""Charts: Altair specifications, drawn as SVG at build time and made interactive on demand.

The SVG contains placeholder colours that map to the style sheet, so that a chart follows light and dark mode.
"""

from __future__ import annotations

import hashlib
import importlib
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
from memeval.site.model.text import visible

INK, FAINT, ACCENT, CONTROL = "#010203", "#040506", "#070809", "#0a0b0c"
"""Placeholders for colours of the style sheet."""

SHADES = tuple(f"#04a10{number}" for number in range(1, 6))
"""Placeholders for shades of the accent colour, the darkest first."""

_VARIABLES = {INK: "--mv-ink", FAINT: "--mv-line", ACCENT: "--mv-accent", CONTROL: "--mv-control"}
_VARIABLES |= {shade: f"--mv-shade-{number}" for number, shade in enumerate(SHADES, start=1)}

Spec = dict[str, Any]


@dataclass(frozen=True)
class Chart:
    """A chart with its title and description."""

    name: str
    """Its name in addresses."""
    title: str
    description: str
    """Text for screen readers."""
    spec: Spec


@dataclass(frozen=True)
class Point:
    """A value with its interval."""

    label: str
    value: float
    low: float
    high: float
    control: bool


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
        _keep(kept, bundle.encode())
    return kept.read_bytes()


def draw(chart: Chart) -> Markup:
    """Return a chart as SVG for a page, cached by specification."""
    key = hashlib.sha256(canonical_json(chart.spec).encode()).hexdigest()
    kept = cache_folder() / f"{key}.svg"
    if not kept.is_file():
        _keep(kept, vl_convert.vegalite_to_svg(chart.spec).encode())
    drawing = kept.read_text()
    for colour, variable in _VARIABLES.items():
        drawing = drawing.replace(f'"{colour}"', f'"var({variable})"')
    head, _, body = drawing.partition(">")
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    # Remove the roles of single parts: for a screen reader the chart is one picture, with a table on the page.
    body = re.sub(r' (role|aria-[a-z]+)="[^"]*"', "", body)
    width = re.search(r'viewBox="0 0 ([0-9.]+)', head)
    limit = f' style="max-width:{width[1]}px"' if width else ""
    title = Markup("<title>{}</title><desc>{}</desc>").format(visible(chart.title), visible(chart.description))
    return Markup(head + ' role="img"' + limit + ">") + title + Markup(body)  # noqa: S704 - Vega escapes text


def _keep(path: Path, data: bytes) -> None:
    part = path.with_suffix(f".{hashlib.sha256(data).hexdigest()[:8]}.part")
    part.write_bytes(data)
    part.replace(path)


# -- what charts there are ---------------------------------------------------------------------------------------

_SHARE = {"format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1]}


def intervals(name: str, title: str, points: Sequence[Point]) -> Chart:
    """Chart values with their intervals, one line each."""
    return Chart(name, title, "Scores with 95 % intervals, one line each.", _filled(_intervals(), points))


@cache
def _intervals() -> Spec:
    alt = altair()
    base = alt.Chart(_data([])).encode(y=alt.Y("label:N", sort=None, title=None).axis(labelLimit=220))
    rule = base.mark_rule(strokeWidth=3, opacity=0.45).encode(
        x=_share(alt.X, "low:Q", None), x2="high:Q", color=_kind()
    )
    dot = base.mark_point(filled=True, size=70, opacity=1).encode(x="value:Q", color=_kind(), tooltip=_tooltip())
    return finish((rule + dot).properties(width=460, height={"step": 28}))


def _filled(spec: Spec, points: Sequence[Point]) -> Spec:
    """Return a specification with data. Altair validates each shape of chart only once, for all runs."""
    return spec | {"data": {"values": _values(points)}}


def altair() -> Any:
    """Return Altair, imported at first use because the import takes most of a second."""
    return importlib.import_module("altair")


def _data(points: Sequence[Point]) -> Any:
    return altair().Data(values=_values(points))


def _values(points: Sequence[Point]) -> list[Spec]:
    return [
        {
            "label": visible(point.label),
            "value": point.value,
            "low": point.low,
            "high": point.high,
            "kind": "control" if point.control else "system",
        }
        for point in points
    ]


def _share(channel: Any, field: str, title: str | None) -> Any:
    return channel(field, title=title).scale(domain=[0, 1]).axis(**_SHARE)


def _kind() -> Any:
    alt = altair()

    return alt.Color("kind:N", legend=None).scale(domain=["system", "control"], range=[ACCENT, CONTROL])


def _tooltip() -> list[Any]:
    alt = altair()

    shares = [alt.Tooltip(f"{name}:Q", format=".1%") for name in ("value", "low", "high")]
    return [alt.Tooltip("label:N", title="name"), *shares]


def finish(drawing: Any) -> Spec:
    """Return a drawing as a specification in the board's colours."""
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
    spec["config"] |= {"axis": axis, "view": {"stroke": None}, "aria": False, "text": {"fontSize": 12}}
    return spec
