"""The data behind "Your weights" on tables."""

from __future__ import annotations

from collections.abc import Iterable

from memeval.site.model.content import SiteModel
from memeval.site.model.files import GeneratedFile
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.weighing import board_weights
from memeval.site.table.tables import view


class YourWeightsData(Publisher):
    """A file for each table whose categories a reader can weigh."""

    name = "your-weights"
    order = 56

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        views = (view(site, table) for table in site.board.tables)
        return (board_weights(each) for each in views if each.can_weigh)
