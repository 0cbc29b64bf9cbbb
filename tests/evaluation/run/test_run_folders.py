"""Ids of runs: no two runs of a results folder have the same one."""

from __future__ import annotations

import shutil
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.run_folders import start
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.records.journal import Plan
from memeval.records.run import Inputs
from memeval.systems.source import file_source
from tests.support.adapters import plain_adapter
from tests.support.runs import problems_in
from tests.support.tiny import TinyBenchmark


def stored(folder: Path) -> RunFolder:
    session = BenchmarkSession.open(TinyBenchmark(1, 1))
    return run_system(file_source(plain_adapter(folder)), session, RunOptions(results=folder / "results"))


def test_runs_of_two_systems_with_equal_inputs_have_different_ids(tmp_path: Path) -> None:
    run = stored(tmp_path).run
    plan = Plan(
        run_id=run.run_id,
        started=run.timing.started,
        inputs=Inputs.of(run.track, run.system, None),
        system=run.system,
        redistribution=run.redistribution,
        isolation=run.isolation,
        harness=run.harness,
    )
    ids = [start(tmp_path / "results" / "tiny" / slug, plan).name for slug in ("one", "two", "three")]
    assert len({*ids, run.run_id}) == 4


def test_two_runs_with_the_same_id_are_found(tmp_path: Path) -> None:
    run = stored(tmp_path)
    results = tmp_path / "results"
    assert problems_in(results) == []
    shutil.copytree(run.path, results / "tiny" / "twin" / run.path.name)
    assert any(f"has the same id {run.path.name}" in finding.problem for finding in problems_in(results))
