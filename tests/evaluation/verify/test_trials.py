"""A run of trials: its grades follow from its rows, and its faults and clocks are the runner's word."""

from pathlib import Path

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import run_system
from memeval.evaluation.verify.checks.controls import TRIALS
from memeval.evaluation.verify.rerun import rerun
from memeval.evaluation.verify.verification import checks_of_run
from memeval.options import RunOptions
from memeval.records.errors import BadInput, NotApplicable
from memeval.systems.source import find_system


def test_a_run_of_trials_is_verified_but_not_run_again(tmp_path: Path) -> None:
    session = BenchmarkSession.open(find("operations@1"), tier="quick")
    source = find_system("keeps-nothing")
    folder = run_system(source, session, RunOptions(results=tmp_path / "results", limit=2))
    assert [response.error for response in folder.responses()] == [None, None]
    assert [grade.verdict for grade in folder.grades()] == [False, False]
    assert "storage" in folder.run.system.capabilities
    checks = {check.name: check for check in checks_of_run(folder)}
    assert [check for check in checks.values() if check.findings] == []
    assert checks["control"].not_checked == TRIALS
    with pytest.raises(BadInput, match="one of trials"):
        rerun(folder, source)


def test_a_system_without_a_storage_folder_is_not_applicable(tmp_path: Path) -> None:
    session = BenchmarkSession.open(find("operations@1"), tier="quick")
    with pytest.raises(NotApplicable, match="bm25-texts has no 'storage', which the protocol 'durability' needs"):
        run_system(find_system("bm25-texts"), session, RunOptions(results=tmp_path / "results"))
