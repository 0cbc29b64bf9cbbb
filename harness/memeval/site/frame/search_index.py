"""The search index: the sections of each page, with their words, kept from build to build.

Each reader who searches loads it. So charts and the numbers of long tables are left out, and of a long section the
words after its start are kept once each.
"""

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

from memeval.archive.run_cache import kept_by_name
from memeval.records.base import digest_of
from memeval.site.model.files import Asset, Page, encode
from memeval.site.model.text import day, visible
from memeval.site.model.urls import system_url
from memeval.systems.controls import all_controls
from memeval.toml import parse_toml

SEARCH_INDEX = "search/search_index.json"

KIND = "search"

LONG_TABLE = 30
"""Rows from which on a table is left out, but for its head and the names of its rows."""

SHOWN = 300
"""Characters at the start of a section that are kept as they are, so that a reader sees sentences."""

WORDS = Path(__file__).with_name("search_words.toml")

ID_DIGITS = 5
"""A further word with as many digits is a digest, the id of a run or a date."""

_LATER_WORD = re.compile(r"(?:--)?[^\W\d][\w.-]+")

_HEADINGS = frozenset(("h2", "h3", "h4", "h5", "h6"))
_SILENT = frozenset(("script", "style", "svg", "template", "noscript", "select", "button"))
_INLINE = frozenset(
    ("a", "abbr", "b", "bdi", "code", "em", "i", "mark", "small", "span", "strong", "sub", "sup", "wbr")
)


@cache
def searched_for() -> Mapping[str, str]:
    return parse_toml(WORDS.read_bytes(), WORDS).data


@dataclass
class Section:
    id: str | None
    """The anchor of the heading; ``None`` for the words at the top of a page."""
    title: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


class SearchIndex:
    def __init__(self) -> None:
        self._entries: list[dict[str, str]] = []

    def add(self, page: Page) -> None:
        """Add the sections of a page, if the search may find it."""
        if page.searchable:
            depends = digest_of([page.url, page.title, page.words, str(page.body)])
            self._entries += json.loads(kept_by_name(page.url, KIND, depends, lambda: encode(entries(page))))

    def file(self) -> Asset:
        """Return the index: pages before sections, products first, controls last, short texts before long ones."""
        controls = {system_url(slug) for slug in all_controls()}

        def place(entry: dict[str, str]) -> tuple[bool, bool, bool, int, str]:
            url, _hash, section = entry["location"].partition("#")
            is_system = url.startswith("systems/") and url != "systems/"
            return bool(section), url in controls, not is_system, len(entry["text"]), entry["location"]

        return Asset(SEARCH_INDEX, encode({"docs": sorted(self._entries, key=place)}))


def entries(page: Page) -> list[dict[str, str]]:
    """Return the sections of a page, the page itself first, as the index has them."""
    return [
        _lean(
            location=page.url if section.id is None else f"{page.url}#{section.id}",
            title=visible(page.title) if section.id is None else _words(section.title),
            words="" if section.id is not None else f"{searched_for().get(page.url, '')} {page.words}".strip(),
            **_divided(_words(section.text)),
        )
        for section in _sections(str(page.body))
    ]


def _lean(location: str, title: str, text: str, **others: str) -> dict[str, str]:
    return {"location": location, "title": title, "text": text} | {
        name: value for name, value in others.items() if value
    }


def _divided(text: str) -> dict[str, str]:
    """Return the start of a text, and its further words: each once, and no numbers."""
    start = text[:SHOWN].rpartition(" ")[0] if len(text) > SHOWN else text
    known = set(start.casefold().split())
    words = _LATER_WORD.findall(text[len(start) :])
    later = {word.casefold(): word for word in words if sum(map(str.isdigit, word)) < ID_DIGITS}
    return {"text": start, "more": " ".join(word for key, word in later.items() if key not in known)}


def _sections(html: str) -> list[Section]:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.sections


def _words(parts: list[str]) -> str:
    return " ".join("".join(parts).split())


class _Reader(HTMLParser):
    """Divides the HTML of a page into sections."""

    def __init__(self) -> None:
        super().__init__()
        self.sections = [Section(None)]
        self._silent: list[str] = []
        """Open elements whose text is left out, the outermost first."""
        self._heading: str | None = None
        """The open heading with an anchor."""
        self._rows: list[str] | None = None
        """The text of the open body of a table."""
        self._names: list[str] = []
        """The text in the names of its rows."""
        self._is_name = False
        self._count = 0
        """Its rows."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._silent:
            if tag == self._silent[0]:
                self._silent.append(tag)
            return
        given = dict(attrs)
        if tag in _SILENT or (tag == "a" and given.get("class") == "headerlink"):
            self._silent.append(tag)
        elif tag in _HEADINGS and given.get("id"):
            self._heading = tag
            self.sections.append(Section(given["id"]))
        elif tag == "tbody":
            self._rows, self._names, self._count = [], [], 0
        elif tag == "tr":
            self._count += 1
        elif tag in ("th", "td"):
            self._is_name = tag == "th"
        self._space(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            if tag == self._silent[0]:
                self._silent.pop()
            return
        if tag == self._heading:
            self._heading = None
        elif tag == "tbody" and self._rows is not None:
            self.sections[-1].text += self._rows if self._count < LONG_TABLE else self._names
            self._rows = None
        self._space(tag)

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._place().append(data)
            if self._rows is not None and self._is_name:
                self._names.append(f"{data} ")

    def _space(self, tag: str) -> None:
        if tag not in _INLINE:
            self._place().append(" ")

    def _place(self) -> list[str]:
        if self._rows is not None:
            return self._rows
        section = self.sections[-1]
        return section.text if self._heading is None else section.title


def sitemap(address: str, urls: Iterable[str], latest: str | None) -> Iterator[Asset]:
    """Yield ``sitemap.xml``, and the same compressed."""
    changed = "" if latest is None else f"<lastmod>{escape(day(latest))}</lastmod>"
    entries = "".join(
        f"<url><loc>{escape(address + quote(url, safe='/@'))}</loc>{changed}</url>\n" for url in sorted(urls)
    )
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    content = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{namespace}">\n{entries}</urlset>\n'.encode()
    yield Asset("sitemap.xml", content)
    yield Asset("sitemap.xml.gz", gzip.compress(content, mtime=0))
