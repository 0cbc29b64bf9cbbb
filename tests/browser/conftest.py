"""A real Chromium on a real server, which serves the site under a sub-path.

The tests of a worker share one browser, and those of a module one window: to start either takes longer than a page.
A test leaves the page of the test before it only when it opens its own: an empty page between them costs as much as
half a page.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Route,
    ViewportSize,
    sync_playwright,
)

from tests.site.conftest import Built, cache_of_the_tests, compiled_templates, shared_board
from tests.tools.install_tools import find_chromium

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--js-flags=--no-opt --no-sparkplug --max-lazy",  # to compile scripts that run for milliseconds takes longer
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # nothing outside is reached, even if a page asks
    # The last such flag counts: Playwright's own features, and a new host for each page, which costs a tenth more.
    "--disable-features=AvoidUnnecessaryBeforeUnloadCheckSync,HttpsUpgrades,MediaRouter,OptimizationHints,PaintHolding,"
    "ThirdPartyStoragePartitioning,RenderDocument",
]


__all__ = ["cache_of_the_tests", "compiled_templates"]

EMPTY = "empty-page-between-tests"
WIDE: ViewportSize = {"width": 1440, "height": 900}


class SubPath(SimpleHTTPRequestHandler):
    """Serves a folder and an empty page under ``/deep/board/``, and nothing elsewhere."""

    def do_GET(self) -> None:
        if self.path != f"/deep/board/{EMPTY}":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b'<link rel="icon" href="data:,">')  # else the browser asks for one, once

    def translate_path(self, path: str) -> str:
        if not path.startswith("/deep/board/"):
            return "/nonexistent"
        return super().translate_path(path.removeprefix("/deep/board"))

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


@dataclass
class Visit:
    """A page in a browser, and everything that went wrong on it."""

    page: Page
    base: str
    faults: list[str] = field(default_factory=list)

    def go(self, path: str = "") -> Page:
        """Open a page afresh, also where the browser would only move on the page that is open."""
        address = self.base + path
        if address.partition("#")[0] == self.page.url.partition("#")[0]:
            self.page.goto(self.base + EMPTY)
        self.page.goto(address, wait_until="load")
        return self.page

    def resize(self, size: ViewportSize) -> None:
        """Give the window a size without laying out again what is open."""
        if self.page.viewport_size != size:
            self.page.goto(self.base + EMPTY)
            self.page.set_viewport_size(size)

    def forget(self) -> None:
        """Remove what pages stored."""
        if self.page.url.startswith(self.base):
            self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        self.page.context.clear_cookies()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Return a site over a board with every kind of row."""
    return shared_board(tmp_path_factory)


@pytest.fixture(scope="session")
def base(site: Built) -> Iterator[str]:
    """Serve the site under a sub-path and give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SubPath, directory=str(site.out)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/deep/board/"
    server.shutdown()


@contextmanager
def started() -> Iterator[Browser]:
    """Start the system's Chromium, or the one that Playwright installed."""
    found = find_chromium()
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        except Exception as error:
            if found is None:
                pytest.skip(f"no Chromium here ({str(error).splitlines()[0]}); install the package chromium")
            raise
        yield browser
        browser.close()


RUNNING: list[Browser] = []
"""The browser of this process, once a test needed it."""

ENDING = ExitStack()
"""What ends it."""


def end_browser() -> None:
    RUNNING.clear()
    ENDING.close()


@pytest.fixture(scope="module")
def chromium() -> Browser:
    """Return the browser of this process."""
    if RUNNING and not RUNNING[0].is_connected():
        end_browser()
    if not RUNNING:
        RUNNING.append(ENDING.enter_context(started()))
    return RUNNING[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    """End the browser before a test of another folder: Playwright's loop runs in this thread and lets no other one run.

    No scope does that: pytest ends what a session or a folder shares with the session.
    """
    try:
        return (yield)
    finally:
        if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
            end_browser()


def visit(context: BrowserContext, base: str) -> Visit:
    """Open a page that notes console errors and requests to other sites."""
    seen = Visit(context.new_page(), base)

    def console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            seen.faults.append(f"console: {message.text}")

    def requested(request: Request) -> None:
        if not request.url.startswith((base, "data:", "blob:")):
            seen.faults.append(f"outside: {request.url}")

    seen.page.on("console", console)
    seen.page.on("pageerror", lambda error: seen.faults.append(f"error: {error}"))
    seen.page.on("dialog", lambda dialog: seen.faults.append(f"dialog: {dialog.message}"))
    seen.page.on("request", requested)  # a route would do as well, but would switch off the cache
    return seen


@pytest.fixture(scope="module")
def window(chromium: Browser, base: str) -> Iterator[Visit]:
    """Return the window that the tests of a module share."""
    with chromium.new_context(viewport=WIDE) as context:
        yield visit(context, base)


@contextmanager
def afresh(window: Visit) -> Iterator[Visit]:
    """Give a shared window to one test."""
    window.resize(WIDE)
    window.page.emulate_media(color_scheme="light")
    window.faults.clear()
    yield window
    window.forget()


@pytest.fixture
def wide(window: Visit) -> Iterator[Visit]:
    """Return a page in a wide window, which remembers nothing; nothing may go wrong on it."""
    with afresh(window):
        yield window
    assert window.faults == []


@pytest.fixture
def served(window: Visit) -> Iterator[Visit]:
    """Return the shared window for a test that gives it other bytes: requests may fail on it."""
    with afresh(window):
        yield window
    window.page.unroute_all()


@pytest.fixture
def alone(chromium: Browser, base: str) -> Iterator[Visit]:
    """Return a page of its own, which may get scripts of the test; requests may fail on it."""
    with chromium.new_context() as context:
        yield visit(context, base)


Change = Callable[[bytes], bytes | None]
"""Returns other bytes for a file; ``None`` if the file is missing."""


def serve(page: Page, site: Built, path: str, change: Change, headers: dict[str, str] | None = None) -> None:
    """Give a page other bytes for a file of the site."""

    def answer(route: Route) -> None:
        body = change((site.out / path).read_bytes())
        if body is None:
            route.fulfill(status=404)
        else:
            route.fulfill(body=body, headers=headers or {})

    page.route(f"**/{path}", answer)
