"""Runs that are killed or disturbed while questions and judgments are in flight have the rows of a calm run."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from bench.chaos import calm_run, chaos, difference
from bench.chaos_parts import Disturbed, Judge, Setting
from bench.many_machines import kills
from memeval.archive.runs import sealed_runs
from tests.support.waiting import wait_until


@pytest.fixture
def judge() -> Iterator[Judge]:
    server = Judge(fails=False)
    server.start()
    yield server
    server.kill()


def has_stored(setting: Setting, rows: int) -> bool:
    journals = setting.results.glob("*/*/*/journal/responses.jsonl")
    return sum(path.read_bytes().count(b"\n") for path in journals) >= rows


def test_a_run_killed_with_calls_in_flight_ends_with_the_rows_of_a_calm_one(tmp_path: Path, judge: Judge) -> None:
    calm = calm_run(Setting(tmp_path / "calm", 1, judge.port))
    setting = Setting(tmp_path / "run", 4, judge.port)
    for rows in (1, 8, 16):
        child = Disturbed(setting, 8)
        wait_until(partial(has_stored, setting, rows))
        child.kill()
        assert child.wait() == -9, "the kill came too late to disturb anything"
    assert Disturbed(setting, 8).wait() == 0, setting.log()
    (run,) = sealed_runs(setting.results)
    assert difference(run, calm) == ""
    assert run.run.coverage.full


def test_disturbed_runs_have_the_rows_of_a_calm_one(tmp_path: Path) -> None:
    assert chaos([3, 4], tmp_path, clusters=False) == []


def test_runs_whose_dask_worker_is_killed_in_the_middle_have_the_rows_of_this_machine(tmp_path: Path) -> None:
    assert kills(tmp_path, seed=7, runs=2)
