"""The chart library, for pages that are asked to make a chart interactive."""

from __future__ import annotations

from collections.abc import Iterable

from memeval.site.charts import library
from memeval.site.files import Asset, GeneratedFile
from memeval.site.model import SiteModel
from memeval.site.publisher import Publisher


class ChartLibrary(Publisher):
    """Vega and what belongs to it, as one module."""

    name = "library"
    order = 90

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        yield Asset("assets/vega.js", library())
