"""The chart library, loaded when a reader makes a chart interactive."""

from __future__ import annotations

from collections.abc import Iterable

from memeval.site.charts.charts import library
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile
from memeval.site.pages.publisher import Publisher


class ChartLibrary(Publisher):
    """Vega and its dependencies, as one module."""

    name = "library"
    order = 90

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        yield Asset("assets/vega.js", library())
