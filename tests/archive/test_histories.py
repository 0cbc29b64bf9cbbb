"""Runs of released versions are stored apart: no board of the results folder changes when they are added."""

from pathlib import Path

import pytest

from memeval.archive.histories import (
    history_faults,
    history_of_system,
    measured_runs,
    stored_histories,
    write_history,
)
from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder, find_run, history_runs, sealed_runs
from memeval.evaluation.verify.checks.files import check_files
from memeval.leaderboard.baselines import check_run
from memeval.leaderboard.board import build_board
from memeval.records.base import digest_of
from memeval.records.check import GateStatus
from memeval.records.errors import BadInput
from memeval.records.settings import CheckSettings
from tests.support.made_versions import Made, clustered, make_history
from tests.support.runs import edit_head, make_run

VERSIONS = (Made("1.0", None, 10), Made("1.5", None, None), Made("2.0", None, 45))


def test_a_history_comes_back_with_its_runs_and_its_gaps_in_order(tmp_path: Path) -> None:
    first, last = make_history(tmp_path, "acme", VERSIONS)
    (history,) = stored_histories(tmp_path)
    assert history_of_system(tmp_path, "acme") == history
    assert [each.version for each in history.versions] == ["1.0", "1.5", "2.0"]
    assert [(each.version, run and run.path) for each, _made, run in measured_runs(tmp_path, history)] == [
        ("1.0", first.path),
        ("2.0", last.path),
    ]
    assert not list(history_faults(tmp_path))
    assert history_of_system(tmp_path, "other") is None


def test_a_board_does_not_change_when_runs_of_released_versions_are_added(tmp_path: Path) -> None:
    for slug, right in (("acme", 30), ("beta", 20)):
        make_run(tmp_path, slug, {"kept": right})
    before = sealed_runs(tmp_path)
    board = build_board(before, Ledger(tmp_path))
    make_history(tmp_path, "acme", VERSIONS)
    assert [folder.path for folder in sealed_runs(tmp_path)] == [folder.path for folder in before]
    with_all = build_board([*sealed_runs(tmp_path), *history_runs(tmp_path)], Ledger(tmp_path))
    assert [(row.run.run_id, row.standing, row.rank) for row in with_all.runs] == [
        (row.run.run_id, row.standing, row.rank) for row in board.runs
    ]


def test_a_run_of_a_released_version_is_found_by_its_id(tmp_path: Path) -> None:
    old = make_history(tmp_path, "acme", VERSIONS)[0]
    assert find_run(tmp_path, old.path.name).path == old.path


def test_a_history_that_names_a_missing_or_changed_run_is_at_fault_and_so_is_a_run_that_none_names(
    tmp_path: Path,
) -> None:
    _first, second = make_history(tmp_path, "acme", VERSIONS)
    (history,) = stored_histories(tmp_path)
    *others, last = history.versions
    write_history(tmp_path, history.model_copy(update={"versions": tuple(others)}))
    (unnamed,) = history_faults(tmp_path)
    assert "names this run" in unnamed.problem
    assert unnamed.where == str(second.path)
    gone = last.runs[0].model_copy(update={"run_id": "20261101T-0"})
    for changed, problem in (
        ({"runs": (gone,)}, "which is missing"),
        ({"lock": digest_of("another lock")}, "its run.json differs"),
    ):
        altered = (*others, last.model_copy(update=changed))
        write_history(tmp_path, history.model_copy(update={"versions": altered}))
        assert any(problem in fault.problem for fault in history_faults(tmp_path))


def test_the_name_of_a_history_is_its_slug(tmp_path: Path) -> None:
    make_history(tmp_path, "acme", ())
    (tmp_path / "history" / "acme.json").rename(tmp_path / "history" / "beta.json")
    with pytest.raises(BadInput, match=r"beta\.json: is the history of 'acme'. Name it acme\.json"):
        stored_histories(tmp_path)


def test_verify_refuses_a_run_of_another_version_or_in_another_place(tmp_path: Path) -> None:
    right = make_history(tmp_path, "acme", VERSIONS)[0]
    assert not check_files(right).findings
    other = right.run.product_version
    assert other is not None
    wrong = edit_head(right, product_version=other.model_copy(update={"version": "3.0"}).data())
    assert any(
        "is acme-core 3.0, but the system is acme-core 1.0" in finding.problem
        for finding in check_files(wrong).findings
    )
    moved = tmp_path / "made-up" / "acme" / right.path.name
    moved.parent.mkdir(parents=True)
    edit_head(right, product_version=other.data()).path.rename(moved)
    assert any("belongs in history/acme/1.0" in finding.problem for finding in check_files(RunFolder(moved)).findings)


def test_a_run_is_checked_against_the_last_released_version(tmp_path: Path) -> None:
    _old, new = make_history(tmp_path, "acme", VERSIONS)
    proposed = make_run(tmp_path, "acme", {"kept": 5}, version="3.0", regraded=clustered)
    checked = check_run(proposed, tmp_path, CheckSettings(), "last-version")
    assert checked.baseline is not None
    assert (checked.baseline.kind, checked.baseline.runs) == ("last-version", (new.run.run_id,))
    assert checked.status is GateStatus.REGRESSION
    other = make_run(tmp_path, "beta", {"kept": 5})
    with pytest.raises(BadInput, match="no released version of 'beta' was measured on this track"):
        check_run(other, tmp_path, CheckSettings(), "last-version")
