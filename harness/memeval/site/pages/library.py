"""The chart library, loaded when a reader makes a chart interactive."""

from __future__ import annotations

from collections.abc import Iterable

from memeval.site.charts import library
from memeval.site.files import Asset, GeneratedFile
from memeval.site.model import SiteModel
from memeval.site.publisher import Publisher


class ChartLibrary(Publisher):
    """Vega and its dependencies, as one module."""

    name = "library"
    order = 90

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        yield Asset("assets/vega.js", library())
