"""From grades to scores, by the counted categories of a track and their weights."""

import random
from typing import Any

import pytest

from memeval.grading.scoring import counting, layout_of, score, task_average
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.track import CategoryPlan
from memeval.statistics.intervals import wilson
from tests.grading.builders import grade

# DeepMemEval specification, section 7: category, right, planned, weight.
GOLDEN = [
    ("belief", 72, 100, 0.25),
    ("cascade", 32, 80, 0.15),
    ("noise", 73, 80, 0.20),
    ("temporal", 52, 80, 0.15),
    ("delta", 40, 80, 0.10),
    ("uncertainty", 31, 80, 0.15),
]


def plan(*rows: tuple[str, int, float]) -> list[CategoryPlan]:
    return [CategoryPlan(name=name, weight=weight, items=items, grader="judged@1") for name, items, weight in rows]


GOLDEN_PLAN = plan(*((name, items, weight) for name, _, items, weight in GOLDEN))


def golden_grades() -> list[Grade]:
    return [
        grade(f"{name}-{i}", i < right, name, cluster=f"p{i % 50}")
        for name, right, items, _ in GOLDEN
        for i in range(items)
    ]


def test_the_golden_scores() -> None:
    scores = score(GOLDEN_PLAN, golden_grades())
    composite, interval = scores.composite, scores.categories[0].tally.interval
    assert composite.value == pytest.approx(0.628125, abs=1e-15) and composite.reason is None
    assert composite.interval and composite.interval.low < 0.628125 < composite.interval.high
    assert scores.overall.accuracy == pytest.approx(0.60, abs=1e-15)
    assert [c.tally.accuracy for c in scores.categories] == pytest.approx([0.72, 0.40, 0.9125, 0.65, 0.50, 0.3875])
    assert interval and (interval.low, interval.high) == wilson(72, 100)
    assert scores.states == {"graded": 500, "skipped": 0}


def test_the_order_of_the_grades_does_not_matter() -> None:
    grades = golden_grades()
    shuffled = random.Random(3).sample(grades, len(grades))
    assert score(GOLDEN_PLAN, shuffled).to_json() == score(GOLDEN_PLAN, grades).to_json()


def test_the_denominator_is_the_plans() -> None:
    grades = [
        grade("1", True),
        grade("2", None, state=GradeState.TIMEOUT),
        grade("3", False, state=GradeState.EMPTY),
        grade("4", None, state=GradeState.UNPARSED),
    ]
    scores = score(plan(("a", 10, 1.0)), grades)
    tally = scores.overall
    assert (tally.planned, tally.done, tally.correct, tally.errors) == (10, 4, 1, 2)
    assert (tally.accuracy, tally.graded_accuracy) == (0.1, 0.5)
    assert scores.states == {"graded": 1, "empty": 1, "unparsed": 1, "timeout": 1, "skipped": 6}


def test_an_incomplete_or_empty_category_leaves_no_composite() -> None:
    incomplete = score(plan(("a", 2, 0.5), ("b", 1, 0.5)), [grade("1", True), grade("2", True, "b")])
    assert incomplete.composite.value is None and incomplete.composite.interval is None
    assert incomplete.composite.reason == "a has 1 of 2 items."
    absent = score(plan(("a", 1, 0.5), ("b", 0, 0.5)), [grade("1", True)])
    assert absent.composite.reason == "There are no items in b."
    assert absent.categories[1].tally.accuracy is None and absent.categories[1].tally.interval is None
    assert score([], []).composite.value is None


def test_errors_count_as_wrong_in_the_composite() -> None:
    scores = score(plan(("a", 2, 1.0)), [grade("1", True), grade("2", None)])
    assert scores.composite.value == 0.5


def test_an_alternate_changes_only_the_items_that_know_it() -> None:
    grades = [
        grade("1", True, "a"),
        grade("2", True, "d", alternates={"gated": False}),
        grade("3", None, "d", alternates={"gated": False}),
    ]
    scores = score(plan(("a", 1, 0.6), ("d", 2, 0.4)), grades)
    assert scores.composite.value == pytest.approx(0.8)
    assert scores.alternates["gated"].value == pytest.approx(0.6)
    assert list(scores.alternates) == ["gated"]
    assert scores.categories[0].alternates == {}
    gated = scores.categories[1].alternates["gated"]
    assert (gated.correct, gated.errors, gated.planned) == (0, 1, 2)


