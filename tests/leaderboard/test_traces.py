"""Traces of responses: the same when read and when kept, and kept only where that is asked for."""

from pathlib import Path

import pytest

from memeval.archive import run_cache
from memeval.archive.runs import RunFolder
from memeval.leaderboard import traces
from memeval.leaderboard.traces import Trace, Traces, copied_repetitions
from tests.site.factory import FakeBenchmark, Made, make_run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    monkeypatch.setattr(run_cache, "cache_home", lambda: tmp_path / "cache")
    return make_run(tmp_path / "results", Made("acme", "Acme"), FakeBenchmark())


def test_a_kept_trace_is_that_of_the_rows(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    read, first = Trace(folder), Trace(folder, keeps=True)
    assert read.rows.tolist() == first.rows.tolist() and read.durations == first.durations
    monkeypatch.setattr(RunFolder, "responses", None)
    later = Trace(folder, keeps=True)
    assert read.rows.tolist() == later.rows.tolist() and read.durations == later.durations
    assert len(read.rows) and any(read.durations.values())


def test_a_decision_about_a_run_reads_its_rows(folder: RunFolder, tmp_path: Path) -> None:
    assert len(Traces().of(folder).rows)
    assert not (tmp_path / "cache").exists()


def test_a_copy_is_looked_for_once_among_the_same_earlier_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_cache, "cache_home", lambda: tmp_path / "cache")
    days = (f"2026-11-0{day}T10:00:00+00:00" for day in range(1, 5))
    one, two, three, four = (
        make_run(tmp_path / "results", Made("acme", "Acme", started=day), FakeBenchmark()) for day in days
    )
    asked: list[tuple[RunFolder, RunFolder]] = []

    def is_copied(earlier: Trace, later: Trace) -> bool:
        asked.append((earlier.folder, later.folder))
        return (earlier.folder, later.folder) == (two, three)

    monkeypatch.setattr(traces, "is_copied", is_copied)

    def found(*folders: RunFolder, keeps: bool = True) -> list[tuple[RunFolder, RunFolder]]:
        asked.clear()
        pairs = copied_repetitions([Trace(folder, keeps=keeps) for folder in folders])
        return [(earlier.folder, later.folder) for earlier, later in pairs]

    assert found(one, two, three) == [(two, three)] and asked == [(one, two), (one, three), (two, three)]
    assert found(one, two, three) == [(two, three)] and asked == []
    assert found(one, two, three, four) == [(two, three)] and asked == [(one, four), (two, four), (three, four)]
    assert found(one, three) == [] and asked == [(one, three)]  # without the run that it copies
    assert found(one, two, three, keeps=False) == [(two, three)] and len(asked) == 3
    assert found(one, two, three) == [(two, three)] and asked == [(one, three), (two, three)]


def test_equal_responses_have_equal_hashes_in_every_process() -> None:
    assert traces._hash(("s001", None, 0.5)) == 0xFCB3A7DDBE8ED8EA
