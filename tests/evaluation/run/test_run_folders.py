"""Ids of runs: no two runs of a results folder have the same one."""

from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.run_folders import find_run_folder, start
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.execution.progress import Progress
from memeval.systems.source import file_source
from tests.support.adapters import plain_adapter
from tests.support.runs import plan_of
from tests.support.tiny import TinyBenchmark


def stored(folder: Path) -> RunFolder:
    session = BenchmarkSession.open(TinyBenchmark(1, 1))
    return run_system(file_source(plain_adapter(folder)), session, RunOptions(results=folder / "results"))


def test_runs_of_two_systems_with_equal_inputs_have_different_ids(tmp_path: Path) -> None:
    run = stored(tmp_path).run
    plan = plan_of(run)
    ids = [start(tmp_path / "results" / "tiny" / slug, plan).name for slug in ("one", "two", "three")]
    assert len({*ids, run.run_id}) == 4


def test_of_equal_unfinished_runs_the_newest_is_resumed(tmp_path: Path) -> None:
    plan = plan_of(stored(tmp_path).run)
    system_folder = tmp_path / "unfinished" / "tiny" / "plain"
    _, newest = (start(system_folder, plan) for _ in range(2))
    found = find_run_folder(system_folder, plan.inputs, replayed=False, retry_errors=False, progress=Progress())
    assert found == (newest, None)


def test_an_unfinished_run_of_another_protocol_is_not_in_the_way(tmp_path: Path) -> None:
    plan = plan_of(stored(tmp_path).run)
    system_folder = tmp_path / "unfinished" / "tiny" / "plain"
    start(system_folder, plan)
    track = plan.inputs.track.model_copy(update={"protocol": "another"})
    asked = plan.inputs.model_copy(update={"track": track})
    found = find_run_folder(system_folder, asked, replayed=False, retry_errors=False, progress=Progress())
    assert found == (None, None)
