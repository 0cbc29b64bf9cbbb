"""``feed.xml``: the decisions of the ledger as an Atom feed (RFC 4287).

Addresses in it are relative to the feed, unless ``site_url`` in ``memeval.toml`` says where the site is. Ids follow
from the lines of the ledger, so an entry keeps its id in every release.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from memeval.records.base import digest_of
from memeval.records.ledger import LedgerEntry
from memeval.records.run import Run
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile
from memeval.site.model.text import visible
from memeval.site.model.urls import run_url
from memeval.site.pages.publisher import Publisher

FEED = "feed.xml"

MOST = 100
"""Number of entries: the newest ones."""

NO_TIME = "2026-01-01T00:00:00+00:00"
"""Time of a feed without any data, which must have one."""


class FeedFile(Publisher):
    """The feed."""

    name = "feed"
    order = 61

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        runs = {row.run.run_id: row.run for row in site.board.runs}
        feed = Element("feed", {"xmlns": "http://www.w3.org/2005/Atom"})
        ledger, base = site.board.ledger, site.address or ""
        _text(feed, "title", f"{site.settings.title}: decisions about runs")
        _text(feed, "id", _id(ledger[0]) if ledger else _urn(site.settings.title))
        _text(feed, "updated", max((entry.at for entry in ledger), default=site.latest or NO_TIME))
        SubElement(feed, "link", {"rel": "self", "type": "application/atom+xml", "href": base + FEED})
        SubElement(feed, "link", {"rel": "alternate", "type": "text/html", "href": f"{base}ledger/"})
        _text(SubElement(feed, "author"), "name", site.settings.title)
        for entry in reversed(ledger[-MOST:]):
            _entry(feed, entry, runs.get(entry.run_id or ""), site)
        indent(feed)
        yield Asset(FEED, tostring(feed, encoding="utf-8", xml_declaration=True) + b"\n")


def _entry(feed: Element, entry: LedgerEntry, run: Run | None, site: SiteModel) -> None:
    made = SubElement(feed, "entry")
    if run is not None:
        what = f"{run.system.name} on {site.benchmark_of(run.track).title}"
    else:
        what = f"run {entry.run_id}" if entry.run_id else f"release {entry.release_version}"
    _text(made, "title", f"{entry.event.value}: {what}")
    _text(made, "id", _id(entry))
    _text(made, "updated", entry.at)
    _text(SubElement(made, "author"), "name", entry.by)
    address = run_url(run.run_id) if run is not None else "ledger/" if entry.run_id else "releases/"
    SubElement(made, "link", {"rel": "alternate", "type": "text/html", "href": (site.address or "") + address})
    _text(made, "content", entry.reason)


def _id(entry: LedgerEntry) -> str:
    return _urn(digest_of(entry.identity()))


def _urn(name: str) -> str:
    return uuid.uuid5(uuid.NAMESPACE_URL, f"memeval:ledger:{name}").urn


def _text(parent: Element, name: str, value: str) -> None:
    SubElement(parent, name).text = str(visible(value))
