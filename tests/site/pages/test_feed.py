"""The Atom feed of the ledger."""

from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

from memeval.archive.ledger import Ledger
from memeval.records.ledger import LedgerEvent
from memeval.site.pages.api import FEED, MOST, FeedFile
from tests.site.conftest import Built
from tests.site.factory import HOSTILE, FakeBenchmark, Made, make_run
from tests.site.reading import assets_of, site_of

ATOM = "{http://www.w3.org/2005/Atom}"


def content_of(results: Path) -> bytes:
    return assets_of(site_of(results), FeedFile)[FEED]


def entries(content: bytes) -> list[Element]:
    return fromstring(content).findall(f"{ATOM}entry")


def text(element: Element, name: str) -> str:
    return element.findtext(f"{ATOM}{name}") or ""


def test_the_feed_has_the_ledger_newest_first_and_is_linked_on_every_page(built: Built) -> None:
    found = entries((built.out / FEED).read_bytes())
    events = [entry.event.value for entry in Ledger(built.results).entries()]
    assert [text(entry, "title").partition(":")[0] for entry in found] == events[::-1]
    for entry in found:
        link = entry.find(f"{ATOM}link")
        assert link is not None and (built.out / str(link.get("href")) / "index.html").is_file()
    for page, address in (("index.html", "./feed.xml"), ("systems/acme/index.html", "../../feed.xml")):
        assert f'type="application/atom+xml" title="What changed" href="{address}"' in built.read(page)


def test_ids_and_times_do_not_change_when_the_ledger_grows(tmp_path: Path) -> None:
    run = make_run(tmp_path, Made("acme", f"Acme {HOSTILE}"), FakeBenchmark())
    ledger = Ledger(tmp_path)
    ledger.append(LedgerEvent.ACCEPTED, run, by=HOSTILE, reason=f"A reason. {HOSTILE}")
    before = content_of(tmp_path)
    assert content_of(tmp_path) == before
    ledger.append(LedgerEvent.INVALIDATED, run, by="maintainer", reason="A wrong key.")
    after = content_of(tmp_path)
    newer, older = entries(after)
    (first,) = entries(before)
    for name in ("id", "updated", "title"):
        assert text(older, name) == text(first, name)
    assert text(first, "title").endswith(" 1.0 on Fake benchmark") and ", only entry. Track: " in text(first, "content")
    assert ", not ranked (invalidated). Track: " in text(newer, "content"), "what a reader sees now"
    assert text(newer, "id") != text(older, "id")
    assert text(newer, "id").startswith("urn:uuid:")
    assert text(fromstring(after), "id") == text(fromstring(before), "id")
    assert text(fromstring(after), "id") not in {text(newer, "id"), text(older, "id")}
    assert text(fromstring(after), "updated") == text(newer, "updated")
    assert "<script>" in text(older, "content") and b"<script>" not in after
    assert "\u2400" in text(older, "content"), "a control character, which XML forbids, is shown as a picture"


def test_a_feed_of_a_long_ledger_has_the_newest_entries(tmp_path: Path) -> None:
    run = make_run(tmp_path, Made("acme", "Acme"), FakeBenchmark())
    ledger = Ledger(tmp_path)
    for number in range(MOST + 2):
        ledger.append(LedgerEvent.REPLIED, run, by="vendor", reason=f"Reply {number}.")
    found = entries(content_of(tmp_path))
    assert [text(each, "content").partition(" Score")[0] for each in found[:: MOST - 1]] == [
        f"Reply {MOST + 1}.",
        "Reply 2.",
    ]


def test_an_empty_ledger_gives_a_valid_feed(tmp_path: Path) -> None:
    feed = fromstring(content_of(tmp_path))
    assert text(feed, "id").startswith("urn:uuid:") and text(feed, "updated") and not feed.findall(f"{ATOM}entry")
