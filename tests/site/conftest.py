"""One built board for the tests that only look at it, whatever process they run in."""

import gzip
import json
import os
import pickle
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memeval.archive import run_cache
from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.records.base import digest_bytes, digest_of
from memeval.records.ledger import LedgerEvent, Runner
from memeval.site import build
from memeval.site.frame import guide
from memeval.site.model.content import FindBenchmark, read_site
from memeval.site.model.files import Asset, GeneratedFile, KeptPage, Page, assets_root, file_bytes
from memeval.site.pages.publisher import Publisher, publishers
from memeval.storage import locked
from tests.claims.test_findings import board
from tests.site.factory import FakeBenchmark, make_board
from tests.support.standing import counting

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Built:
    out: Path
    results: Path
    benchmark: FakeBenchmark
    runs: list[RunFolder]

    def read(self, path: str) -> str:
        return (self.out / path).read_text(encoding="utf-8")

    def index_of(self, run_id: str) -> dict[str, Any]:
        return self.unpacked(json.loads(self.read("items/runs.json"))[run_id])

    def shard(self, run_id: str, number: int = 0) -> dict[str, Any]:
        return self.unpacked(self.index_of(run_id)["files"][number])

    def unpacked(self, path: str) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(gzip.decompress((self.out / path).read_bytes()))
        return data


def build_board(folder: Path, benchmark: FakeBenchmark) -> Built:
    results, out = folder / "results", folder / "site"
    runs = make_board(results, benchmark)
    ledger = Ledger(results)
    ledger.append(LedgerEvent.ACCEPTED, runs[0], by="maintainer", reason="A pull request.", runner=Runner.MAINTAINER)
    ledger.append(LedgerEvent.REPRODUCED, runs[0], by="maintainer", reason="Graded again, equal.")
    ledger.append(LedgerEvent.SUPERSEDED, runs[1], by="maintainer", reason="A later version.", other=runs[0])
    published_board(folder)
    build(results, out, find=lambda _name: benchmark)
    return Built(out, results, benchmark, runs)


def draw(results: Path, out: Path, *kinds: Publisher, find: FindBenchmark | None = None) -> None:
    """Write the files that some publishers, or all, make of results: no guide, and no frame around a page."""
    site = read_site(results, find=find)
    for kind in kinds or publishers():
        for file in whole(kind.publish(site)):
            place = out / (f"{file.url}index.html" if isinstance(file, Page) else file.path)
            place.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(file, Page):
                place.write_text(file.body, encoding="utf-8", errors="xmlcharrefreplace")
            else:
                place.write_bytes(file_bytes(file))


def whole(files: Iterable[GeneratedFile]) -> Iterator[Page | Asset]:
    for file in files:
        if isinstance(file, KeptPage):
            yield from file.make()
        else:
            yield file


def store_mirix(results: Path) -> None:
    (results / "imported/mirix").mkdir(parents=True)
    for name in ("mem0", "zep", "langmem"):
        for end in ("json", "jsonl.gz"):
            shutil.copy(ROOT / f"results/imported/mirix/{name}.{end}", results / "imported/mirix")


def published_board(folder: Path) -> None:
    """Give a board three stored files of published answers, and the claims about them."""
    store_mirix(folder / "results")
    claims = (ROOT / "sources/findings/claims.toml").read_text().split("[[claim]]")
    shown = ('id = "mirix-mem0"', 'id = "mirix-zep"', 'id = "mirix-zep-other-file"')
    board(folder, "[[claim]]".join(["", *(each for each in claims if any(name in each for name in shown))]))


def of_session(factory: pytest.TempPathFactory) -> Path:
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@contextmanager
def shared_board(factory: pytest.TempPathFactory) -> Iterator[Built]:
    """Yield the board that all processes of a session look at; the first to ask builds it."""
    folder = of_session(factory) / "shared-board"
    folder.mkdir(exist_ok=True)
    runs = folder / "runs.json"
    with locked(folder):
        if not runs.exists():
            made = build_board(folder, FakeBenchmark())
            runs.write_text(json.dumps([str(run.path) for run in made.runs]), encoding="utf-8")
    found = [RunFolder(Path(path)) for path in json.loads(runs.read_text(encoding="utf-8"))]
    heads = (folder / "results").glob("*/*/*/run.json")
    with counting(RunFolder(head.parent).run for head in heads):  # another process may have made them
        yield Built(folder / "site", folder / "results", FakeBenchmark(), found)


@pytest.fixture(scope="session", autouse=True)
def converted_guide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Convert the Markdown of one guide once, although tests build sites with empty caches."""
    convert, folder = guide._converted, of_session(tmp_path_factory) / "guide"
    if convert.__module__ != guide.__name__:  # several folders have this fixture, and a second lock would never open
        yield
        return
    folder.mkdir(exist_ok=True)

    def once() -> list[Page]:
        root = assets_root()
        texts = [root / "mkdocs.yml", *sorted((root / "site").rglob("*.md"))]
        kept = folder / digest_of([digest_bytes(text.read_bytes()) for text in texts]).removeprefix("sha256:")
        with locked(folder):
            if not kept.exists():
                kept.write_bytes(pickle.dumps(convert()))
        pages: list[Page] = pickle.loads(kept.read_bytes())
        return pages

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guide, "_converted", once)
        yield


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what a build makes from runs in a folder of the tests, and not in the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setattr(run_cache, "cache_home", lambda: folder)
        yield


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    with shared_board(tmp_path_factory) as board:
        yield board
