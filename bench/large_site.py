"""Weight and speed of a site of 200 made systems on 10 benchmarks: ``python -m bench.large_site FOLDER``.

Builds the site from made runs into ``FOLDER/site``, unless it is there: five minutes. Opens the front page and a
benchmark in Chromium, and prints, for each of them:

- bytes of the page, gzipped, and elements in the document;
- sort and filter: milliseconds from the click or the typed letter to the end of the frame that shows its effect, and
  milliseconds of the browser's main thread in that time, medians of 9. The first includes the wait for the frame: up to
  17 ms. The second does not depend on it, and less on what else the machine does;
- CLS: the sum of layout shifts while the page loads, on a phone's screen.

Nothing in it was ever measured.
"""

from __future__ import annotations

import gzip
import json
import random
import statistics
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Page, sync_playwright

from memeval.leaderboard.suites import read_suites
from memeval.records.run import SystemKind, View
from memeval.site import build
from tests.browser.conftest import FLAGS
from tests.site.factory import FakeBenchmark, FakeDataset, Made, make_run
from tests.support.made_history import FIRST, accept

SYSTEMS, BENCHMARKS, REPEATS = 200, 10, 9
OUT = Path("build/bench-large-site.json")
ANSWER = "She lives in town 3."

CONTROLS = (
    ("no-memory", "No memory", 0.05, View.ALL),
    ("bm25", "BM25", 0.5, View.ALL),
    ("full-context", "Full context", 0.6, View.ALL),
    ("oracle-evidence", "Oracle evidence", 0.97, View.EVIDENCE),
)

SUBMISSION = """schema_version = 1
slug = "{slug}"
name = "{name}"
version = "1.0"
entry = "adapter.py:Adapter"
authors = ["Nobody"]
licence = "Apache-2.0"
homepage = "https://example.org/{slug}"
summary = "Full-text search: dated turns, with English stems and stop words, number {number}."
"""

ACT = """async ({ selector, text }) => {
  const element = document.querySelector(selector);
  const began = performance.now();
  if (text === null) element.click();
  else {
    element.value = text;
    element.dispatchEvent(new Event("input", { bubbles: true }));
  }
  await new Promise((done) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = done; // runs when the frame is done
    channel.port2.postMessage(0);
  }));
  return performance.now() - began;
}"""

SHIFTS = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => { sum += entry.value; }))
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 1000);
})"""


class Packed(SimpleHTTPRequestHandler):
    """Serves a folder, text gzipped, as hosts of static sites do."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if path.suffix not in (".html", ".css", ".js", ".json", ".svg", ".xml") or not path.is_file():
            return super().do_GET()
        body = gzip.compress(path.read_bytes(), 6)
        self.send_response(200)
        self.send_header("Content-Type", f"{self.guess_type(str(path))}; charset=utf-8")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


def benchmark_ids() -> list[str]:
    """Return the benchmarks of the index of answers, and made ones."""
    suite = next(suite for suite in read_suites() if suite.id.startswith("answers@"))
    known = [each.benchmark for each in suite.benchmarks]
    return known + [f"made-{number:02}@1" for number in range(len(known), BENCHMARKS)]


def make_site(folder: Path) -> None:
    """Write runs of all systems on all benchmarks, and build the site."""
    dice = random.Random(19)
    results, submissions = folder / "results", folder / "submissions"
    results.mkdir(parents=True)
    benchmarks = {
        name: FakeBenchmark(name, dataset=FakeDataset("Anna"), homepage="https://example.org/", told={"title": name})
        for name in benchmark_ids()
    }
    made = [
        Made(slug, name, skill, SystemKind.CONTROL, view=view, answer=ANSWER) for slug, name, skill, view in CONTROLS
    ]
    for number in range(SYSTEMS):
        slug, name = f"system-{number:03}", f"Memory {number:03}"
        (submissions / slug).mkdir(parents=True)
        (submissions / slug / "submission.toml").write_text(SUBMISSION.format(slug=slug, name=name, number=number))
        skill, tokens = dice.uniform(0.3, 0.95), dice.randrange(200, 9000)
        made.append(Made(slug, name, skill, tokens=tokens, cost=dice.uniform(0.01, 2), answer=ANSWER))
    runs = [make_run(results, each, one) for each in made for one in benchmarks.values()]
    accept(results, [(run.run.run_id, run.digest, FIRST) for run in runs])
    build(results, folder / "site", find=benchmarks.__getitem__)


def busy(session: CDPSession) -> float:
    """Return milliseconds that the page's main thread has worked."""
    found = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return 1000 * float(found["TaskDuration"])


def times(page: Page, actions: list[dict[str, Any]]) -> tuple[float, float]:
    """Repeat actions in turn; return the medians of their milliseconds to the frame, and of the main thread."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    found = []
    for number in range(REPEATS + 1):
        before = busy(session)
        wall = page.evaluate(ACT, actions[number % len(actions)])
        found.append((wall, busy(session) - before))
    return statistics.median(wall for wall, _ in found[1:]), statistics.median(cpu for _, cpu in found[1:])


def figures(page: Page, phone: Page, address: str, column: str, site: Path, path: str) -> dict[str, float]:
    """Return the figures of a page."""
    phone.goto(address)
    shifts = phone.evaluate(SHIFTS)
    page.goto(address)
    head = page.wait_for_selector(f'th[data-column="{column}"] button')
    assert head is not None
    nodes = page.evaluate("document.querySelectorAll('*').length")
    sort = times(page, [{"selector": f'th[data-column="{column}"] button', "text": None}])
    find = [{"selector": ".mv-tools input[type=search]", "text": text} for text in ("1", "12", "1", "")]
    filtered = times(page, find)
    return {
        "gzipped_bytes": len(gzip.compress((site / path / "index.html").read_bytes())),
        "elements": nodes,
        "rows": page.evaluate("document.querySelector('tbody').rows.length"),
        "sort_ms": sort[0],
        "sort_main_thread_ms": sort[1],
        "filter_ms": filtered[0],
        "filter_main_thread_ms": filtered[1],
        "cls": shifts,
    }


def main(folder: Path) -> int:
    """Build unless that was done, measure, print and store."""
    site = folder / "site"
    if not site.is_dir():
        make_site(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Packed, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}/"
    board = f"benchmarks/{benchmark_ids()[0]}/"
    found = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        phone = browser.new_page(viewport={"width": 412, "height": 823}, device_scale_factor=1.75, is_mobile=True)
        for name, path, column in (("front page", "", "index"), ("benchmark", board, "composite")):
            found[name] = figures(page, phone, base + path, column, site, path)
        browser.close()
    server.shutdown()
    for name, values in found.items():
        print(f"{name}: " + ", ".join(f"{key} {value:.4g}" for key, value in values.items()))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
