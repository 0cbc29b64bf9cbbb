"""The public record: tracks, the ledger, and releases."""

from collections.abc import Iterable

from memeval.exchange.parquet import has_pyarrow
from memeval.site.model.content import SiteModel
from memeval.site.model.files import GeneratedFile, Heading, Page
from memeval.site.model.urls import segment
from memeval.site.pages.citing import reference_text
from memeval.site.pages.metadata import (
    CITATION,
    SCORES,
    SCORES_CROISSANT,
    SCORES_PARQUET,
    ZENODO,
    board_citation,
    croissant_path,
    published_data,
)
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render


class ReleasesPage(Publisher):
    name = "releases"
    order = 70

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        known = {row.run.run_id for row in site.board.runs}
        yield Page(
            url="releases/",
            title="Releases",
            description="Frozen versions of the leaderboard, with runs, ranks and digests.",
            body=render(
                "pages/releases.html",
                "releases/",
                releases=site.releases,
                known=known,
                own=site.version,
                citation=board_citation(site),
                references=[reference_text(work) for work in board_citation(site).works],
                files=_metadata(site),
            ),
            headings=(
                *(Heading(f"v-{segment(r.version)}", r.version) for r in site.releases),
                Heading("cite", "Cite this board"),
            ),
        )


def _metadata(site: SiteModel) -> list[tuple[str, str]]:
    files = [(CITATION, "the citation, in the Citation File Format"), (ZENODO, "metadata of a deposit at Zenodo")]
    if site.latest is not None:
        files.append((SCORES, "all scores as one table"))
        if has_pyarrow():
            files.append((SCORES_PARQUET, "the same table as Parquet"))
        files += [(SCORES_CROISSANT, "Croissant description of this table")]
    for view in site.benchmarks.values():
        if published_data(view) is not None:
            files.append((croissant_path(view.id), f"Croissant description of the data of {view.title}"))
    return files


ENTRIES = 50
"""Entries of an older page of the ledger. The first page has at least as many, and fewer than twice as many."""


class LedgerPage(Publisher):
    """The first page has the newest entries. Older pages are numbered from the oldest, so that they never change."""

    name = "ledger"
    order = 60

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        entries = site.board.ledger
        known = {row.run.run_id: row for row in site.board.runs}
        older = max(0, len(entries) // ENTRIES - 1)
        urls = [*(f"ledger/{number}/" for number in range(1, older + 1)), "ledger/"]
        for place, url in enumerate(urls):
            shown = entries[place * ENTRIES : (place + 1) * ENTRIES if place < older else None]
            before, after = urls[place - 1] if place else None, urls[place + 1] if place < older else None
            yield Page(
                url=url,
                title=f"Ledger, page {place + 1}" if after else "Ledger",
                description="Log of every change to a published run, with the reason. Entries are never removed.",
                body=render(
                    "pages/ledger.html",
                    url,
                    entries=shown[::-1],
                    known=known,
                    total=len(entries),
                    before=before,
                    after=after,
                ),
                searchable=after is None,
            )
