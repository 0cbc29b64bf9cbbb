"""The control of gaming: what it earns with any seed, and that it knows nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.beliefs.benchmark import BeliefsBenchmark
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.findings import Check
from memeval.evaluation.running import RunOptions, run_system
from memeval.evaluation.verification import checks_of_run
from memeval.records.scenario import Session, Turn
from memeval.systems import SystemProcess, session_json
from memeval.systems.controls import CONTROLS, all_controls, controls_of
from memeval.systems.source import control_source, find_system
from tests.systems.helpers import PATIENT

SLUG = "template-solver-1"
SAID = ("The violin case is under the stairs.", "We had soup.")


def run_of(seed: int, results: Path) -> RunFolder:
    session = BenchmarkSession.open(BeliefsBenchmark(), parameters={"size": 60, "seed": seed})
    return run_system(control_source(all_controls()[SLUG]), session, RunOptions(results=results))


def test_the_control_is_for_this_benchmark_alone() -> None:
    assert [slug for slug in controls_of("beliefs@1") if slug not in CONTROLS] == [SLUG]
    assert SLUG not in controls_of("beliefs@2")


@pytest.mark.parametrize("seed", [42, 7])
def test_the_template_solver_solves_all_it_can_with_any_seed(seed: int, tmp_path: Path) -> None:
    folder = run_of(seed, tmp_path)
    composite = folder.run.scores.composite.value
    assert composite is not None and composite > 0.85
    checks = {each.name: each for each in checks_of_run(folder)}
    assert checks["control"] == Check("control") and checks["system"] == Check("system")
    assert not any(each.findings for each in checks.values())


def test_what_the_template_solver_does_not_know_is_left_to_bm25_and_reset_clears_it() -> None:
    turns = [Turn(turn_id=f"s001:t{n:02d}", role="user", content=said, speaker="Ann") for n, said in enumerate(SAID, 1)]
    session = Session(session_id="s001", date="2025-01-02", turns=tuple(turns))
    with SystemProcess(find_system(SLUG).launch, PATIENT, print) as process:
        process.reset()
        process.ingest([(session_json(session), session.date)])
        assert process.ask("Where is the violin of Ann?").answer == SAID[0]
        process.reset()
        assert process.ask("Where is the violin of Ann?").answer == ""
