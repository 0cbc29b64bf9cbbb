"""Data that a page loads: missing, cut, changed, decompressed on its way, or in a browser without the means."""

import gzip
import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Change, Visit
from tests.site.conftest import Built

pytestmark = pytest.mark.browser

ITEM = "belief-update-03"


def shard(site: Built) -> str:
    path = site.index_of(site.runs[0].run.run_id)["files"][0]
    assert isinstance(path, str)
    return path


def opened(seen: Visit, site: Built) -> Page:
    return seen.go(f"items/?run={site.runs[0].run.run_id}#q={ITEM}")


def forged(data: bytes) -> bytes:
    content = json.loads(gzip.decompress(data))
    for item in content["items"]:
        for response in item["responses"]:
            response["answer"] = "A forged answer."
    return gzip.compress(json.dumps(content).encode())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: None, "not found (HTTP 404)"),
        (lambda data: data[:-40], "the file is damaged"),
        (lambda data: b"", "does not match its digest"),
        (lambda data: gzip.decompress(data)[:-40], "does not match its digest"),
        (forged, "does not match its digest"),
    ],
    ids=["missing", "cut", "empty", "cut without compression", "forged"],
)
def test_a_bad_shard_is_named_and_never_shown(served: Visit, site: Built, change: Change, said: str) -> None:
    path = shard(site)
    served.host.replace(path, change)
    page = opened(served, site)
    expect(page.get_by_role("alert")).to_contain_text(said)
    expect(page.get_by_role("alert")).to_contain_text(Path(path).name)
    expect(page.locator(".mv-item")).not_to_contain_text("forged")
    expect(page.locator(".mv-said")).to_have_count(0)


def test_a_bad_index_is_named_and_no_list_is_shown(served: Visit, site: Built) -> None:
    index = json.loads(site.read("items/runs.json"))[site.runs[0].run.run_id]
    served.host.replace(index, lambda data: data[:200])
    page = opened(served, site)
    expect(page.get_by_role("alert")).to_contain_text("Cannot show this run")
    expect(page.locator(".mv-list")).to_have_count(0)


def test_a_shard_that_failed_once_is_asked_for_again(served: Visit, site: Built) -> None:
    path = shard(site)
    served.host.replace(path, lambda data: None)
    page = opened(served, site)
    expect(page.get_by_role("alert")).to_be_visible()
    del served.host.instead[path]
    page.get_by_role("link", name="belief-update-04").click()
    expect(page.locator(".mv-item h2")).to_have_text("belief-update-04")


def test_a_host_that_decompresses_files_serves_them_as_well(served: Visit, site: Built) -> None:
    served.host.replace(shard(site), gzip.decompress)
    expect(opened(served, site).locator(".mv-item h2")).to_have_text(ITEM)


def test_a_host_that_names_the_encoding_serves_them_as_well(served: Visit, site: Built) -> None:
    served.host.replace(shard(site), lambda data: data, {"Content-Encoding": "gzip"})
    expect(opened(served, site).locator(".mv-item h2")).to_have_text(ITEM)


def test_a_browser_that_cannot_decompress_is_said_so(alone: Visit, site: Built) -> None:
    alone.page.add_init_script("delete globalThis.DecompressionStream")
    expect(opened(alone, site).get_by_role("alert")).to_contain_text("this browser cannot decompress data")


def test_without_https_items_are_shown_and_said_to_be_unchecked(alone: Visit, site: Built) -> None:
    alone.page.add_init_script("Object.defineProperty(crypto, 'subtle', {value: undefined})")
    page = opened(alone, site)
    expect(page.locator(".mv-item h2")).to_have_text(ITEM)
    expect(page.locator("main")).to_contain_text("were not checked: browsers compute digests only on https pages")
