"""The runs that ``bench.many_runs`` makes are runs in which both commands find no problem."""

from pathlib import Path

from bench.many_runs import made, stored_on
from memeval.archive.ledger import Ledger
from memeval.archive.runs import runs_under
from memeval.evaluation.verify.many_runs import reproduced_runs
from memeval.evaluation.verify.stored_results import checks_of_results


def test_copies_of_stored_runs_verify_and_reproduce(tmp_path: Path) -> None:
    stored = stored_on("qa-smoke@1", "ask-basic", "full")[:2]
    made(stored, 5, tmp_path / "results")
    folders = runs_under(tmp_path / "results")
    assert len({folder.path.name for folder in folders}) == 5
    assert len(Ledger(tmp_path / "results").entries()) == 5
    assert [finding for check in checks_of_results(tmp_path / "results") for finding in check.findings] == []
    assert [outcome.findings for outcome in reproduced_runs(folders)] == [()] * 5
