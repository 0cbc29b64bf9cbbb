"""Histories of a made product under faults: kills, a full disk, old stores, no dates; and on a cluster."""

import json
import random
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.histories import history_faults, measured_runs
from memeval.evaluation.history.locking import UNDATED
from memeval.execution.trials.disks import small_disk, why_no_mount
from memeval.records.history import VersionOutcome
from tests.evaluation.history.products import NEW, stored
from tests.evaluation.history.test_measuring import COMMAND, index, of
from tests.support.calling import Call
from tests.support.commands import start
from tests.support.package_index import Index, Made

__all__ = ["index"]

KILLS = 20

TWO = ("--versions", "1.1,2.1")

needs_mount = pytest.mark.skipif(why_no_mount() is not None, reason=f"no small disk here: {why_no_mount()}")


def kept(folder: Path) -> dict[str, Any]:
    """Return what two histories of the same versions have in common, by version: all but times and places."""
    history = stored(folder)
    runs = {version.version: run.run for version, _made, run in measured_runs(folder / "results", history) if run}
    assert not list(history_faults(folder / "results"))
    assert not list((folder / "results").rglob("journal"))
    return {
        each.version: (
            each.outcome,
            each.lock,
            each.form,
            [(made.benchmark, made.protocol, made.tier) for made in each.runs],
            runs[each.version].fingerprint,
            runs[each.version].responses_digest,
            {
                name: file.digest
                for name, file in runs[each.version].files.items()
                if name in ("contexts.jsonl", "grades.jsonl", "failures.jsonl")
            },
        )
        for each in history.versions
    }


@pytest.mark.slow
def test_a_history_killed_twenty_times_has_the_runs_of_one_that_was_not(
    index: Index, call: Call, tmp_path: Path
) -> None:
    began = time.monotonic()
    assert call(*COMMAND, *TWO).code == 0
    whole = time.monotonic() - began
    expected = kept(tmp_path)
    shutil.move(tmp_path / "results", tmp_path / "whole")
    dice, kills = random.Random(44), 0
    while kills < KILLS:
        started = start(*COMMAND, *TWO, where=tmp_path)
        end = time.monotonic() + dice.uniform(0, whole / 4)
        while started.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        if started.poll() is None:
            started.kill()
            kills += 1
        else:  # it was through: another history begins
            assert started.said().code == 0
            assert kept(tmp_path) == expected
            shutil.rmtree(tmp_path / "results")
    said = call(*COMMAND, *TWO)
    assert said.code == 0, said.err
    assert kept(tmp_path) == expected


@pytest.mark.slow
def test_a_history_on_a_cluster_has_the_runs_of_one_on_this_machine(index: Index, call: Call, tmp_path: Path) -> None:
    from distributed import LocalCluster

    assert call(*COMMAND, *TWO).code == 0
    expected = kept(tmp_path)
    shutil.move(tmp_path / "results", tmp_path / "local")
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        said = call(*COMMAND, *TWO, "--executor", "dask", "--scheduler", cluster.scheduler_address)
    assert said.code == 0, said.err
    assert kept(tmp_path) == expected


STORING = """
import pathlib

VERSION, written = {version!r}, []
for place in (pathlib.Path.home(), pathlib.Path.cwd()):
    store = place / "keepsake.store"
    if store.exists() and store.read_text() != VERSION:
        raise RuntimeError(f"the store is of keepsake {{store.read_text()}}")
    try:
        store.write_text(VERSION)
        written.append(store)
    except OSError:
        pass
if not written:
    raise RuntimeError("keepsake can store nothing")
"""
"""A product that refuses the store of another version, wherever it finds one."""


@pytest.mark.parametrize("sandbox", ["auto", "none"])
def test_no_version_finds_the_store_of_another(index: Index, call: Call, tmp_path: Path, sandbox: str) -> None:
    index.packages["keepsake"] = [
        Made(version, day, NEW + STORING.format(version=version), ["helper<2"])
        for version, day in (("2.0", "2025-11-10"), ("2.1", "2026-02-10"))
    ]
    said = call(*COMMAND, "--versions", "2.0,2.1", "--sandbox", sandbox)
    assert said.code == 0, said.err
    assert {each.version: (each.outcome, each.reason) for each in stored(tmp_path).versions} == {
        "2.0": (VersionOutcome.RAN, None),
        "2.1": (VersionOutcome.RAN, None),
    }


