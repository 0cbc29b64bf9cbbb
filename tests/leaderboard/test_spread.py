"""The scores of several runs of one system, beside its rank."""

from pathlib import Path
from typing import Any

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.leaderboard.board import BoardRow, Spread, build_board
from memeval.records.ledger import LedgerEvent
from memeval.site.table.standings import RANK, spread_text
from tests.support.runs import edit_head, make_run


def ran(results: Path, day: int, kept: int = 30, **how: Any) -> RunFolder:
    return make_run(results, "acme", {"kept": kept, "changed": 30}, started=f"2026-11-{day:02}T10:00:00+00:00", **how)


def shown(results: Path, *folders: RunFolder) -> BoardRow:
    others = make_run(results, "other", {"kept": 10})
    folders = (*(RunFolder(folder.path) for folder in folders), others)
    (table,) = build_board(folders, Ledger(results), compare_responses=False).tables
    return next(row for row in table.rows if row.run.system.slug == "acme")


def test_the_lowest_and_the_highest_score_stand_beside_the_rank_of_the_newest_run(tmp_path: Path) -> None:
    runs = [ran(tmp_path, 1, 33), ran(tmp_path, 2, 31), ran(tmp_path, 3, 32)]
    row = shown(tmp_path, *runs)
    assert row.run.run_id == runs[2].run.run_id
    scores = [run.run.scores.composite.value or 0.0 for run in runs]
    assert row.spread == Spread(3, scores[1], scores[0])
    note = RANK.read(row).note
    assert note is not None and note.endswith(f"3 runs, {100 * scores[1]:.1f} to {100 * scores[0]:.1f}")


@pytest.mark.parametrize(
    ("spread", "text"),
    [
        (Spread(3, 0.612, 0.63), "3 runs, 61.2 to 63.0"),
        (Spread(2, 0.5, 0.5), "2 runs, all 50.0"),
        (Spread(2, 0.5, 0.50001), "2 runs, all 50.0"),
    ],
)
def test_a_spread_is_written_with_the_digits_of_scores(spread: Spread, text: str) -> None:
    assert spread_text(spread) == text


def test_a_system_that_ran_once_has_no_spread(tmp_path: Path) -> None:
    row = shown(tmp_path, ran(tmp_path, 1))
    assert row.spread is None and "runs" not in (RANK.read(row).note or "")


def test_another_system_with_the_same_files_is_no_repetition(tmp_path: Path) -> None:
    run = ran(tmp_path, 1)
    other = edit_head(make_run(tmp_path, "twin", {"kept": 1}), fingerprint=run.run.fingerprint)
    assert shown(tmp_path, run, other).spread is None


def test_another_version_is_no_repetition(tmp_path: Path) -> None:
    assert shown(tmp_path, ran(tmp_path, 1, 10, version="0.9"), ran(tmp_path, 2)).spread is None


def test_replayed_and_partial_runs_do_not_count(tmp_path: Path) -> None:
    replayed = edit_head(ran(tmp_path, 1, 10), replayed=True)
    assert shown(tmp_path, replayed, ran(tmp_path, 2, 10, done=20), ran(tmp_path, 3)).spread is None


def test_an_invalidated_run_does_not_count(tmp_path: Path) -> None:
    runs = [ran(tmp_path, 1, 10), ran(tmp_path, 2), ran(tmp_path, 3)]
    Ledger(tmp_path).append(LedgerEvent.INVALIDATED, runs[0], by="me", reason="a wrong key")
    spread = shown(tmp_path, *runs).spread
    assert spread is not None and spread.runs == 2 and spread.low == spread.high


def test_a_run_that_nobody_accepted_does_not_widen_the_scores_of_accepted_runs(tmp_path: Path) -> None:
    accepted = [ran(tmp_path, 1, 31), ran(tmp_path, 2, 32)]
    for run in accepted:
        Ledger(tmp_path).append(LedgerEvent.ACCEPTED, run, by="me", reason="looked at")
    row = shown(tmp_path, *accepted, ran(tmp_path, 3, 1))
    low, high = (run.run.scores.composite.value for run in accepted)
    assert row.accepted and row.spread is not None
    assert (row.spread.runs, row.spread.low, row.spread.high) == (2, low, high)
