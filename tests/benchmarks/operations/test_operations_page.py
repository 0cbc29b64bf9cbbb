"""site/operations.md: each count of trials in its table is that of an accepted run."""

import re

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.records.ledger import LedgerEvent
from memeval.records.run import Run
from tests.support.commands import ROOT

PAGE = (ROOT / "site" / "operations.md").read_text("utf-8")

SECTION = PAGE.partition("## What the stored runs show\n")[2].partition("\n## ")[0]

LINES = [line.strip("|").split("|") for line in SECTION.splitlines() if line.startswith("|")]

COLUMNS, _, *ROWS = [[cell.strip(" `") for cell in line] for line in LINES]

CELLS = [(row[0], protocol, cell) for row in ROWS for protocol, cell in zip(COLUMNS[1:], row[1:], strict=True) if cell]


@pytest.fixture(scope="module")
def counts() -> set[tuple[str, str, str]]:
    """System, protocol and count of trials without damage of each accepted run."""
    accepted = {entry.run_id for entry in Ledger(ROOT / "results").entries() if entry.event is LedgerEvent.ACCEPTED}
    runs = [RunFolder(file.parent).run for file in ROOT.glob("results/operations/*/*/run.json")]
    return {(run.system.slug, run.track.protocol, _count(run)) for run in runs if run.run_id in accepted}


def _count(run: Run) -> str:
    tallies = [category.tally for category in run.scores.categories]
    return f"{sum(each.correct for each in tallies)} of {sum(each.planned for each in tallies)}"


@pytest.mark.parametrize(("system", "protocol", "count"), CELLS)
def test_a_count_on_the_page_is_that_of_an_accepted_run(
    system: str, protocol: str, count: str, counts: set[tuple[str, str, str]]
) -> None:
    assert re.fullmatch(r"\d+ of \d+", count) and (system, protocol, count) in counts
