"""Runs of released versions are stored apart: no board of the results folder changes when they are added."""

from pathlib import Path

import pytest

from memeval.archive.histories import (
    history_faults,
    history_of_system,
    measured_runs,
    stored_histories,
    version_folder,
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
from memeval.records.history import (
    MeasuredVersion,
    PackageIndex,
    ProductVersion,
    VersionHistory,
    VersionOutcome,
    VersionRun,
)
from memeval.records.settings import CheckSettings
from memeval.records.submission import Product
from tests.support.runs import edit_head, make_run

LOCK = digest_of("the lock")


def run_of_version(results: Path, version: str, right: int, day: int, slug: str = "acme") -> RunFolder:
    product = Product(name="Acme", package="acme", version=version)
    stated = ProductVersion(
        package="acme", version=version, index=PackageIndex.PYPI, released=None, form="adapter.py", lock=LOCK
    )
    folder = make_run(
        version_folder(results, slug, version),
        slug,
        {"kept": right},
        started=f"2026-11-{day:02}T10:00:00.000+00:00",
        product=product,
    )
    return edit_head(folder, product_version=stated.data())


def measured(folder: RunFolder) -> MeasuredVersion:
    run = folder.run
    assert run.product_version is not None
    track = run.track
    made = VersionRun(benchmark=track.benchmark, protocol=track.protocol, tier=track.tier, run_id=run.run_id)
    stated = run.product_version
    return MeasuredVersion(
        version=stated.version, released=None, outcome=VersionOutcome.RAN, lock=stated.lock, runs=(made,)
    )


def history(*versions: MeasuredVersion, slug: str = "acme") -> VersionHistory:
    return VersionHistory(
        slug=slug,
        product="Acme",
        package="acme",
        index=PackageIndex.PYPI,
        dated=False,
        known_versions=len(versions),
        versions=versions,
    )


def test_a_history_comes_back_with_its_runs_and_its_gaps_in_order(tmp_path: Path) -> None:
    first, last = run_of_version(tmp_path, "1.0", 10, 1), run_of_version(tmp_path, "2.0", 40, 2)
    gap = MeasuredVersion(
        version="1.5", released=None, outcome=VersionOutcome.NOT_RESOLVED, reason="acme 1.5 needs a compiler."
    )
    written = history(measured(first), gap, measured(last))
    write_history(tmp_path, written)
    assert history_of_system(tmp_path, "acme") == written
    assert stored_histories(tmp_path) == [written]
    assert [(each.version, run and run.path) for each, _made, run in measured_runs(tmp_path, written)] == [
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
    run_of_version(tmp_path, "1.0", 50, 20)
    assert [folder.path for folder in sealed_runs(tmp_path)] == [folder.path for folder in before]
    with_all = build_board([*sealed_runs(tmp_path), *history_runs(tmp_path)], Ledger(tmp_path))
    assert [(row.run.run_id, row.standing, row.rank) for row in with_all.runs] == [
        (row.run.run_id, row.standing, row.rank) for row in board.runs
    ]


def test_a_run_of_a_released_version_is_found_by_its_id(tmp_path: Path) -> None:
    old = run_of_version(tmp_path, "1.0", 50, 20)
    assert find_run(tmp_path, old.path.name).path == old.path


def test_a_history_that_names_a_missing_or_changed_run_is_at_fault_and_so_is_a_run_that_none_names(
    tmp_path: Path,
) -> None:
    first, second = run_of_version(tmp_path, "1.0", 10, 1), run_of_version(tmp_path, "2.0", 40, 2)
    write_history(tmp_path, history(measured(first)))
    (unnamed,) = history_faults(tmp_path)
    assert "names this run" in unnamed.problem
    assert unnamed.where == str(second.path)
    gone = measured(second).model_copy(
        update={"runs": (VersionRun(benchmark="made-up@1", protocol="judge", tier="full", run_id="20261101T-0"),)}
    )
    other = measured(second).model_copy(update={"lock": digest_of("another lock")})
    write_history(tmp_path, history(measured(first), gone))
    assert any("which is missing" in fault.problem for fault in history_faults(tmp_path))
    write_history(tmp_path, history(measured(first), other))
    assert any("its run.json differs" in fault.problem for fault in history_faults(tmp_path))


def test_the_name_of_a_history_is_its_slug(tmp_path: Path) -> None:
    path = write_history(tmp_path, history())
    path.rename(path.with_name("beta.json"))
    with pytest.raises(BadInput, match=r"beta\.json: is the history of 'acme'. Name it acme\.json"):
        stored_histories(tmp_path)


def test_verify_refuses_a_run_of_another_version_or_in_another_place(tmp_path: Path) -> None:
    right = run_of_version(tmp_path, "1.0", 10, 1)
    assert not check_files(right).findings
    other = right.run.product_version
    assert other is not None
    wrong = edit_head(right, product_version=other.model_copy(update={"version": "3.0"}).data())
    assert any("is acme 3.0, but the system is acme 1.0" in finding.problem for finding in check_files(wrong).findings)
    moved = tmp_path / "made-up" / "acme" / right.path.name
    moved.parent.mkdir(parents=True)
    edit_head(right, product_version=other.data()).path.rename(moved)
    assert any("belongs in history/acme/1.0" in finding.problem for finding in check_files(RunFolder(moved)).findings)


def test_a_run_is_checked_against_the_last_released_version(tmp_path: Path) -> None:
    old, new = run_of_version(tmp_path, "1.0", 10, 1), run_of_version(tmp_path, "2.0", 45, 2)
    write_history(tmp_path, history(measured(old), measured(new)))
    proposed = make_run(tmp_path, "acme", {"kept": 5}, version="3.0")
    checked = check_run(proposed, tmp_path, CheckSettings(), "last-version")
    assert checked.baseline is not None
    assert (checked.baseline.kind, checked.baseline.runs) == ("last-version", (new.run.run_id,))
    assert checked.status is GateStatus.REGRESSION
    other = make_run(tmp_path, "beta", {"kept": 5})
    with pytest.raises(BadInput, match="no released version of 'beta' was measured on this track"):
        check_run(other, tmp_path, CheckSettings(), "last-version")
