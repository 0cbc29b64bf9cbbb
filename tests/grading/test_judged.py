"""The grader that asks a judge."""

import pytest

from memeval.grading.judged import Judged
from memeval.judging.base import Ruling
from memeval.keys import BeliefKey, CascadeKey, Stance
from memeval.records.grade import Flag, GradeState
from memeval.records.response import Outcome
from tests.grading.builders import FixedJudge, NoJudge, fact, item, response, scenario

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
