"""The controls: each fails where it should and nowhere else that another does not."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.lifecycle.benchmark import LifecycleBenchmark
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.reproduction import reproduce_run
from memeval.evaluation.running import RunOptions, run_system
from memeval.records.grade import Grade
from memeval.systems.controls import all_controls
from memeval.systems.source import control_source

SIZE = 1


@cache
def run_of(slug: str, protocol: str, results: Path) -> RunFolder:
    session = BenchmarkSession.open(LifecycleBenchmark(), parameters={"size": SIZE}, protocol=protocol)
    options = RunOptions(results=results, protocol=protocol)
    return RunFolder(run_system(control_source(all_controls()[slug]), session, options).path)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


def passed(slug: str, protocol: str, results: Path, category: str = "forget") -> dict[str, set[bool]]:
    """Return the verdicts of a control by probe, in one category."""
    found: dict[str, set[bool]] = {}
    for grade in grades(slug, protocol, results):
        if grade.category == category:
            found.setdefault(grade.slices["probe"], set()).add(grade.verdict is True)
    return found


def grades(slug: str, protocol: str, results: Path) -> list[Grade]:
    return list(run_of(slug, protocol, results).grades())


@pytest.mark.parametrize("protocol", ["search", "banks", "export", "topic"])
def test_the_oracle_passes_every_probe(protocol: str, results: Path) -> None:
    folder = run_of("lifecycle-oracle", protocol, results)
    assert folder.run.scores.composite.value == 1.0
    assert reproduce_run(folder).equal


def test_a_memory_that_deletes_nothing_fails_every_deletion_and_keeps_the_rest(results: Path) -> None:
    for probe, verdicts in passed("forget-nothing", "banks", results).items():
        assert verdicts == {probe.startswith("kept")}, probe


def test_a_memory_that_deletes_everything_fails_what_must_stay(results: Path) -> None:
    for probe, verdicts in passed("forget-everything", "banks", results).items():
        assert verdicts == {not probe.startswith("kept")}, probe


def test_a_memory_without_users_and_sources_fails_both_parts(results: Path) -> None:
    own = passed("store-everything", "banks", results, "provenance")
    assert {verdict for verdicts in own.values() for verdict in verdicts} == {False}
    assert passed("store-everything", "banks", results, "keep-apart")["own fact: ask"] == {False}


def test_the_last_write_wins_where_a_fact_changes_and_not_in_the_past(results: Path) -> None:
    by_probe = passed("last-write-wins", "search", results, "correct")
    assert by_probe["past value"] == {False}
    last = [each for each in grades("last-write-wins", "search", results) if each.slices.get("order") == "claim last"]
    assert last and not any(each.verdict for each in last)


def test_an_empty_memory_passes_nothing(results: Path) -> None:
    assert run_of("no-memory", "search", results).run.scores.composite.value == 0.0
