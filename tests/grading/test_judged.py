"""The graders that ask a judge, and doubt, which counts in the corrected score only with reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.grading.base import CORRECTED, RunGrader
from memeval.grading.judged import DoubtJudged, Judged
from memeval.judging.base import Ruling
from memeval.keys import BeliefKey, CascadeKey, Stance
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Outcome
from tests.grading.builders import FixedJudge, NoJudge, fact, grade, item, response, scenario

KEY = BeliefKey(current=fact("Jest"), stale=())
DIGEST = "sha256:" + "0" * 64


def test_the_ruling_becomes_the_grade() -> None:
    judge = FixedJudge(Ruling(GradeState.GRADED, True, "It fits.", (Flag.HEDGED,), DIGEST, {"loose": False}))
    grade = Judged().grade(item(KEY), scenario(), [response("Jest")], judge)
    assert (grade.state, grade.verdict, grade.reason) == (GradeState.GRADED, True, "It fits.")
    assert (grade.flags, grade.judgment_key, grade.grader) == ((Flag.HEDGED,), DIGEST, "judged@1")
    assert grade.alternates == {"loose": False}
    assert (grade.category, grade.cluster, grade.slices) == ("belief-update", "ada", {"difficulty": "easy"})


def test_the_judge_sees_the_question_and_the_answer_as_returned() -> None:
    judge = FixedJudge(Ruling(GradeState.GRADED, False))
    Judged().grade(item(KEY), scenario(questions=["Which runner?"]), [response("  Jest \n")], judge)
    assert [(case.question, case.answer, case.key) for case in judge.cases] == [("Which runner?", "  Jest \n", KEY)]


def test_the_cases_of_an_item_are_what_its_judge_is_asked() -> None:
    judge = FixedJudge(Ruling(GradeState.GRADED, True))
    given = (item(KEY), scenario(), [response("Jest")])
    Judged().grade(*given, judge)
    assert list(Judged().cases(*given)) == judge.cases != []


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.OK])
def test_what_is_no_answer_is_no_case(outcome: Outcome) -> None:
    assert Judged().cases(item(KEY), scenario(), [response("Jest", outcome)]) == ()


def test_a_blank_answer_is_wrong_and_not_an_error() -> None:
    grade = Judged().grade(item(KEY), scenario(), [response(outcome=Outcome.EMPTY)], NoJudge())
    assert (grade.state, grade.verdict) == (GradeState.EMPTY, False)


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome.is_error])
def test_a_failure_has_no_verdict_and_its_text_never_reaches_a_judge(outcome: Outcome) -> None:
    grade = Judged().grade(item(KEY), scenario(), [response("Jest", outcome)], NoJudge())
    assert (grade.state.value, grade.verdict) == (outcome.value, None)


@pytest.mark.parametrize("state", [GradeState.UNPARSED, GradeState.JUDGE_ERROR])
def test_a_judge_without_a_verdict_leaves_none(state: GradeState) -> None:
    grade = Judged().grade(item(KEY), scenario(), [response("Jest")], FixedJudge(Ruling(state, None)))
    assert (grade.state, grade.verdict) == (state, None)


@pytest.mark.parametrize(("stance", "answerable"), [(Stance.DOUBT, False), (Stance.CONFIDENT, True)])
def test_an_item_is_answerable_unless_doubt_is_asked_for(stance: Stance, answerable: bool) -> None:
    key = CascadeKey(root_change="a → b", dependent=fact("Jest"), stance=stance, reference="…")
    judge = FixedJudge(Ruling(GradeState.GRADED, True))
    assert Judged().grade(item(key), scenario(), [response("Jest")], judge).answerable is answerable


def test_an_item_of_several_questions_is_refused() -> None:
    given = (item(KEY, 2), scenario(), [response(), response()])
    with pytest.raises(ValueError, match="one response"):
        Judged().grade(*given, NoJudge())
    with pytest.raises(ValueError, match="one response"):
        Judged().cases(*given)


HEDGED = (Flag.HEDGED,)


def doubt(name: str, right: bool, state: GradeState = GradeState.GRADED) -> Grade:
    verdict = None if state.is_error else right
    row = grade(name, verdict, "doubt", state=state, flags=HEDGED if right else (), answerable=False)
    return row.model_copy(update={"grader": DoubtJudged.name})


def run(plain: int, false_hedges: int, doubts: int, right: int) -> list[Grade]:
    """Return the grades of a run, with numbers of plain questions, false hedges, doubtful questions and right doubt."""
    return [
        *(grade(f"p{n}", False, flags=HEDGED if n < false_hedges else ()) for n in range(plain)),
        *(doubt(f"d{n}", n < right) for n in range(doubts)),
    ]


def corrected(grades: list[Grade]) -> int:
    return sum(each.alternates.get(CORRECTED) is True for each in DoubtJudged().settled(grades))


@pytest.mark.parametrize(
    ("false_hedges", "right", "counted"),
    [(0, 0, 0), (0, 3, 3), (10, 20, 20), (10, 19, 0), (11, 20, 0), (20, 20, 0), (7, 7, 0), (1, 20, 20)],
)
def test_doubt_counts_if_it_is_at_least_twice_as_frequent_where_it_is_right(
    false_hedges: int, right: int, counted: int
) -> None:
    assert corrected(run(20, false_hedges, 20, right)) == counted


def test_published_verdicts_and_other_grades_stay() -> None:
    before = run(20, 20, 20, 20)
    after = DoubtJudged().settled(before)
    assert [each.model_copy(update={"alternates": {}}) for each in after] == before
    assert after[:20] == before[:20]
    assert DoubtJudged().settled(after) == after


def test_without_plain_answers_no_doubt_counts() -> None:
    assert corrected(run(0, 0, 5, 5)) == 0
    blank = [grade(f"p{n}", False, state=GradeState.EMPTY) for n in range(5)]
    assert corrected([*blank, *run(0, 0, 5, 5)]) == 0


def test_errors_keep_their_state_and_excluded_items_stay_excluded() -> None:
    failed = doubt("failed", False, GradeState.TIMEOUT)
    excluded = doubt("excluded", True).model_copy(update={"alternates": {CORRECTED: None}})
    after = DoubtJudged().settled([*run(5, 0, 5, 5), failed, excluded])
    assert after[-2:] == [failed, excluded]


def test_a_corrected_answer_of_the_errata_is_gated_too() -> None:
    fixed = doubt("fixed", False).model_copy(update={"alternates": {CORRECTED: True}})
    assert DoubtJudged().settled([*run(5, 0, 5, 5), fixed])[-1].alternates == {CORRECTED: True}
    assert DoubtJudged().settled([*run(5, 5, 5, 5), fixed])[-1].alternates == {CORRECTED: False}


@given(st.integers(1, 30), st.integers(0, 30), st.integers(1, 30), st.integers(0, 30))
def test_another_false_hedge_never_raises_the_corrected_score(
    plain: int, false_hedges: int, doubts: int, right: int
) -> None:
    fewer, more = min(false_hedges, plain), min(false_hedges + 1, plain)
    right = min(right, doubts)
    assert corrected(run(plain, more, doubts, right)) <= corrected(run(plain, fewer, doubts, right)) <= right


def test_only_this_grader_looks_at_the_whole_run_and_its_answers_are_judged() -> None:
    assert isinstance(DoubtJudged(), RunGrader) and not isinstance(Judged(), RunGrader)
    assert DoubtJudged.asks_judge
