"""A real Chromium on a real server, which serves the site under a sub-path.

The tests of a worker share one browser and one window, whose cache has the scripts and styles: to start either takes
longer than a page. A test leaves the page of the test before it only when it opens its own. A file that a test
replaces comes from the server too: to intercept one request costs more than the whole page.
"""

from __future__ import annotations

import mimetypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, ViewportSize, sync_playwright

from tests.site.conftest import Built, cache_of_the_tests, converted_guide, shared_board
from tests.tools.install_tools import find_chromium

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--force-gpu-mem-available-mb=1",  # nothing is drawn: layout, styles and what is under the pointer need no pixels
    # To compile what runs for milliseconds takes longer; only axe runs for seconds.
    "--js-flags=--no-opt --no-sparkplug --max-lazy --interrupt-budget-for-maglev=600000",
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


__all__ = ["cache_of_the_tests", "converted_guide"]

EMPTY = "empty-page-between-tests"
AXE = "axe.js"
WIDE: ViewportSize = {"width": 1440, "height": 900}


@dataclass(frozen=True)
class Answer:
    """What the server sends instead of a file of the site."""

    body: bytes | None
    """``None`` if the file is missing."""
    headers: dict[str, str] = field(default_factory=dict)


ALWAYS = {
    EMPTY: Answer(b'<link rel="icon" href="data:,">', {"Content-Type": "text/html"}),  # else it asks for an icon, once
    AXE: Answer(AXE_SCRIPT.encode(), {"Content-Type": "text/javascript", "Cache-Control": "max-age=3600"}),
}


class SubPath(SimpleHTTPRequestHandler):
    """Serves a folder under ``/deep/board/``, and nothing elsewhere."""

    protocol_version = "HTTP/1.1"  # a connection and a thread for each request cost more than the request
    disable_nagle_algorithm = True
    server: Host

    def do_GET(self) -> None:
        answer = self.server.instead.get(self.path.partition("?")[0].removeprefix("/deep/board/"))
        if answer is None:
            return super().do_GET()
        if answer.body is None:
            return self.send_error(404)
        self.send_response(200)
        for name, value in {"Cache-Control": "no-store", "Content-Length": len(answer.body), **answer.headers}.items():
            self.send_header(name, str(value))
        super().end_headers()
        self.wfile.write(answer.body)

    def end_headers(self) -> None:
        kept = "/assets/" in self.path
        self.send_header("Cache-Control", "max-age=3600" if kept else "no-cache")
        super().end_headers()

    def translate_path(self, path: str) -> str:
        if not path.startswith("/deep/board/"):
            return "/nonexistent"
        return super().translate_path(path.removeprefix("/deep/board"))

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


class Host(ThreadingHTTPServer):
    """Serves a built site until the ``with`` block ends."""

    def __init__(self, folder: Path, handler: type[SubPath] = SubPath) -> None:
        super().__init__(("127.0.0.1", 0), partial(handler, directory=str(folder)))
        self.folder = folder
        self.base = f"http://127.0.0.1:{self.server_port}/deep/board/"
        self.instead = dict(ALWAYS)
        """Answers by path. Files below ``assets/`` are asked for once, so they cannot be replaced."""

    def __enter__(self) -> Host:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Let the browser hang up, and print any other error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def write(self, path: str, text: str) -> None:
        """Serve other text for a file, until the test ends."""
        self.replace(path, lambda _data: text.encode())

    def replace(self, path: str, change: Change, headers: dict[str, str] | None = None) -> None:
        """Serve other bytes for a file, until the test ends."""
        kind, _ = mimetypes.guess_type(path)
        self.instead[path.removesuffix("index.html")] = Answer(
            change((self.folder / path).read_bytes()), {"Content-Type": kind or "text/html", **(headers or {})}
        )


Change = Callable[[bytes], bytes | None]
"""Returns other bytes for a file; ``None`` if the file is missing."""


@dataclass
class Visit:
    page: Page
    host: Host
    faults: list[str] = field(default_factory=list)

    @property
    def base(self) -> str:
        """The address of the site."""
        return self.host.base

    def go(self, path: str = "") -> Page:
        """Open a page afresh, also where the browser would only move on the page that is open."""
        address = self.base + path
        if "#" in address and address.partition("#")[0] == self.page.url.partition("#")[0]:
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
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    with shared_board(tmp_path_factory) as board:
        yield board


@pytest.fixture(scope="session")
def host(site: Built) -> Iterator[Host]:
    """Serve the site under a sub-path."""
    with Host(site.out) as host:
        yield host


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


@dataclass
class Running:
    """The browser of this process, and the pages that its tests share."""

    browser: Browser
    windows: dict[bool, Visit] = field(default_factory=dict)
    """With scripts, and without."""

    def window(self, host: Host, *, scripts: bool = True) -> Visit:
        if scripts not in self.windows:
            context = self.browser.new_context(viewport=WIDE, java_script_enabled=scripts)
            self.windows[scripts] = visit(context, host)
        self.windows[scripts].host = host
        return self.windows[scripts]


RUNNING: list[Running] = []
"""Once a test needed it."""

ENDING = ExitStack()
"""What ends it."""


def end_browser() -> None:
    RUNNING.clear()
    ENDING.close()


@pytest.fixture(scope="module")
def running() -> Running:
    if RUNNING and not RUNNING[0].browser.is_connected():
        end_browser()
    if not RUNNING:
        RUNNING.append(Running(ENDING.enter_context(started())))
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


def visit(context: BrowserContext, host: Host) -> Visit:
    """Open a page that notes console errors and requests to other sites, which ``FLAGS`` let fail."""
    seen = Visit(context.new_page(), host)

    def console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            seen.faults.append(f"console: {message.text}")

    def failed(request: Request) -> None:
        if not request.url.startswith((seen.base, "data:", "blob:")):
            seen.faults.append(f"outside: {request.url}")

    seen.page.on("console", console)
    seen.page.on("pageerror", lambda error: seen.faults.append(f"error: {error}"))
    seen.page.on("dialog", lambda dialog: seen.faults.append(f"dialog: {dialog.message}"))
    seen.page.on("requestfailed", failed)  # as all outside fail; to hear of every request takes a tenth of a page
    return seen


@contextmanager
def afresh(window: Visit) -> Iterator[Visit]:
    window.resize(WIDE)
    window.page.emulate_media(color_scheme="light")
    window.faults.clear()
    yield window
    window.forget()
    window.host.instead = dict(ALWAYS)


@pytest.fixture
def served(running: Running, host: Host) -> Iterator[Visit]:
    """Return a page in the shared window, which remembers nothing; requests may fail on it."""
    with afresh(running.window(host)) as window:
        yield window


@pytest.fixture
def wide(served: Visit) -> Iterator[Visit]:
    yield served
    assert served.faults == []


@pytest.fixture
def unscripted(running: Running, host: Host) -> Visit:
    return running.window(host, scripts=False)


@pytest.fixture
def alone(running: Running, host: Host) -> Iterator[Visit]:
    """Return a page of its own, which may get scripts of the test and remembers nothing; requests may fail on it."""
    shared = running.window(host)
    seen = visit(shared.page.context, host)
    yield seen
    seen.page.close()
    shared.page.goto(host.base + EMPTY)
    shared.forget()
    host.instead = dict(ALWAYS)


BLOCKED = """for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, {
    configurable: true, get() { throw new DOMException("The operation is insecure.", "SecurityError"); } });"""


@pytest.fixture
def blocked(alone: Visit) -> Visit:
    alone.page.add_init_script(BLOCKED)
    return alone
