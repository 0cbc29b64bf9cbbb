"""One built board for the tests that only look at it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.records.ledger import Deed, Runner
from memeval.site import build
from tests.site.factory import FakeBenchmark, make_board


@dataclass(frozen=True)
class Built:
    """A built site and what it was built from."""

    out: Path
    results: Path
    benchmark: FakeBenchmark
    runs: list[RunFolder]

    def read(self, path: str) -> str:
        return (self.out / path).read_text(encoding="utf-8")


def build_board(folder: Path, benchmark: FakeBenchmark) -> Built:
    """Make runs and a ledger, and build the site from them."""
    results, out = folder / "results", folder / "site"
    runs = make_board(results, benchmark)
    ledger = Ledger(results)
    ledger.append(Deed.ACCEPTED, runs[0], by="maintainer", reason="A pull request.", runner=Runner.MAINTAINER)
    ledger.append(Deed.REPRODUCED, runs[0], by="maintainer", reason="Graded again, equal.")
    ledger.append(Deed.SUPERSEDED, runs[1], by="maintainer", reason="A later version.", other=runs[0])
    build(results, out, find=lambda _name: benchmark)
    return Built(out, results, benchmark, runs)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Return a site over a board with every kind of row."""
    return build_board(tmp_path_factory.mktemp("board"), FakeBenchmark())
