"""A chart on a page: the drawing, and the specification that makes it interactive on demand."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from memeval.site.charts.charts import Chart, Spec, draw
from memeval.site.model.files import Asset, encode


@dataclass(frozen=True)
class Figure:
    """A chart on a page."""

    title: str
    description: str
    drawing: Markup
    path: str
    """Address of its specification."""
    spec: Spec

    def asset(self) -> Asset:
        """Return its specification as a file."""
        return Asset(self.path, encode(self.spec))


def figure(chart: Chart, drawing: Markup | None = None) -> Figure:
    """Return a chart for a page.

    Args:
        drawing: the initial drawing; ``None`` for the chart itself.
    """
    path = f"charts/{chart.name}.json"
    return Figure(chart.title, chart.description, draw(chart) if drawing is None else drawing, path, chart.spec)
