"""LongMemEval's own retrieval metrics, by the values of its code, and its graders. All histories are synthetic."""

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.longmemeval.grading import (
    LongMemEvalJudged,
    LongMemEvalRetrieval,
    corpus,
    dcg,
    official_measures,
    turns_as_sessions,
)
from memeval.grading.evidence import TurnIndex
from memeval.judging.base import Ruling
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Outcome
from tests.grading.builders import FixedJudge, NoJudge
from tests.grading.histories import answered, history, lme_item, locomo_item, named

DOCUMENTS = ["s1", "answer_x", "s2", "answer_y", "s3"]
HISTORY = history(
    [("user", "Hello."), ("assistant", "Hello!")],
    [("user", "I row."), ("assistant", "Where?"), ("user", "In Lima.")],
    [("assistant", "It is a red kayak."), ("user", "Thank you.")],
    sources=["ultrachat_7", "answer_a1_1", "answer_a1_2"],
)
EVIDENCE = ("s002:t03", "s003:t01")
ITEM = lme_item(sessions=["s002", "s003"], turns=EVIDENCE)


@pytest.mark.parametrize(
    ("relevances", "value"),
    [
        ([1, 1, 1], 2.6309297535714578),
        ([0, 1], 1.0),
        ([0, 0, 1], 0.6309297535714575),
        ([1, 0, 1], 1.6309297535714575),
        ([0, 0, 0, 0, 1], 0.43067655807339306),
        ([], 0.0),
    ],
)
def test_golden_values_of_the_old_dcg(relevances: list[float], value: float) -> None:
    assert dcg(relevances) == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize(
    ("order", "k", "recall_any", "recall_all", "ndcg"),
    [
        ((0, 1, 2, 3, 4), 1, 0, 0, 0),
        ((0, 1, 2, 3, 4), 2, 1, 0, 0.5),
        ((0, 1, 2, 3, 4), 3, 1, 0, 0.5),
        ((0, 1, 2, 3, 4), 5, 1, 1, 0.75),
        ((1, 2, 0, 3, 4), 1, 1, 0, 1),
        ((1, 2, 0, 3, 4), 3, 1, 0, 0.5),
        ((1, 2, 0, 3, 4), 5, 1, 1, 0.75),
    ],
)
def test_golden_values_of_a_ranking(
    order: tuple[int, ...], k: int, recall_any: float, recall_all: float, ndcg: float
) -> None:
    found = official_measures([DOCUMENTS[place] for place in order], DOCUMENTS, k)
    assert found == {"recall_any": recall_any, "recall_all": recall_all, "ndcg_any": pytest.approx(ndcg)}


def test_without_evidence_everything_is_recalled_and_nothing_is() -> None:
    assert official_measures(["s1"], ["s1", "s2"], 5) == {"recall_any": 0, "recall_all": 1, "ndcg_any": 0}


def test_turns_stand_for_sessions_as_many_as_it_takes() -> None:
    documents = ["s1_1", "s1_3", "answer_x_1", "noans_x_3", "s2_1"]
    ranking = ["s1_1", "s1_3", "noans_x_3", "answer_x_1", "s2_1"]
    # Two sessions take three turns, three take four: of one session, "noans" and "answer" are two.
    assert turns_as_sessions(ranking, documents, 2) == {"recall_any": 0, "recall_all": 0, "ndcg_any": 0}
    found = turns_as_sessions(ranking, documents, 3)
    assert found == {"recall_any": 1, "recall_all": 1, "ndcg_any": pytest.approx(0.5)}
    # Turns of one session are one document each, so that the ideal is of two.
    twice = turns_as_sessions(["answer_x_1"], ["answer_x_1", "answer_x_3"], 1)
    assert twice == {"recall_any": 1, "recall_all": 1, "ndcg_any": 1.0}
    assert turns_as_sessions(["answer_x_1"], ["answer_x_1", "answer_x_3"], 5)["ndcg_any"] == 0.5


def test_it_takes_as_many_turns_as_a_long_session_has_until_the_next_turns_up() -> None:
    documents = [*(f"s1_{number}" for number in range(1, 14, 2)), "answer_x_1", "answer_y_1"]
    found = turns_as_sessions(documents, documents, 2)
    assert (found["recall_any"], found["recall_all"]) == (1, 0)
    assert found["ndcg_any"] == pytest.approx(dcg([0] * 7 + [1]) / dcg([1, 1]))
    assert turns_as_sessions(documents[7:], documents, 1)["recall_all"] == 0
    assert turns_as_sessions(documents[7:], documents, 2)["recall_all"] == 1


def test_the_corpus_is_what_users_said_and_marked_where_a_user_said_the_answer() -> None:
    found = corpus(TurnIndex(HISTORY), frozenset(EVIDENCE))
    assert found.sessions == {"s001": "ultrachat_7", "s002": "answer_a1_1", "s003": "noans_a1_2"}
    assert found.turns == {
        "s001:t01": "ultrachat_7_1",
        "s002:t01": "noans_a1_1_1",
        "s002:t03": "answer_a1_1_3",
        "s003:t02": "noans_a1_2_2",
    }


