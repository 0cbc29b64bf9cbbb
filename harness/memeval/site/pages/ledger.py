"""The ledger: every change to a published run."""

from __future__ import annotations

from collections.abc import Iterable

from memeval.site.model.content import SiteModel
from memeval.site.model.files import GeneratedFile, Page
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render


class LedgerPage(Publisher):
    """The ledger."""

    name = "ledger"
    order = 60

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        known = {row.run.run_id: row for row in site.board.runs}
        yield Page(
            url="ledger/",
            title="Ledger",
            description="Log of every change to a published run, with the reason. Entries are never removed.",
            body=render("pages/ledger.html", "ledger/", entries=site.board.ledger[::-1], known=known),
        )
