"""The frame of many pages of one kind: MkDocs renders it once, and the content of each page is put into it.

MkDocs and its theme need 40 ms for a page. On a large board, most pages are those of runs. What is kept of a page are
the digests of its files: if the earlier site has them, the page is not even read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from html import escape

from markupsafe import Markup

from memeval.archive.run_cache import kept_by_name
from memeval.records.base import digest_bytes, digest_of
from memeval.site.csp import with_policy
from memeval.site.files import Asset, FramedPage, Heading, Page, encode, file_bytes
from memeval.site.text import visible

KIND = "framed-files"
"""The kind of the kept content: the digest of each file."""

NAME = "mv-frame-name"
"""The last part of the frame's address, for which each page has its own."""

_HEADING = Heading("mv-frame-heading", "mv-frame-words")
_PARTS = {"title": "mv-frame-title", "description": "mv-frame-description", "body": "<h1 mv-frame-body>"}
_MARKS = re.compile("|".join([NAME, _HEADING.id, _HEADING.title, *_PARTS.values()]))
_ENTRY = re.compile(rf'<li class="md-nav__item">(?:(?!<li)[\s\S])*?{_HEADING.title}[\s\S]*?</li>')


def empty_page(folder: str) -> Page:
    """Return the page that MkDocs renders for all pages of a folder.

    Args:
        folder: the address of the folder, with a slash at its end.
    """
    return Page(
        url=f"{folder}{NAME}/",
        title=_PARTS["title"],
        description=_PARTS["description"],
        body=Markup(_PARTS["body"]),  # noqa: S704 - our own text
        headings=(_HEADING, _HEADING),  # two show what stands between them
        searchable=False,
    )


class Frame:
    """A page without its content.

    Args:
        html: the page that MkDocs made of :func:`empty_page`.

    Raises:
        ValueError: the theme has changed: the content cannot be told from the frame.
    """

    def __init__(self, html: str) -> None:
        entries = list(_ENTRY.finditer(html))
        if len(entries) != 2:
            raise ValueError("the theme has changed: a page's frame has no table of contents.")
        self.digest = digest_bytes(html.encode("utf-8", "surrogatepass"))
        one, two = entries
        self._before, self._entry, self._after = html[: one.start()], one[0], html[two.end() :]
        self._gap = html[one.end() : two.start()]
        for part in _PARTS.values():
            if part not in self._before + self._after:
                raise ValueError(f"the theme has changed: a page's frame has no {part!r}.")

    def files(self, page: FramedPage) -> Iterator[Asset]:
        """Yield the files of a page, which is made only if one of them is needed."""

        @cache
        def contents() -> Mapping[str, bytes]:
            return dict(map(self._written, page.make()))

        def digests() -> bytes:
            return encode({path: digest_bytes(content) for path, content in contents().items()})

        for path, digest in json.loads(
            kept_by_name(page.url, KIND, digest_of([page.inputs, self.digest]), digests)
        ).items():
            yield Asset(path, partial(_content, contents, path), digest)

    def _written(self, file: Page | Asset) -> tuple[str, bytes]:
        """Return path and bytes of a file."""
        if isinstance(file, Asset):
            return file.path, file_bytes(file)
        return f"{file.url}index.html", with_policy(self.around(file)).encode(errors="xmlcharrefreplace")

    def around(self, page: Page) -> str:
        """Return a page in this frame."""
        first = page.headings[0]
        words = {
            NAME: page.url.rstrip("/").rpartition("/")[2],
            _HEADING.id: first.id,
            _PARTS["title"]: escape(visible(page.title)),
            _PARTS["description"]: escape(visible(page.description)),
            _PARTS["body"]: str(page.body),
        }
        entries = self._gap.join(
            _filled(self._entry, {_HEADING.id: each.id, _HEADING.title: escape(visible(each.title))})
            for each in page.headings
        )
        return _filled(self._before, words) + entries + _filled(self._after, words)


def _content(contents: Callable[[], Mapping[str, bytes]], path: str) -> bytes:
    return contents()[path]


def _filled(text: str, words: dict[str, str]) -> str:
    """Replace all marks at once, so that a mark inside of a replacement stays as it is."""
    return _MARKS.sub(lambda mark: words[mark[0]], text)


def with_every_page(sitemap: str, folder: str, pages: list[str]) -> str:
    """Return a sitemap in which the entry of a frame is replaced by those of its pages.

    Args:
        folder: the address of the pages' folder, with a slash at its end.
        pages: the last parts of their addresses.
    """
    entry = re.search(rf"\s*<url>(?:(?!<url>)[\s\S])*?{re.escape(folder + NAME)}[\s\S]*?</url>", sitemap)
    if entry is None:
        return sitemap
    entries = "".join(entry[0].replace(NAME, name) for name in pages)
    return sitemap[: entry.start()] + entries + sitemap[entry.end() :]
