"""Corrected scores with errata, under every protocol."""

from pathlib import Path

import pytest

from memeval.benchmarks.locomo import LocomoBenchmark
from memeval.benchmarks.longmemeval import LongMemEvalBenchmark
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.judge.grades import cases_of, grade_items
from memeval.grading.base import CORRECTED
from memeval.grading.scoring import score
from memeval.judging.rules import RulesJudge
from memeval.records.benchmark import Errata, Erratum, ErratumAction, ErratumKind
from memeval.records.grade import Grade
from memeval.records.response import Outcome, Response, RetrievedItem
from memeval.records.scores import Scores
from tests.benchmarks.locomo.samples import made
from tests.benchmarks.longmemeval.rows import row, written
from tests.grading.builders import reply


def replaced(item: str, corrected: str | tuple[str, ...], kind: ErratumKind = ErratumKind.WRONG_ANSWER) -> Erratum:
    return Erratum(id=item, kind=kind, action=ErratumAction.REPLACE, corrected=corrected, note="Synthetic.")


def excluded(item: str) -> Erratum:
    return Erratum(id=item, kind=ErratumKind.AMBIGUOUS, action=ErratumAction.EXCLUDE, note="Synthetic.")


def errata(*entries: Erratum) -> Errata:
    return Errata(dataset_sha256="0" * 64, source="Made up.", entries=entries)


def locomo(protocol: str, *entries: Erratum) -> BenchmarkSession:
    return BenchmarkSession(LocomoBenchmark(), made(), protocol, "full", errata(*entries))


def responses(
    benchmark_session: BenchmarkSession, answers: dict[str, str], errors: tuple[str, ...] = (), named: str = "s001"
) -> list[Response]:
    items = (RetrievedItem(text="?", source_ids=(named,)),)
    return [
        reply(key, "", items, Outcome.TIMEOUT)
        if key.item_id in errors
        else reply(key, answers.get(key.item_id, "zzz"), items)
        for key in benchmark_session.keys
    ]


def graded(benchmark_session: BenchmarkSession, given: list[Response]) -> tuple[dict[str, Grade], Scores]:
    grades = grade_items(benchmark_session, benchmark_session.keys, given, RulesJudge())
    return {grade.item_id: grade for grade in grades}, score(
        benchmark_session.benchmark.plan(benchmark_session.keys, benchmark_session.protocol), grades
    )


ENTRIES = (replaced("syn-1:0", "plums"), excluded("syn-1:1"), replaced("syn-1:5", "3", ErratumKind.WRONG_CATEGORY))


def test_by_locomos_own_scoring() -> None:
    benchmark_session = locomo("f1", *ENTRIES)
    grades, scores = graded(
        benchmark_session,
        responses(benchmark_session, {"syn-1:0": "plums", "syn-1:1": "kites, song", "syn-1:5": "a kite"}),
    )
    assert {name: grade.alternates[CORRECTED] for name, grade in grades.items() if CORRECTED in grade.alternates} == {
        "syn-1:0": 1.0,
        "syn-1:1": None,
        "syn-1:5": 1.0,
    }
    # Right answers: two of eight with the published keys, two of seven with the corrected keys.
    assert scores.composite.value == pytest.approx(2 / 8)
    assert scores.alternates[CORRECTED].value == pytest.approx(2 / 7)
    assert grades["syn-1:0"].credit == 0.0 and grades["syn-1:0"].alternates["unrounded"] == 0.0


def test_errors_stay_errors_and_partial_runs_have_no_corrected_score() -> None:
    benchmark_session = locomo("f1", *ENTRIES)
    given = responses(benchmark_session, {}, errors=("syn-1:0", "syn-1:1"))
    grades, scores = graded(benchmark_session, given)
    assert (grades["syn-1:0"].credit, grades["syn-1:0"].alternates[CORRECTED]) == (None, False)
    assert scores.alternates[CORRECTED].value == 0.0
    _, partial = graded(benchmark_session, given[:-1])
    assert partial.composite.value is None and partial.alternates[CORRECTED].value is None
    single = next(category for category in partial.categories if category.name == "multi-hop")
    assert (single.alternates[CORRECTED].planned, single.alternates[CORRECTED].accuracy) == (0, None)


def test_by_a_judge_who_rules_on_the_corrected_answer_as_well() -> None:
    benchmark_session = locomo("judge", *ENTRIES[:2])
    given = responses(benchmark_session, {"syn-1:0": "plums", "syn-1:1": "kites, song"})
    assert [case.item_id for case in cases_of(benchmark_session, benchmark_session.keys, given)].count("syn-1:0") == 2
    grades, scores = graded(benchmark_session, given)
    assert (grades["syn-1:0"].verdict, grades["syn-1:0"].alternates[CORRECTED]) == (False, True)
    assert (grades["syn-1:1"].verdict, grades["syn-1:1"].alternates[CORRECTED]) == (True, None)
    planned = sum(category.tally.planned for category in scores.categories if category.weight)
    assert scores.composite.value == pytest.approx(1 / planned)
    assert scores.alternates[CORRECTED].value == pytest.approx(1 / (planned - 1))


def test_by_what_was_retrieved() -> None:
    benchmark_session = locomo(
        "retrieval", replaced("syn-1:0", ("D2:1",), ErratumKind.WRONG_EVIDENCE), excluded("syn-1:4")
    )
    grades, scores = graded(benchmark_session, responses(benchmark_session, {}, named="s001"))
    assert (grades["syn-1:0"].credit, grades["syn-1:0"].alternates[CORRECTED]) == (0.0, 1.0)
    assert (grades["syn-1:4"].credit, grades["syn-1:4"].alternates[CORRECTED]) == (1.0, None)
    earned = sum(grade.credit or 0.0 for grade in grades.values())
    assert scores.composite.value == pytest.approx(earned / len(grades))
    assert scores.alternates[CORRECTED].value == pytest.approx(earned / (len(grades) - 1))


@pytest.mark.parametrize("protocol", ["judge", "retrieval"])
def test_contested_questions_of_longmemeval_are_left_out(tmp_path: Path, protocol: str) -> None:
    path = written(tmp_path, [row("1a"), row("2b"), row("3c")])
    opened = BenchmarkSession.open(LongMemEvalBenchmark(), path, protocol=protocol)
    benchmark_session = BenchmarkSession(opened.benchmark, opened.dataset, protocol, "full", errata(excluded("2b")))
    grades, scores = graded(
        benchmark_session, responses(benchmark_session, {"1a": "Three"}, errors=("3c",), named="s001")
    )
    assert [grade.alternates.get(CORRECTED, "counts") for grade in grades.values()] == ["counts", None, "counts"]
    credit = {
        name: float(grade.verdict or 0.0) if grade.credit is None else grade.credit for name, grade in grades.items()
    }
    assert credit["1a"] > 0 and credit["3c"] == 0
    assert scores.composite.value == pytest.approx(sum(credit.values()) / 3)
    assert scores.alternates[CORRECTED].value == pytest.approx((credit["1a"] + credit["3c"]) / 2)
