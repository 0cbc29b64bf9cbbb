"""Two published releases under a sub-path, in a real browser: both work, and the older one leads to the newer one."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import expect

from memeval.archive.runs import sealed_runs
from memeval.site.release.targets import FolderTarget
from tests.browser.conftest import Host, SubPath, Visit
from tests.browser.looks import inaccessible
from tests.support.boards import add_run, published

pytestmark = pytest.mark.browser


class AsPages(SubPath):
    """Serves a board as GitHub Pages does: unknown addresses get its ``404.html``."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        page = Path(self.directory, "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)


@dataclass(frozen=True)
class Served:
    host: Host
    first: str
    """Run of both releases."""
    second: str
    """Run of the second release only."""

    @property
    def base(self) -> str:
        return self.host.base


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Publish two releases without symlinks, and serve them under a sub-path."""
    folder = tmp_path_factory.mktemp("releases")
    results, public = folder / "results", folder / "public"

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "symlink_to", refuse)
        add_run(results, "no-memory")
        [first] = sealed_runs(results)
        published(results, FolderTarget(public), "1.0")
        add_run(results, "always-hedge")
        published(results, FolderTarget(public), "1.1")
    [second] = {run.run.run_id for run in sealed_runs(results)} - {first.run.run_id}
    with Host(public, AsPages) as host:
        yield Served(host, first.run.run_id, second)


@pytest.fixture(scope="module")
def host(board: Served) -> Host:
    return board.host


@pytest.fixture
def opened(served: Visit) -> Iterator[Visit]:
    yield served
    assert served.faults == []


def test_the_root_and_the_alias_lead_to_the_newest_release(opened: Visit, board: Served) -> None:
    page = opened.go()
    page.wait_for_url(f"{board.base}1.1/")
    expect(page.locator(".mv-older")).to_have_count(0)
    opened.go("latest/")
    page.wait_for_url(f"{board.base}1.1/")


def test_an_older_release_says_so_on_every_page_and_leads_to_the_latest(opened: Visit, board: Served) -> None:
    for path in ("1.0/", f"1.0/runs/{board.first}/", "1.0/releases/"):
        page = opened.go(path)
        banner = page.get_by_role("complementary", name="Release")
        expect(banner).to_have_text("This is 1.0, an older release. See the latest: 1.1.")
    assert inaccessible(opened) == []
    banner.get_by_role("link").click()
    page.wait_for_url(f"{board.base}1.1/")
    expect(page.locator(".mv-older")).to_have_count(0)


def test_the_selector_leads_from_release_to_release(opened: Visit, board: Served) -> None:
    page = opened.go("1.1/")
    selector = page.locator("[data-releases]")
    selector.locator("summary").click()
    selector.get_by_role("link", name="1.0").click()
    page.wait_for_url(f"{board.base}1.0/**")


def test_both_releases_load_the_shared_data(opened: Visit, board: Served) -> None:
    for version, run in (("1.0", board.first), ("1.1", board.first), ("1.1", board.second)):
        page = opened.go(f"{version}/items/?run={run}")
        expect(page.locator(".mv-item h2")).to_be_visible()
        page = opened.go(f"{version}/runs/{run}/")
        page.get_by_text("Files with their digests").click()
        with page.expect_download() as download:
            page.get_by_role("link", name="responses.jsonl.gz").click()
        assert download.value.suggested_filename == "responses.jsonl.gz"
        assert Path(download.value.path()).stat().st_size > 100
    page = opened.go(f"1.0/items/?run={board.second}")
    expect(page.get_by_role("alert")).to_contain_text("no such run")


def test_an_address_below_the_alias_leads_to_the_same_page_of_the_newest(served: Visit, board: Served) -> None:
    page = served.go(f"latest/items/?run={board.second}#q=tiny-000-q01")
    page.wait_for_url(f"{board.base}1.1/items/?run={board.second}#q=tiny-000-q01")
    expect(page.locator(".mv-item h2")).to_be_visible()
    served.go("nowhere/")
    expect(page.get_by_role("heading")).to_have_text("Page not found")


def test_a_missing_page_leads_back_and_searches_for_what_was_asked(served: Visit, board: Served) -> None:
    page = served.go("1.1/systems/no-memory-2/")
    expect(page.get_by_role("heading")).to_have_text("Page not found")
    assert inaccessible(served, lesser=True) == []
    page.get_by_role("link", name="Go to the leaderboard").click()
    page.wait_for_url(f"{board.base}1.1/")
    page = served.go("1.1/systems/no-memory-2/")
    page.get_by_role("link", name="All systems").click()
    page.wait_for_url(f"{board.base}1.1/systems/")
    page = served.go("1.1/systems/no-memory.html")
    page.get_by_role("link", name="Search for “no memory”").click()
    expect(page.locator(".mv-results li").first).to_contain_text("memory", timeout=15_000)
