"""Early stop of a run whose first items all fail with the same error, with real processes."""

from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.execution.executor import FIRST_ITEMS, StoppedEarly
from memeval.execution.journal import Journal
from memeval.records.response import Response
from memeval.systems.source import SystemSource, file_source, find_system
from tests.support.tiny import TinyBenchmark
from tests.systems.helpers import write

ITEMS = 40

BROKEN = """
import pathlib, time
class Memory:
    def reset(self):
        self.notes = []
    def ingest_session(self, session, timestamp):
        self.notes += [turn["content"] for turn in session["turns"]]
    def query(self, question, timestamp="now"):
        if not pathlib.Path({service!r}).exists():
            time.sleep(0.05)  # or all items could fail while a slow disk stores the first ones
            raise ConnectionError("the index is not running")
        return " ".join(self.notes)
"""


def benchmark_session(scenarios: int = ITEMS) -> BenchmarkSession:
    return BenchmarkSession.open(TinyBenchmark(scenarios))


def options(folder: Path, **more: Any) -> RunOptions:
    return RunOptions(results=folder / "results", **{"concurrency": 4, **more})


def broken(folder: Path) -> SystemSource:
    return file_source(write(folder, BROKEN.format(service=str(folder / "service")), "broken.py"))


def rows_on_disk(folder: Path) -> list[Response]:
    (run,) = (folder / "results/tiny/broken").iterdir()
    with Journal(run) as journal:
        return list(journal.responses.values())


def test_it_stops_and_keeps_what_is_done(tmp_path: Path) -> None:
    with pytest.raises(StoppedEarly, match=r"First error: .*ConnectionError: the index is not running"):
        run_system(broken(tmp_path), benchmark_session(400), options(tmp_path))
    assert FIRST_ITEMS <= len(rows_on_disk(tmp_path)) < 400


def test_the_same_call_tries_the_next_items_only(tmp_path: Path) -> None:
    many = 400  # more than one instance fails while the rows of the first failures are written
    for _ in range(2):
        with pytest.raises(StoppedEarly):
            run_system(broken(tmp_path), benchmark_session(many), options(tmp_path, concurrency=1))
    assert FIRST_ITEMS < len(rows_on_disk(tmp_path)) < many


def test_after_a_fix_the_run_resumes_and_retries_failed_items(tmp_path: Path) -> None:
    with pytest.raises(StoppedEarly):
        run_system(broken(tmp_path), benchmark_session(), options(tmp_path))
    (tmp_path / "service").touch()
    run = run_system(broken(tmp_path), benchmark_session(), options(tmp_path, retry_errors=True))
    assert (run.run.coverage.done, run.run.scores.overall.errors) == (ITEMS, 0)
    assert len(list((tmp_path / "results/tiny/broken").iterdir())) == 1


def test_a_run_that_is_to_keep_going_finishes(tmp_path: Path) -> None:
    run = run_system(broken(tmp_path), benchmark_session(), options(tmp_path, keep_going=True))
    assert run.run.scores.overall.errors == ITEMS


def test_a_control_finishes(tmp_path: Path) -> None:
    run = run_system(find_system("always-error"), benchmark_session(), options(tmp_path))
    assert run.run.scores.overall.errors == ITEMS
