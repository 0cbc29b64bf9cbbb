"""The pages that the header of every page links: those of the board, and the guide in the order of ``mkdocs.yml``."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from memeval.records.errors import BadInput
from memeval.site.model.files import assets_root
from memeval.site.pages.publisher import brought_pages


@dataclass(frozen=True)
class Entry:
    title: str
    url: str
    """Address relative to the site's root; of a section: that of its first page."""
    pages: "tuple[Entry, ...]" = ()

    def leads_to(self, url: str) -> bool:
        return (
            url == self.url or (self.url != "" and url.startswith(self.url)) or any(p.leads_to(url) for p in self.pages)
        )


BOARD = (
    Entry("Board", ""),
    Entry("Products", "systems/"),
    Entry("Benchmarks", "benchmarks/"),
    Entry("Compare", "compare/"),
    Entry("Published scores", "published/"),
)
MORE = (
    Entry("Overall index", "overall/"),
    Entry("Trade-offs", "trade-offs/"),
    Entry("Trends", "trends/"),
    Entry("Matrices", "matrices/"),
    Entry("What the graders are worth", "graders/"),
    Entry("Judges on trial", "judges/"),
    Entry("All score tables", "tracks/"),
    Entry("Releases", "releases/"),
    Entry("Ledger", "ledger/"),
)


STATUS = "status/"
"""What was tried of memeval itself: a page of memeval's own board only."""


@cache
def guide(own: bool) -> Entry:
    """Return the guide.

    ``own``: whether the board is that of memeval's repository. Raises ``BadInput`` if ``mkdocs.yml`` has no list of
    pages.
    """
    path = assets_root() / "mkdocs.yml"
    try:
        lines = list(_pages(yaml.safe_load(path.read_bytes())["nav"]))
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError):
        lines = []
    if not lines:
        raise BadInput(
            "'nav' lists no page of the guide.", where=path, remedy="Write lines such as '- Title: page.md'."
        )
    return Entry("Guide", lines[0].url, tuple(line for line in lines if own or line.url != STATUS))


def navigation(own: bool) -> tuple[Entry, ...]:
    brought = tuple(Entry(page.publisher.title, f"{page.name}/") for page in brought_pages() if page.publisher.title)
    more = MORE + brought
    return *BOARD, guide(own), Entry("More results", more[0].url, more)


def _pages(lines: list[dict[str, Any]]) -> Iterator[Entry]:
    for line in lines:
        ((title, path),) = line.items()
        yield Entry(title, f"{path.removesuffix('.md')}/")
