"""Each control differs from the careful one exactly where ``expected.toml`` says, and the oracle fails nowhere."""

from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.lifecycle.benchmark import LifecycleBenchmark
from memeval.benchmarks.lifecycle.expected import COMPARED, EXPECTED, ORACLE, REFERENCE
from memeval.benchmarks.lifecycle.generate import generate
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.leaderboard.marks import is_general_control
from memeval.leaderboard.traces import Trace
from memeval.records.grade import Grade
from memeval.records.response import RetrievedItem
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


def verdicts(slug: str, protocol: str, results: Path) -> dict[str, tuple[Grade, bool]]:
    """Return the grades of a control with their verdicts, by item."""
    return {grade.item_id: (grade, grade.verdict is True) for grade in run_of(slug, protocol, results).grades()}


@pytest.mark.parametrize("protocol", ["search", "banks", "export", "topic"])
def test_the_oracle_passes_every_probe(protocol: str, results: Path) -> None:
    folder = run_of(ORACLE, protocol, results)
    assert folder.run.scores.composite.value == 1.0
    assert reproduce_run(folder).equal


@pytest.mark.parametrize("protocol", ["search", "banks", "export"])
@pytest.mark.parametrize("slug", COMPARED)
def test_a_control_differs_from_the_careful_one_only_where_it_should(slug: str, protocol: str, results: Path) -> None:
    careful = verdicts(REFERENCE, protocol, results)
    for item, (grade, passed) in verdicts(slug, protocol, results).items():
        place = (slug, protocol, grade.category, grade.slices["probe"])
        if EXPECTED.fails(*place):
            assert not passed, item
        elif not EXPECTED.differs(*place):
            assert passed == careful[item][1], item


@pytest.mark.parametrize("protocol", ["search", "banks", "export"])
def test_the_careful_control_passes_what_the_others_are_expected_to_fail(protocol: str, results: Path) -> None:
    passed: dict[tuple[str, str], set[bool]] = defaultdict(set)
    for grade, verdict in verdicts(REFERENCE, protocol, results).values():
        passed[grade.category, grade.slices["probe"]].add(verdict)
    for each in EXPECTED.differences:
        if each.protocol == protocol:
            for probe in set(each.fails) - {"past value"}:  # found by chance, since BM25 knows no time
                assert passed[each.category, probe] == {True}, (each.control, probe)


def test_texts_that_are_written_at_the_same_time_are_all_found_unless_a_control_loses_them(results: Path) -> None:
    assert run_of("careful-at-once", "at-once", results).run.scores.composite.value == 1.0
    found = [passed for _, passed in verdicts("lost-writes", "at-once", results).values()]
    assert 0 < sum(found) < len(found)


def test_expected_differences_name_controls_and_probes_that_exist() -> None:
    probes = {
        (protocol, item.category, item.slices["probe"])
        for protocol in ("search", "banks", "export")
        for written in generate(42, 2, protocol)
        for item in written.items
    }
    for each in EXPECTED.differences:
        assert each.control in COMPARED
        for probe in (*each.fails, *each.differs):
            assert (each.protocol, each.category, probe) in probes, each


def test_the_last_write_wins_over_the_truth_if_the_claim_comes_last(results: Path) -> None:
    grades = [grade for grade, _ in verdicts("last-write-wins", "search", results).values()]
    last = [grade for grade in grades if grade.slices.get("order") == "claim last"]
    assert last and not any(grade.verdict for grade in last)


def test_a_topic_is_deleted_by_a_system_that_can_and_an_error_for_one_that_cannot(results: Path) -> None:
    for slug, wanted in (("forget-nothing", "kept"), ("forget-everything", "deleted")):
        for grade, passed in verdicts(slug, "topic", results).values():
            if grade.slices["probe"].startswith(("kept", "deleted")):
                assert passed == grade.slices["probe"].startswith(wanted), grade.item_id
    unable = [grade for grade, _ in verdicts(REFERENCE, "topic", results).values()]
    assert {grade.state.value for grade in unable} == {"adapter_error"}


def test_equal_exports_of_stores_that_change_no_text_are_no_sign_of_a_copy(results: Path) -> None:
    folder = run_of(REFERENCE, "export", results)
    assert not len(Trace(folder).rows)
    rewritten = [
        row.model_copy(update={"items": tuple(RetrievedItem(text=f"{item.turn_id}, rewritten") for item in row.items)})
        for row in folder.responses()
        if row.items
    ]
    assert len(Trace(folder, rewritten).rows) == len(rewritten)
    assert len(Trace(run_of(REFERENCE, "banks", results)).rows)


def test_systems_are_compared_with_the_careful_control_alone(results: Path) -> None:
    simple = {
        slug for slug in (REFERENCE, *COMPARED, ORACLE) if is_general_control(run_of(slug, "export", results).run)
    }
    assert simple == {REFERENCE}


def test_an_empty_memory_passes_nothing(results: Path) -> None:
    assert run_of("no-memory", "search", results).run.scores.composite.value == 0.0
