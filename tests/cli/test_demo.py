"""``make demo``: its own runs beside the stored board, in one results folder whose ledger holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from memeval import api
from memeval.archive.ledger import Ledger
from memeval.archive.runs import sealed_runs
from memeval.cli.demo import assemble
from memeval.cli.recording import verify_and_record
from memeval.execution.progress import Bar


def run(results: Path, system: str) -> None:
    """Make a small run."""
    api.run(system, "beliefs@1", parameters={"size": 12}, options=api.RunOptions(results=results))


def test_the_board_of_the_demo_holds_stored_and_own_runs_under_one_ledger(tmp_path: Path) -> None:
    stored, own, board = tmp_path / "results", tmp_path / "own", tmp_path / "board"
    for results, system in ((stored, "no-memory"), (own, "echo-question")):
        run(results, system)
        verify_and_record(results, sealed_runs(results), by="a test")
    before = (stored / "ledger.jsonl").read_bytes()
    for _ in range(2):  # a second demo makes the same board
        assemble(stored, own, board)
        assert {each.run.system.slug for each in sealed_runs(board)} == {"no-memory", "echo-question"}
        assert len(Ledger(board).entries()) == 2
        assert api.verify(board) == []
        assert (board / "ledger.jsonl").read_bytes().startswith(before)
    assert (stored / "ledger.jsonl").read_bytes() == before


def test_the_board_of_the_demo_keeps_matrices_and_imported_answers_and_no_unfinished_run(tmp_path: Path) -> None:
    stored, own, board = tmp_path / "results", tmp_path / "own", tmp_path / "board"
    kept = "matrices/small-01234567/matrix.json", "imported/acme/rows.jsonl", "sources/acme/adapter.py"
    for name in (*kept, "beliefs/acme/20260101T000000Z-01234567/journal/plan.json"):
        (stored / name).parent.mkdir(parents=True)
        (stored / name).write_text(name)
    run(own, "no-memory")
    assemble(stored, own, board)
    assert [(board / name).read_text() for name in kept] == [*kept]
    assert not list(board.rglob("journal"))
    assert len(sealed_runs(board)) == 1


def test_a_demo_without_stored_runs_shows_its_own(tmp_path: Path) -> None:
    run(tmp_path / "own", "no-memory")
    assemble(tmp_path / "missing", tmp_path / "own", tmp_path / "board")
    assert len(sealed_runs(tmp_path / "board")) == 1
    assert Ledger(tmp_path / "board").entries() == []


def test_a_warning_that_every_run_gives_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar() as progress:
        for number in range(3):
            progress.start(f"run {number}", 1, 0)
            progress.note("NO SANDBOX")
            progress.note(f"run {number} reused")
            progress.stop()
    assert capsys.readouterr().err.splitlines() == ["NO SANDBOX", *(f"run {number} reused" for number in range(3))]
