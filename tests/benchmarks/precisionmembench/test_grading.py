"""Grades of searches: precision, emptiness, and the rules of the authors' code."""

from __future__ import annotations

import pytest

from memeval.benchmarks.precisionmembench.dataset import TURNS
from memeval.benchmarks.precisionmembench.grading import BeliefSearch
from memeval.keys import ReflectKey
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Outcome, Response, RetrievedItem, Timings
from tests.benchmarks.precisionmembench.made import dataset, items
from tests.grading.builders import NoJudge, fact, item


def graded(name: str, *sources: str, outcome: Outcome = Outcome.OK) -> Grade:
    """Return the grade of a search that returned some texts, by ordinal."""
    wanted = items()[name]
    response = Response(
        item_id=name,
        scenario_id=wanted.scenario_id,
        question_id=name,
        outcome=outcome,
        answer="",
        error="It broke." if outcome.is_error else None,
        items=tuple(RetrievedItem(text=f"text {n}", source_ids=(source,)) for n, source in enumerate(sources)),
        timings=Timings(started="2026-01-01T00:00:00Z"),
    )
    return BeliefSearch().grade(wanted, dataset().scenario(wanted.scenario_id), [response], NoJudge())


@pytest.mark.parametrize(
    ("name", "returned", "credit"),
    [
        ("find-roses", (), 0.0),
        ("find-roses", ("s001",), 1.0),
        ("find-roses", ("s001", "s002"), 0.5),
        ("find-roses", ("s001", "s001", "s003"), 1.0),
        ("find-roses", ("s001", "s999"), 0.5),
        ("nothing", ("s999",), 0.0),
        ("find-both", ("s001",), 1.0),
        ("find-relation", ("s006", "s001"), 2 / 3),
        ("nothing", (), 1.0),
        ("nothing", ("s003",), 1.0),
        ("nothing", ("s002",), 0.0),
        ("small-budget", ("s002",), 1.0),
        ("new-user", ("s001",), 0.0),
        ("isolated", ("s001", "s002"), 1.0),
        ("isolated", ("s008",), 0.0),
        ("talk:0", ("s001",), 1.0),
        ("talk:0", ("s001", "s002"), 0.0),
        ("later:0", ("s010", "s001"), 1.0),
        ("later:0", ("s001", "s009"), 0.0),
    ],
)
def test_the_credit_of_a_result(name: str, returned: tuple[str, ...], credit: float) -> None:
    grade = graded(name, *returned)
    assert grade.state is GradeState.GRADED
    assert grade.credit == pytest.approx(credit)


def test_a_relation_adds_what_it_connects_unless_the_rule_leaves_it_out() -> None:
    grade = graded("find-relation", "s006", "s001")
    assert grade.alternates == {"published": False, "unexpanded": 1.0}
    assert grade.metrics["exact"] is None, "no result can be exact"
    assert grade.reason == "2 of 2 expected beliefs are among 3 results."


def test_an_unknown_result_counts_against_a_system_except_as_published() -> None:
    grade = graded("find-roses", "s001", "s999")
    assert (grade.metrics["exact"], grade.metrics["passed"], grade.metrics["precision"]) == (0.0, 1.0, 1.0)
    assert grade.alternates["published"] is True


def test_published_precision_leaves_out_empty_results_that_are_right() -> None:
    assert graded("nothing").metrics["precision"] is None
    assert graded("nothing", "s002").metrics["precision"] == 0.0
    assert graded("find-roses").metrics["precision"] == 0.0
    assert graded("nothing").metrics["recall"] is None


def test_silence_in_a_conversation_has_no_drift_except_as_published() -> None:
    silent, noisy = graded("later:0"), graded("later:0", "s009", "s001")
    assert (silent.metrics["drift"], silent.metrics["drift_published"]) == (None, 0.0)
    assert (noisy.metrics["drift"], noisy.metrics["drift_published"]) == (0.5, 0.5)
    assert (silent.metrics["noise_free"], noisy.metrics["noise_free"]) == (1.0, 0.0)
    assert graded("talk:0").metrics["noise_free"] is None


def test_results_of_another_user_or_scope_are_counted_and_flagged() -> None:
    grade = graded("find-roses", "s001", "s008", "s007")
    assert grade.flags == (Flag.FILTER_LEAK, Flag.OTHER_BANK)
    assert grade.metrics["user_leaks"] == 1.0
    assert grade.metrics["scope_leaks"] == pytest.approx(1 / 3)
    assert graded("find-roses", "s001").metrics["user_leaks"] == 0.0


def test_a_failed_search_has_no_credit_and_no_metrics() -> None:
    grade = graded("nothing", outcome=Outcome.TIMEOUT)
    assert (grade.state, grade.credit, grade.metrics) == (GradeState.TIMEOUT, None, {})


def test_an_imported_empty_result_is_a_result() -> None:
    assert graded("nothing", outcome=Outcome.EMPTY).credit == 1.0


def test_other_items_are_refused() -> None:
    response = Response(
        item_id="i",
        scenario_id="i",
        question_id="i:q01",
        outcome=Outcome.OK,
        answer="",
        timings=Timings(started="2026-01-01T00:00:00Z"),
    )
    wanted = item(ReflectKey(points=(fact("Ida rows."),)))
    with pytest.raises(ValueError, match="only searches for beliefs"):
        BeliefSearch().grade(wanted, dataset().scenario(TURNS), [response], NoJudge())