def test_an_alternate_rule_can_find_a_verdict_that_the_headline_rule_misses() -> None:
    loose, blank = {"substring": True}, GradeState.EMPTY
    grades = [
        grade("1", True, alternates=loose),
        grade("2", False, alternates=loose),
        grade("3", None, state=GradeState.UNPARSED, alternates=loose),
        grade("4", None, state=GradeState.UNPARSED, alternates={"substring": False}),
        grade("5", None, state=GradeState.JUDGE_ERROR, alternates=loose),
        grade("6", None, state=GradeState.JUDGE_ERROR),
        grade("7", False, state=blank),
        grade("8", None, state=GradeState.TIMEOUT),
        grade("9", True, "d", alternates={"gated": False}),
    ]
    scores = score(plan(("a", 8, 0.5), ("d", 1, 0.5)), grades)
    strict, found = scores.categories[0].tally, scores.categories[0].alternates["substring"]
    assert (strict.correct, strict.errors, found.correct, found.errors) == (1, 5, 4, 2)
    assert [strict.graded_accuracy, found.graded_accuracy] == pytest.approx([1 / 3, 4 / 6])
    assert scores.alternates["substring"].value == pytest.approx(0.5 * 4 / 8 + 0.5)
    assert scores.alternates["gated"].value == pytest.approx(0.5 * 1 / 8)


def test_slices_count_the_items_that_have_a_grade() -> None:
    grades = [
        grade("1", True, slices={"difficulty": "hard", "noise": "light"}),
        grade("2", False, slices={"difficulty": "hard"}),
        grade("3", True, slices={"difficulty": "easy"}),
    ]
    scores = score(plan(("a", 9, 1.0)), grades)
    assert [(s.slice, s.value, s.tally.correct, s.tally.planned) for s in scores.slices] == [
        ("difficulty", "easy", 1, 1),
        ("difficulty", "hard", 1, 2),
        ("noise", "light", 1, 1),
    ]


def test_metrics_are_means_over_the_items_that_have_them() -> None:
    grades = [
        grade("1", True, metrics={"efficiency": 0.9, "late": None}),
        grade("2", False, metrics={"efficiency": None, "late": None}),
        grade("3", False, metrics={"efficiency": -0.1}),
    ]
    assert score(plan(("a", 3, 1.0)), grades).categories[0].metrics == {"efficiency": pytest.approx(0.4), "late": None}


def test_flags_are_counted_by_category() -> None:
    both = grade("1", True, flags=(Flag.HEDGED, Flag.CONTEXT_DUMP))
    grades = [both, grade("2", True, flags=(Flag.HEDGED,)), grade("3", True, "b")]
    scores = score(plan(("a", 2, 0.5), ("b", 1, 0.5)), grades)
    counts = [[(count.flag, count.items) for count in category.flags] for category in scores.categories]
    assert counts == [[(Flag.CONTEXT_DUMP, 1), (Flag.HEDGED, 2)], []]


def test_false_hedges_are_those_where_a_plain_answer_is_right() -> None:
    grades = [
        grade("1", True, flags=(Flag.HEDGED,)),
        grade("2", True),
        grade("3", True, flags=(Flag.HEDGED,), answerable=False),
        grade("4", None, flags=(Flag.HEDGED,)),
        grade("5", False, state=GradeState.EMPTY),
    ]
    assert score(plan(("a", 5, 1.0)), grades).false_hedge_rate == 0.5
    assert score(plan(("a", 1, 1.0)), grades[2:3]).false_hedge_rate is None


