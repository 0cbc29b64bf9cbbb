"""The search index, composed of a part for each page, kept from build to build.

Material divides the HTML of a page into sections with a parser in Python. Charts and long tables are left out: nobody
searches for their numbers, and on a board of many runs they are nine tenths of the index, which each reader loads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from copy import copy
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec

from material.plugins.search.plugin import SearchIndex
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink

from memeval.archive.run_cache import kept_by_name
from memeval.records.base import digest_bytes

KIND = "search"
"""The kind of the kept content."""

LONG_TABLE = 30
"""Rows from which on a table is left out, but for its head."""

_NUMBERS = re.compile(r"<svg\b.*?</svg>|<tbody\b.*?</tbody>", re.DOTALL)


class KeptSearchIndex(SearchIndex):  # type: ignore[misc]  # Material has no types
    """An index that divides a page into sections only if the page has changed."""

    def add_entry_from_context(self, page: Page) -> None:
        """Add the sections of a page."""

        def made() -> bytes:
            alone = SearchIndex(**self.config)
            shown = copy(page)
            shown.content = searched(page.content or "")
            alone.add_entry_from_context(shown)
            return json.dumps(alone.entries).encode()

        self.entries.extend(json.loads(kept_by_name(page.url, KIND, _inputs(page), made)))


def searched(html: str) -> str:
    """Return the HTML of a page without its charts and the rows of its long tables."""

    def left(found: re.Match[str]) -> str:
        is_short = found[0].startswith("<tbody") and found[0].count("<tr") < LONG_TABLE
        return found[0] if is_short else ""

    return _NUMBERS.sub(left, html)


def _inputs(page: Page) -> str:
    """Return the digest of all that the sections of a page depend on."""
    meta = {name: page.meta.get(name) for name in ("search", "tags", "title")}
    inputs = [page.url, str(page.title), repr(meta), page.content, _anchors(page.toc), _tools()]
    return digest_bytes(json.dumps(inputs).encode())


@cache
def _tools() -> str:
    """Return what divides a page into sections: Material, and jieba for Chinese if it is installed."""
    return f"material {version('mkdocs-material')}, jieba {find_spec('jieba') is not None}"


def _anchors(links: Iterable[AnchorLink]) -> list[object]:
    return [[link.id, link.url, _anchors(link.children)] for link in links]
