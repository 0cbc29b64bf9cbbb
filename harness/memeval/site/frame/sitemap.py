"""The list of all pages for search engines, of a site whose address is known."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from html import escape
from urllib.parse import quote

from memeval.site.model.files import Asset
from memeval.site.model.text import day


def sitemap(address: str, urls: Iterable[str], latest: str | None) -> Iterator[Asset]:
    """Yield ``sitemap.xml``, and the same compressed.

    Args:
        address: the address of the site, with a slash at its end.
        urls: the addresses of its pages, relative to that.
        latest: the time of the latest change of its data; ``None`` without data.
    """
    changed = "" if latest is None else f"<lastmod>{escape(day(latest))}</lastmod>"
    entries = "".join(
        f"<url><loc>{escape(address + quote(url, safe='/@'))}</loc>{changed}</url>\n" for url in sorted(urls)
    )
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    content = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{namespace}">\n{entries}</urlset>\n'.encode()
    yield Asset("sitemap.xml", content)
    yield Asset("sitemap.xml.gz", gzip.compress(content, mtime=0))
