"""site/operations.md: the counts and the measurements in its tables are those of accepted runs."""

import gzip
import json
import re
from pathlib import Path

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.records.ledger import LedgerEvent
from memeval.records.run import Run
from tests.support.commands import ROOT

PAGE = (ROOT / "site" / "operations.md").read_text("utf-8")


def _table(heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading, without the line under its own head."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    head, _, *rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip(" `") for cell in line] for line in (head, *rows)]


COLUMNS, *ROWS = _table("What the stored runs show")

GROWN = {row[0]: row[1:] for row in _table("Towards a hundred thousand texts")[1:]}

CELLS = [(row[0], protocol, cell) for row in ROWS for protocol, cell in zip(COLUMNS[1:], row[1:], strict=True) if cell]


@pytest.fixture(scope="module")
def accepted() -> list[tuple[Path, Run]]:
    """Return the accepted runs, each with its folder."""
    known = {entry.run_id for entry in Ledger(ROOT / "results").entries() if entry.event is LedgerEvent.ACCEPTED}
    runs = [(file.parent, RunFolder(file.parent).run) for file in ROOT.glob("results/operations/*/*/run.json")]
    return [(folder, run) for folder, run in runs if run.run_id in known]


@pytest.fixture(scope="module")
def counts(accepted: list[tuple[Path, Run]]) -> set[tuple[str, str, str]]:
    """System, protocol and count of trials without damage of each accepted run."""
    return {(run.system.slug, run.track.protocol, _count(run)) for _, run in accepted}


def _count(run: Run) -> str:
    tallies = [category.tally for category in run.scores.categories]
    return f"{sum(each.correct for each in tallies)} of {sum(each.planned for each in tallies)}"


@pytest.mark.parametrize(("system", "protocol", "count"), CELLS)
def test_a_count_on_the_page_is_that_of_an_accepted_run(
    system: str, protocol: str, count: str, counts: set[tuple[str, str, str]]
) -> None:
    assert re.fullmatch(r"\d+ of \d+", count) and (system, protocol, count) in counts


def test_the_growth_on_the_page_is_that_of_the_accepted_runs(accepted: list[tuple[Path, Run]]) -> None:
    full = [(folder, run) for folder, run in accepted if (run.track.protocol, run.track.tier) == ("growth", "full")]
    assert {run.system.slug: _last(folder) for folder, run in full} == GROWN


def _last(folder: Path) -> list[str]:
    """Return the last measurement of a store and of SQLite beside it, as cells."""
    with gzip.open(folder / "responses.jsonl.gz", "rt", encoding="utf-8") as lines:
        answers = {row["item_id"]: row["answer"] for row in map(json.loads, lines)}
    seen = json.loads(answers["grows-far-1"])
    ours, theirs = seen["points"][-1], seen["control"][-1]
    cells = [f"{ours['size']:,}"]
    for name in ("search_seconds", "write_seconds"):
        cells += [f"{seconds * 1000:,.{0 if seconds >= 0.01 else 1}f}" for seconds in (ours[name], theirs[name])]
    return [*cells, f"{ours['disk_bytes'] / ours['size']:,.0f}", f"{ours['memory_bytes'] / 1e6:,.0f}"]