def retrieved(*sources: str, item: ItemKey = ITEM) -> Grade:
    return LongMemEvalRetrieval().grade(item, HISTORY, [answered(items=named(*sources))], NoJudge())


def test_both_kinds_of_measures_stand_side_by_side() -> None:
    grade = retrieved("s003:t01", "s001:t01", "s002:t03")
    assert (grade.grader, grade.credit) == ("longmemeval-retrieval@2", 1.0)
    expected = {
        "session_recall@1": 0.5,
        "session_mrr": 1.0,
        "turn_recall@5": 1.0,
        "official_counted": 1.0,
        "official_session_recall_any@1": 0.0,
        "official_session_recall_any@3": 1.0,
        "official_session_recall_all@3": 1.0,
        # Assistant turns have no rank, so the third turn is the second document.
        "official_turn_recall_any@1": 0.0,
        "official_turn_ndcg_any@3": 1.0,
        "official_turn2session_recall_all@3": 1.0,
    }
    assert {name: grade.metrics[name] for name in expected} == expected
    assert "recall_upstream" not in grade.metrics


def test_it_is_measured_at_the_depths_of_its_code() -> None:
    depths = {name.partition("@")[2] for name in retrieved("s001:t01").metrics if name.startswith("official_t")}
    assert depths == {"1", "3", "5", "10", "30", "50"}


def test_unknown_turns_take_a_rank_and_assistant_turns_do_not() -> None:
    for first, found in (("nowhere", 0.0), ("s001:t02", 1.0)):
        assert retrieved(first, "s002:t03").metrics["official_turn_recall_any@1"] == found


def test_measures_of_turns_are_unknown_where_no_turn_is_marked() -> None:
    metrics = retrieved("s002:t03", item=lme_item(sessions=["s002"], turns=())).metrics
    assert (metrics["session_mrr"], metrics["turn_mrr"], metrics["turn_recall@5"]) == (1.0, None, None)


def test_measures_of_turns_are_unknown_where_sessions_are_named() -> None:
    metrics = retrieved("s002").metrics
    assert metrics["official_session_recall_all@1"] == 1.0
    assert metrics["official_turn_recall_any@1"] is None and metrics["official_turn2session_ndcg_any@50"] is None


@pytest.mark.parametrize("leaked", ["answer_a1_1", "answer_a1_1_3", "answer"])
def test_the_sources_own_ids_are_unknown_here(leaked: str) -> None:
    metrics = retrieved(leaked, "s001:t01").metrics
    assert [value for name, value in metrics.items() if "recall_any" in name and value] == []


def test_a_question_whose_answer_no_user_gave_is_said_not_to_count_upstream() -> None:
    metrics = retrieved("s003:t02", item=lme_item(sessions=["s003"], turns=["s003:t01"])).metrics
    assert metrics["official_counted"] == 0.0
    assert (metrics["official_session_recall_any@5"], metrics["official_session_recall_all@5"]) == (0.0, 1.0)
    assert metrics["session_recall@5"] == 1.0


def test_where_nothing_is_told_there_is_nothing_to_measure() -> None:
    grade = LongMemEvalRetrieval().grade(ITEM, HISTORY, [answered()], NoJudge())
    assert grade.credit == 0.0 and not [name for name in grade.metrics if name.startswith("official")]


class TestJudged:
    """LongMemEval's questions before a judge."""

    YES = FixedJudge(Ruling(GradeState.GRADED, True, "It fits.", alternates={"substring": False}))

    def test_questions_without_an_answer_have_a_score_of_their_own(self) -> None:
        grades = [
            LongMemEvalJudged().grade(lme_item(abstention=each), HISTORY, [answered("?")], self.YES)
            for each in (False, True)
        ]
        assert [grade.alternates for grade in grades] == [
            {"substring": False, "abstention": None},
            {"substring": False, "abstention": True},
        ]
        assert [grade.answerable for grade in grades] == [True, False]
        assert {grade.grader for grade in grades} == {"longmemeval-judged@2"} <= find("longmemeval@1").judged_graders()

    @pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.OK])
    def test_what_failed_counts_in_it_as_wrong(self, outcome: Outcome) -> None:
        response = answered("", outcome=outcome)
        grade = LongMemEvalJudged().grade(lme_item(abstention=True), HISTORY, [response], NoJudge())
        assert grade.alternates == {"abstention": False}

    def test_a_handful_of_measures_says_what_was_retrieved(self) -> None:
        response = answered("Lima", named("s001", "s002"))
        metrics = LongMemEvalJudged().grade(ITEM, HISTORY, [response], self.YES).metrics
        assert metrics == {
            "session_recall@5": 0.5,
            "session_recall@10": 0.5,
            "session_mrr": 0.5,
            "turn_recall@10": None,
        }

    def test_keys_of_another_benchmark_are_refused(self) -> None:
        with pytest.raises(TypeError, match="cannot use keys of kind 'locomo'"):
            LongMemEvalJudged().grade(locomo_item(), HISTORY, [answered("Lima")], self.YES)
        with pytest.raises(TypeError, match="cannot use keys of kind 'locomo'"):
            LongMemEvalRetrieval().grade(locomo_item(sessions=["s001"]), HISTORY, [answered(items=())], self.YES)
