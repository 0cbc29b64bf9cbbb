"""Reflections: points that must be stated, claims that must not be made, under rules and under a model."""

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.astrocyte.dataset import SuiteReflectKey
from memeval.grading.reflect import Reflected
from memeval.judging.base import Case, Ruling
from memeval.judging.prompting import Prompts
from memeval.judging.rules import RulesJudge
from memeval.keys import AnswerKey
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Outcome
from memeval.records.scenario import Reflect, Retain, Scenario
from tests.grading.builders import NoJudge, fact, item, response

KEY = SuiteReflectKey(
    points=(fact("The sluice is jammed with ice", "jammed", "frozen shut"), fact("It will open in March", "March")),
    forbidden=(fact("The axle is broken", "broken axle", "axle is broken"),),
)
TEXTS = (
    ("mill", "The mill wheel stands still because the sluice is jammed with ice, says the miller."),
    ("mill", "Last year a broken axle stopped the wheel for three weeks in the middle of the harvest."),
    ("mill", "The ice on the brook goes in March as a rule, and so it did in the two years before."),
    ("hens", "The hens lay no eggs in the dark months of the year, and nobody has ever found out why."),
)
RIGHT = "The sluice is frozen shut; it should open by March."


class Says:
    """A judge that answers by what it is asked about, and remembers it."""

    name = "says@1"

    def __init__(self, **states: GradeState) -> None:
        self.states, self.cases = states, list[Case]()

    def rule(self, case: Case) -> Ruling:
        self.cases.append(case)
        key = case.key
        assert isinstance(key, SuiteReflectKey)
        (about,) = key.points or key.forbidden
        stated = any(phrase in case.answer for phrase in about.phrases)
        state = self.states.get("point" if key.points else "claim", GradeState.GRADED)
        verdict = stated == bool(key.points) if state is GradeState.GRADED else None
        return Ruling(state, verdict, f"about {about.phrases[0]}", judgment_key=f"sha256:{len(self.cases):064}")


def mill() -> Scenario:
    """Return two banks and a question to one of them."""
    texts = [
        Retain(text_id=f"s{place:03}", content=text, bank=bank, source_id=f"r{place}")
        for place, (bank, text) in enumerate(TEXTS, 1)
    ]
    asked = Reflect(question_id="i:q01", question="Why does the mill stand still, and till when?", bank="mill")
    return Scenario(scenario_id="i", steps=(*texts, asked))


def graded(answer: str, key: AnswerKey = KEY, judge: object = None, outcome: Outcome = Outcome.OK) -> Grade:
    return Reflected().grade(item(key), mill(), [response(answer, outcome)], judge or RulesJudge())  # type: ignore[arg-type]


def test_a_reflection_with_all_points_and_no_forbidden_claim_is_right() -> None:
    grade = graded(RIGHT)
    assert (grade.verdict, grade.state) == (True, GradeState.GRADED)
    assert grade.metrics == {"completeness": 1.0, "hallucination": 0.0}
    assert grade.reason == "2 of 2 points stated, 0 of 1 forbidden claims made."


def test_a_point_left_out_or_a_claim_made_is_wrong_and_each_is_measured() -> None:
    part = graded("The sluice is jammed.")
    assert (part.verdict, part.metrics) == (False, {"completeness": 0.5, "hallucination": 0.0})
    claim = graded(f"{RIGHT} The axle is broken, too.")
    assert (claim.verdict, claim.metrics) == (False, {"completeness": 1.0, "hallucination": 1.0})


def test_one_of_several_forbidden_claims_is_a_hallucination_whole() -> None:
    claims = SuiteReflectKey(points=(), forbidden=(*KEY.forbidden, fact("The miller is away", "miller is away")))
    grade = graded("The axle is broken.", claims)
    assert (grade.verdict, grade.metrics) == (False, {"completeness": None, "hallucination": 1.0})


def test_the_question_given_back_states_nothing() -> None:
    key = SuiteReflectKey(points=(fact("The mill", "mill"),))
    assert graded("Why does the mill stand still, and till when?", key).verdict is False


