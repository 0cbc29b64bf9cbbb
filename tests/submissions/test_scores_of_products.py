"""The scores on the page of products, which are written by hand, are those of the stored runs."""

import re
from itertools import groupby
from pathlib import Path

import pytest

from memeval.analysis.comparing import compare_runs
from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder, sealed_runs
from memeval.records.ledger import LedgerEvent

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"
PAGE = (ROOT / "site" / "products.md").read_text("utf-8")
ID = r"\d{8}T\d{6}Z-[0-9a-f]{8}"
ROW = re.compile(rf"^\| [^|]+ \| `({ID})` \| ([^|]+) \| ([^|]+) \|$")
BASELINES = re.findall(rf"run of `bm25` is `({ID})`, with ([^\]]+\])", PAGE)
TABLES = [
    [match.groups() for match in rows if match]
    for is_row, rows in groupby(map(ROW.match, PAGE.splitlines()), key=bool)
    if is_row
]
RUNS = {folder.path.name: folder for folder in sealed_runs(RESULTS)}


def measured(folder: RunFolder) -> str:
    """Return the composite of a run, as the page has it."""
    composite = folder.run.scores.composite
    assert composite.value is not None and composite.interval is not None
    return written(composite.value, composite.interval.low, composite.interval.high)


def written(value: float, low: float, high: float, sign: str = "") -> str:
    """Return a share in percent with its interval."""
    return f"{100 * value:{sign}.1f} [{100 * low:{sign}.1f}, {100 * high:{sign}.1f}]"


def test_the_page_has_a_table_for_each_baseline() -> None:
    assert len(TABLES) == len(BASELINES) == 2
    assert min(map(len, TABLES)) >= 6


@pytest.mark.parametrize(("baseline", "table"), list(zip(BASELINES, TABLES, strict=True)))
def test_scores_and_differences_are_those_of_the_runs(
    baseline: tuple[str, str], table: list[tuple[str, str, str]]
) -> None:
    first, score = baseline
    assert score == measured(RUNS[first])
    assert [score for _run, score, _difference in table] == [measured(RUNS[run]) for run, _score, _difference in table]
    pairs = compare_runs([RUNS[first], *(RUNS[run] for run, _score, _difference in table)]).pairs
    for (_run, _score, difference), pair in zip(table, pairs, strict=True):
        found = pair.overall
        assert found is not None and found.low is not None and found.high is not None
        assert difference == f"{written(found.difference, found.low, found.high, '+')} {found.sign}"


def test_every_run_on_the_page_is_accepted() -> None:
    accepted = {entry.run_id for entry in Ledger(RESULTS).entries() if entry.event is LedgerEvent.ACCEPTED}
    assert {run for table in TABLES for run, _score, _difference in table} <= accepted