def test_without_dates_the_lock_is_of_today_and_the_row_says_so(index: Index, call: Call, tmp_path: Path) -> None:
    index.dated = False
    said = call(*COMMAND, "--versions", "1.0,2.1", "--every", "year")
    assert "its dates do not rise with the versions, so --every has no effect" in said.err
    assert "(dates unknown: ordered by version)" in said.err
    assert said.code == 0, said.err
    ran = of(tmp_path, "2.1")
    assert (ran.outcome, ran.released, stored(tmp_path).dated) == (VersionOutcome.RAN, None, False)
    assert ran.substituted == (UNDATED,)
    assert "2.1          date unknown" in said.out
    # 1.0 needs a helper of its day, and gets today's: a gap that names its reason
    assert of(tmp_path, "1.0").outcome in (VersionOutcome.NOT_LOADED, VersionOutcome.FAILED_CONFORMANCE)


def test_a_prerelease_runs_by_name_with_its_own_form(index: Index, call: Call, tmp_path: Path) -> None:
    said = call(*COMMAND, "--versions", "2.0a1")
    assert said.code == 0, said.err
    assert (of(tmp_path, "2.0a1").outcome, of(tmp_path, "2.0a1").released) == (VersionOutcome.RAN, "2025-10-20")


@needs_mount
@pytest.mark.slow
def test_a_disk_that_is_full_at_the_ninth_version_loses_no_other(
    index: Index, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = NEW + f"\nBLOB = '{random.Random(9).randbytes(12_000_000).hex()}'\n"
    index.packages["keepsake"] = [
        Made(f"{number}.0", f"2025-0{number}-01", large if number == 9 else NEW, ["helper<2"])
        for number in range(1, 10)
    ]
    index.packages["helper"] = [Made("1.0", "2024-12-01", "MOST = 50")]
    versions = ("--versions", ",".join(f"{number}.0" for number in range(1, 10)))
    words = (*COMMAND, *versions, "--skip-conformance", "--limit", "2")
    (tmp_path / "submissions/keeper/history/history.toml").write_text('schema_version = 1\nbrings = ["brought"]\n')
    with small_disk(tmp_path, 16) as disk:
        monkeypatch.setenv("MEMEVAL_CACHE", str(disk))
        said = call(*words)
        assert (said.code, "the disk is full" in said.err) == (2, True), said.err
        before = stored(tmp_path)
        assert [each.outcome for each in before.versions] == [*[VersionOutcome.RAN] * 8, VersionOutcome.UNFINISHED]
        subprocess.run(["mount", "-o", "remount,size=128m", str(disk)], check=True)
        said = call(*words)
        assert said.code == 0, said.err
    after = stored(tmp_path)
    assert after.versions[:8] == before.versions[:8]
    assert (after.versions[8].outcome, after.versions[8].lock) == (VersionOutcome.RAN, before.versions[8].lock)


@pytest.mark.slow
def test_a_change_is_compared_with_the_last_release_that_was_measured(index: Index, call: Call, tmp_path: Path) -> None:
    home = tmp_path / "submissions/keeper"
    open_to_all = ("--sandbox", "none")
    folders = ("--to", "results", "--results", "results", "--baseline", "last-version")
    words = ("evaluate", "--systems", str(home), "--benchmarks", "qa-smoke@1", "--json", *folders, *open_to_all)
    assert call("history", str(home), "--benchmark", "qa-smoke@1//full", "--versions", "2.1", *open_to_all).code == 0
    (lock,) = (tmp_path / "results/history/keeper/2.1/sources").rglob("requirements.lock")
    shutil.copy(lock, home)
    said = call(*words)
    assert said.code == 0, said.err
    (release,) = (run for _version, _made, run in measured_runs(tmp_path / "results", stored(tmp_path)) if run)
    assert json.loads(said.out)[0]["checks"][0]["baseline"] == {
        "kind": "last-version",
        "runs": [release.run.run_id],
        "thin": False,
    }
    adapter = home / "adapter.py"
    adapter.write_text(adapter.read_text().replace("found[:k]", "found[:0]"))
    said = call(*words)
    assert (said.code, "Regression: composite" in said.err) == (1, True), said.err