@pytest.mark.parametrize(
    ("grades", "problem"),
    [
        ([grade("1", True), grade("1", False)], "two grades"),
        ([grade("1", True, "z")], "not planned"),
        ([grade(str(n), True) for n in range(3)], "3 grades for 2"),
    ],
)
def test_grades_outside_the_plan_are_refused(grades: list[Grade], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        score(plan(("a", 2, 1.0)), grades)


def measured(name: str, credit: float | None, category: str = "a", **more: Any) -> Grade:
    """Return the grade of a grader that measures; no credit is an error."""
    state = GradeState.TIMEOUT if credit is None else GradeState.GRADED
    return grade(name, None, category, state=state, **more).model_copy(update={"credit": credit})


def shared(**items: int) -> list[CategoryPlan]:
    """Return categories whose items all count the same."""
    whole = sum(items.values())
    return [
        CategoryPlan(name=name, weight=count / whole, items=count, grader="locomo-f1@2", shared=True)
        for name, count in items.items()
    ]


class TestMeasured:
    """Items that are worth a share of a point."""

    def test_the_denominator_is_the_plans_as_well(self) -> None:
        scores = score(shared(a=8), [measured("1", 1.0), measured("2", 0.25), measured("3", None), measured("4", 0.0)])
        found = scores.categories[0].tally
        assert (found.planned, found.done, found.correct, found.errors, found.points) == (8, 4, 1, 1, 1.25)
        assert found.accuracy == 1.25 / 8 and found.graded_accuracy == pytest.approx(1.25 / 3)
        assert found.interval is not None and (found.interval.low, found.interval.high) == wilson(1.25, 8)
        assert scores.composite.value is None and scores.composite.reason == "a has 4 of 8 items."

    def test_where_a_judge_rules_no_points_are_told(self) -> None:
        assert score(plan(("a", 1, 1.0)), [grade("1", True)]).overall.points is None

    def test_an_error_is_worth_nothing_whatever_a_rule_gives_it(self) -> None:
        right = measured("1", 0.5, alternates={"unrounded": 0.4996})
        scores = score(shared(a=2), [right, measured("2", None, alternates={"unrounded": 1})])
        assert scores.composite.value == 0.25
        assert scores.alternates["unrounded"].value == pytest.approx(0.2498)
        assert scores.categories[0].alternates["unrounded"].points == pytest.approx(0.4996)


class TestLeftOut:
    """Rules that leave items out of the count."""

    GRADES = (
        measured("1", 1.0, "a"),
        measured("2", 0.5, "a", alternates={"corrected": None}),
        measured("3", 0.0, "b", alternates={"corrected": 1.0}),
        measured("4", 0.2, "b"),
        measured("5", 0.4, "c", alternates={"corrected": None}),
    )

    def test_what_is_left_shares_the_weight_anew(self) -> None:
        """All items counted (1 + .5 + 0 + .2 + .4) / 5; of the three left, 1 + 1 + .2 are earned."""
        scores = score(shared(a=2, b=2, c=1), self.GRADES)
        assert scores.composite.value == pytest.approx(2.1 / 5)
        assert scores.alternates["corrected"].value == pytest.approx(2.2 / 3)
        rows = {category.name: category.alternates.get("corrected") for category in scores.categories}
        told = {name: (row.planned, row.done, row.points, row.accuracy) for name, row in rows.items() if row}
        assert told == {"a": (1, 1, 1.0, 1.0), "b": (2, 2, 1.2, 0.6), "c": (0, 0, None, None)}

    def test_items_without_a_grade_stay_planned_under_it(self) -> None:
        scores = score(shared(a=3, b=2, c=1), self.GRADES)
        assert scores.alternates["corrected"].value is None
        assert scores.alternates["corrected"].reason == "a has 1 of 2 items."
        row = scores.categories[0].alternates["corrected"]
        assert (row.planned, row.done, row.accuracy) == (2, 1, 0.5)

    def test_fixed_weights_stay_and_a_category_that_is_left_out_whole_has_no_score(self) -> None:
        scores = score(plan(("a", 2, 0.3), ("b", 2, 0.7)), self.GRADES[:4])
        assert scores.composite.value == pytest.approx(0.3 * 0.75 + 0.7 * 0.1)
        assert scores.alternates["corrected"].value == pytest.approx(0.3 * 1 + 0.7 * 0.6)
        without = score(plan(("c", 1, 1.0)), self.GRADES[4:]).alternates["corrected"]
        assert (without.value, without.reason) == (None, "There are no items in c.")

    def test_a_category_that_stands_apart_takes_no_share(self) -> None:
        scores = score([*shared(a=2, b=2), *plan(("c", 1, 0.0))], [*self.GRADES[:4], measured("5", 0.4, "c")])
        assert scores.composite.value == pytest.approx(1.7 / 4)
        assert scores.alternates["corrected"].value == pytest.approx(2.2 / 3)

    def test_everything_left_out_leaves_no_score(self) -> None:
        found = score(shared(c=1), self.GRADES[4:]).alternates["corrected"]
        assert (found.value, found.reason) == (None, "There are no categories.")


class TestTaskAverage:
    """The mean over categories, each of which counts the same."""

    def test_every_category_counts_the_same_but_for_those_that_stand_apart(self) -> None:
        given = [*shared(a=2, b=1), *plan(("c", 1, 0.0))]
        grades = [grade("1", True), grade("2", False), grade("3", True, "b"), grade("4", False, "c")]
        assert task_average(score(given, grades)) == pytest.approx((0.5 + 1) / 2)

    def test_there_is_none_where_a_category_has_no_items(self) -> None:
        assert task_average(score(plan(("a", 1, 0.5), ("b", 0, 0.5)), [grade("1", True)])) is None
        assert task_average(score([], [])) is None


def test_a_category_without_weight_has_no_part_in_the_layout() -> None:
    given = plan(("a", 2, 0.75), ("b", 1, 0.0), ("c", 1, 0.25))
    assert [category.name for category in counting(given)] == ["a", "c"]
    found = layout_of(given, {"a": ["x", "y"], "b": ["z"], "c": ["x"]})
    assert (found.weights, found.clusters) == ((0.75, 0.25), (("x", "y"), ("x",)))


def test_shared_weights_follow_the_items_that_are_there() -> None:
    given = [*shared(a=4, b=4), *plan(("c", 9, 0.0))]
    whole = layout_of(given, {"a": list("wxyz"), "b": list("wxyz")})
    assert whole.weights == (0.5, 0.5)
    fewer = layout_of(given, {"a": list("wxy"), "b": list("w"), "c": list("uv")})
    assert fewer.weights == (0.75, 0.25)