def test_a_bank_given_back_is_no_reflection() -> None:
    whole = " ".join(text for bank, text in TEXTS if bank == "mill")
    grade = graded(whole, SuiteReflectKey(points=KEY.points))
    assert (grade.verdict, grade.flags) == (False, (Flag.CONTEXT_DUMP,))
    assert "most of the history" in (grade.reason or "")
    assert graded(whole).metrics["hallucination"] is None, "who repeats everything claims nothing"
    other = " ".join(text for bank, text in TEXTS if bank == "hens") * 3
    assert graded(f"{RIGHT} {other}").verdict is True, "what another bank holds is not what this one does"
    most = " ".join(text for _, text in TEXTS[:2]).replace("a broken axle", "an accident")
    assert graded(f"{RIGHT} {most}").verdict is True, "much of a small bank may well be needed"


def test_a_model_judges_each_point_and_claim_and_the_deciding_judgment_is_named() -> None:
    judge = Says()
    grade = graded(RIGHT, judge=judge)
    assert [len(case.key.points) for case in judge.cases if isinstance(case.key, SuiteReflectKey)] == [1, 1, 0]
    shown = {session.session_id for case in judge.cases for session in case.scenario.sessions()}
    assert shown == {"s001", "s002", "s003"}
    assert (grade.verdict, grade.judgment_key) == (True, f"sha256:{3:064}")
    wrong = graded("jammed, and a broken axle", judge=Says())
    assert (wrong.verdict, wrong.judgment_key) == (False, f"sha256:{2:064}")
    assert Reflected.asks_judge


@pytest.mark.parametrize("what", ["point", "claim"])
@pytest.mark.parametrize("state", [GradeState.UNPARSED, GradeState.JUDGE_ERROR])
def test_a_reply_that_is_no_verdict_leaves_the_item_without_one(what: str, state: GradeState) -> None:
    grade = graded(RIGHT, judge=Says(**{what: state}))
    assert (grade.state, grade.verdict) == (state, None)
    assert grade.metrics == {"completeness": None, "hallucination": None}
    beside = graded("The brook is dry.", judge=Says(claim=state))
    assert (beside.state, beside.verdict) == (state, None), "a point left out beside it decides nothing"


def test_a_blank_answer_is_wrong_and_a_failure_is_an_error_and_no_judge_is_asked() -> None:
    blank = graded("", judge=NoJudge(), outcome=Outcome.EMPTY)
    assert (blank.state, blank.verdict) == (GradeState.EMPTY, False)
    assert blank.metrics == {"completeness": 0.0, "hallucination": 0.0}
    failed = graded("", judge=NoJudge(), outcome=Outcome.TIMEOUT)
    assert (failed.state, failed.verdict, failed.metrics) == (GradeState.TIMEOUT, None, {})


def test_a_reflection_without_a_truth_is_not_graded_here() -> None:
    with pytest.raises(ValueError, match="only reflections with an expected result"):
        graded(RIGHT, SuiteReflectKey(points=()))


def test_a_judge_request_contains_one_point_or_claim_of_the_key() -> None:
    cases = Reflected().cases(item(KEY), mill(), [response(RIGHT)])
    point, _, claim = (Prompts().asking(case) for case in cases)
    assert "The sluice is jammed with ice" in point and "March" not in point.replace(RIGHT, "")
    assert "The axle is broken" in claim and "ice" not in claim.replace(RIGHT, "").split()
    assert all(RIGHT in asked and "yes or no" in asked for asked in (point, claim))


def test_the_suites_have_prompts_of_their_own_and_no_others_do() -> None:
    own = {"judge/reflect-point", "judge/reflect-claim"}
    for suite in ("astrocyte-reflect@1", "astrocyte-basic"):
        assert set(Prompts().of(find(suite).prompts)) == own | {"judge/reminder"}
    for other in ("beliefs@2", "deepmemeval@1", "locomo@1", "longmemeval@1"):
        assert not own & set(Prompts().of(find(other).prompts))
