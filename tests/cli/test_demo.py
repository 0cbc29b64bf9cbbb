"""``make demo``: its own runs beside the stored runs of the same tables, in one results folder whose ledger holds."""

from pathlib import Path

import pytest

from memeval import api
from memeval.archive.ledger import Ledger
from memeval.archive.runs import sealed_runs
from memeval.cli.demo import CONTROLS, assemble, quick_runs
from memeval.cli.results import Recording, record
from memeval.execution.progress import Bar
from memeval.local import is_local


def run(results: Path, system: str, size: int = 12) -> None:
    """Make a small run; runs of different sizes are on different tables."""
    api.run(system, "beliefs@2", parameters={"size": size}, options=api.RunOptions(results=results))


def tracks(*folders: Path) -> set[str]:
    return {each.run.track_id for folder in folders for each in sealed_runs(folder)}


def test_the_board_of_the_demo_holds_stored_and_own_runs_under_one_ledger(tmp_path: Path) -> None:
    stored, own, board = tmp_path / "results", tmp_path / "own", tmp_path / "board"
    for results, system in ((stored, "no-memory"), (own, "echo-question")):
        run(results, system)
        record(sealed_runs(results), Recording(results, by="a test"))
    before = (stored / "ledger.jsonl").read_bytes()
    for _ in range(2):  # a second demo makes the same board
        assemble(stored, own, board, tracks(stored, own))
        assert {each.run.system.slug for each in sealed_runs(board)} == {"no-memory", "echo-question"}
        assert len(Ledger(board).entries()) == 2
        assert api.verify(board) == []
    assert (stored / "ledger.jsonl").read_bytes() == before


def test_stored_runs_of_other_tables_and_what_the_ledger_says_of_them_stay_out(tmp_path: Path) -> None:
    stored, own, board = tmp_path / "results", tmp_path / "own", tmp_path / "board"
    for results, size in ((stored, 12), (stored, 13), (own, 12)):
        run(results, "no-memory" if results is stored else "echo-question", size)
    for results in (stored, own):
        record(sealed_runs(results), Recording(results, by="a test"))
    report = stored / "conformance" / "acme.json"
    report.parent.mkdir()
    report.write_text("{}")
    answers = stored / "imported" / "acme" / "rows.jsonl"
    answers.parent.mkdir(parents=True)
    answers.write_text("{}")
    assemble(stored, own, board, tracks(own))
    assert [each.run.track_id for each in sealed_runs(board)] == [*tracks(own)] * 2
    assert {entry.run_id for entry in Ledger(board).entries()} == {each.run.run_id for each in sealed_runs(board)}
    assert (board / "conformance" / "acme.json").is_file()
    assert not (board / "imported").exists()


def test_a_demo_without_stored_runs_shows_its_own_but_no_unfinished_one(tmp_path: Path) -> None:
    own, board = tmp_path / "own", tmp_path / "board"
    run(own, "no-memory")
    for journal in (own / "beliefs" / "acme" / "20260101T000000Z-01234567", sealed_runs(own)[0].path):
        (journal / "journal").mkdir(parents=True)
        (journal / "journal" / "plan.json").write_text("{}")
    assemble(tmp_path / "missing", own, board, tracks(own))
    assert len(sealed_runs(board)) == 1
    assert not list(board.rglob("journal"))
    assert Ledger(board).entries() == []


def test_a_warning_that_every_run_gives_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar() as progress:
        for number in range(3):
            progress.start(f"run {number}", 1, 0)
            progress.note("NO SANDBOX")
            progress.note(f"run {number} reused")
            progress.stop()
    assert capsys.readouterr().err.splitlines() == ["NO SANDBOX", *(f"run {number} reused" for number in range(3))]


def test_the_demo_runs_a_floor_a_ceiling_and_simple_baselines_under_each_protocol() -> None:
    runs = {(run.protocol, source.slug) for run in quick_runs() if not isinstance(source := run.system, str)}
    assert {("judge", slug) for slug in (*CONTROLS, "notebook")} <= runs
    assert {("retrieval", "no-memory"), ("retrieval", "bm25")} <= runs
    assert len(quick_runs()) < 15
    assert not [run for run in quick_runs() if is_local(run.reader or "")], "no demo waits for a language model"
