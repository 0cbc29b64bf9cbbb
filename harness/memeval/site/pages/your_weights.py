"""The data behind "Your weights" on tables."""

from __future__ import annotations

from collections.abc import Iterable

from memeval.site.files import GeneratedFile
from memeval.site.model import SiteModel
from memeval.site.publisher import Publisher
from memeval.site.tables import view
from memeval.site.your_weights import board_weights


class YourWeightsData(Publisher):
    """A file for each table whose categories a reader can weigh."""

    name = "your-weights"
    order = 56

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        views = (view(site, table) for table in site.board.tables)
        return (board_weights(each) for each in views if each.can_weigh)
