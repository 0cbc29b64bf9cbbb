"""No word of a withheld benchmark is in a file of a run, whatever the system returns."""

from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.benchmarks.base import Dataset
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.systems.controls import CONTROLS
from memeval.systems.source import control_source
from tests.benchmarks.factconsolidation import made as facts
from tests.benchmarks.vehiclemembench import made as vehicle
from tests.evaluation.withhold.test_words_kept_out import parrot, stretches, told_by

NAMES = ("factconsolidation@1", "vehiclemembench@1")


def opened(name: str, folder: Path, protocol: str) -> BenchmarkSession:
    answers = protocol != "retrieval"
    data: Dataset = facts.dataset(answers=answers) if name == NAMES[0] else vehicle.dataset(folder, calls=answers)
    benchmark = find(name)
    made = BenchmarkSession(benchmark, data, protocol, "full")
    assert benchmark.info.redistribution == "ids" and stretches(made)
    return made


@pytest.mark.parametrize(("name", "protocol"), [(NAMES[0], "answers"), (NAMES[1], "calls")])
def test_a_system_that_repeats_everything_leaves_no_word(tmp_path: Path, name: str, protocol: str) -> None:
    session = opened(name, tmp_path / "data", protocol)
    options = RunOptions(results=tmp_path / "results", protocol=protocol, reader="native")
    run = run_system(parrot(tmp_path), session, options)
    assert run.run.coverage.done == len(session.keys)
    assert not list(told_by(tmp_path / "results", session))


@pytest.mark.parametrize("name", NAMES)
def test_turns_of_a_key_are_stored_by_their_ordinals(tmp_path: Path, name: str) -> None:
    session = opened(name, tmp_path / "data", "retrieval")
    run = run_system(control_source(CONTROLS["bm25"]), session, RunOptions(results=tmp_path / "results"))
    assert not list(told_by(tmp_path / "results", session))
    stored = [item for row in RunFolder(run.path).responses() for item in row.items or ()]
    assert stored and all(item.source_ids == (item.turn_id,) for item in stored)
    restored = [item for row in decoded_run(run, session).responses() for item in row.items or ()]
    assert [item.source_ids for item in restored] == [item.source_ids for item in stored]
