"""Measures of rankings, and retrieved sessions and turns, measured against the key's evidence."""

from collections.abc import Sequence
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.locomo.grading import LocomoRetrieval
from memeval.grading.evidence import TurnIndex, measures
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Outcome, RetrievedItem
from memeval.records.scenario import Scenario, dated_line
from tests.grading.builders import NoJudge
from tests.grading.histories import answered, history, locomo_item, named

HISTORY = history(
    [("user", "Hello!"), ("user", "I rowed.")], [("user", "Hello!"), ("user", "In Lima.")], [("user", "It rained.")]
)
ITEM = locomo_item(evidence=["D2:2", "D3:1"], sessions=["s002", "s003"], turns=["s002:t02", "s003:t01"])


def sessions(*items: RetrievedItem) -> tuple[str, ...]:
    return TurnIndex(HISTORY).retrieved(items).sessions


def graded(
    items: Sequence[RetrievedItem] | None = None, item: ItemKey = ITEM, whole: Scenario = HISTORY, **more: Outcome
) -> Grade:
    return LocomoRetrieval().grade(item, whole, [answered("", items, **more)], NoJudge())


def turns(*items: RetrievedItem) -> tuple[str, ...] | None:
    return TurnIndex(HISTORY).retrieved(items).turns


class TestRetrieved:
    """From items to sessions and turns."""

    def test_a_turn_stands_for_its_session_at_its_first_rank(self) -> None:
        found = named("s002:t02", "s001:t01", "s002:t01", "s001:t01")
        assert sessions(*found) == ("s002", "s001")
        assert turns(*found) == ("s002:t02", "s001:t01", "s002:t01")

    def test_an_item_of_several_sources_takes_as_many_ranks(self) -> None:
        assert sessions(*named(["s003", "s001:t01"], "s002")) == ("s003", "s001", "s002")

    def test_turns_are_unknown_where_none_is_named(self) -> None:
        assert turns(*named("s001", "s002")) is None
        assert turns() is None

    def test_turns_are_unknown_where_a_session_is_returned_as_a_whole(self) -> None:
        assert turns(*named("s001", "s002:t01")) is None
        # The words of the one turn of a short session are the session's, whatever the system calls them.
        one_turn = RetrievedItem(turn_id="s003:t01", source_ids=("s003",))
        assert turns(one_turn, *named("s002")) is None
        assert turns(one_turn) == ("s003:t01",)

    def test_a_session_named_beside_a_turn_of_it_leaves_turns_known(self) -> None:
        assert turns(*named(["s002", "s002:t01"], "gone")) == ("s002", "s002:t01", "gone")

    @pytest.mark.parametrize("unknown", ["s009", "s002:t99", "S2", "D2:2", "answer_1", "s002:t02 ", "", "s002:"])
    def test_what_is_unknown_takes_a_rank_and_is_no_session(self, unknown: str) -> None:
        found = named(unknown, "s002:t02")
        assert sessions(*found) == (unknown, "s002")

    def test_an_item_that_names_nothing_takes_a_rank_of_its_own(self) -> None:
        found = (*named([], []), *named("s002"))
        assert len(sessions(*found)) == 3 and sessions(*found)[2] == "s002"

    def test_the_turn_whose_text_it_is_comes_before_what_the_system_says(self) -> None:
        stored = RetrievedItem(turn_id="s002:t02", source_ids=("s001", "s003"))
        assert turns(stored) == ("s002:t02",)

    def test_of_turns_with_equal_text_the_named_one_counts(self) -> None:
        bare = RetrievedItem(turn_id="s001:t01", source_ids=("s002:t01",))
        assert turns(bare) == ("s002:t01",)
        dated = RetrievedItem(turn_id="s001:t01", dated=True, source_ids=("s002:t01",))
        one, other = ((session, session.turns[0]) for session in HISTORY.sessions()[:2])
        assert dated_line(*one) != dated_line(*other)
        assert turns(dated) == ("s001:t01",)


def test_the_credit_is_the_recall_of_sessions_within_five() -> None:
    grade = graded(named("s001:t02", "s002:t01", "s002:t02"))
    assert (grade.state, grade.verdict, grade.credit, grade.grader) == (GradeState.GRADED, None, 0.5, "retrieval@2")
    assert grade.reason == "1 of 2 sessions of evidence are among the first 5."
    expected = {
        "session_recall@1": 0.0,
        "session_recall@5": 0.5,
        "session_recall_all@5": 0.0,
        "session_hit@5": 1.0,
        "session_precision@5": 0.2,
        "session_mrr": 0.5,
        "turn_recall@1": 0.0,
        "turn_recall@5": 0.5,
        "turn_mrr": 1 / 3,
        "recall_upstream": 0.5,
        "no_retrieval@1": 0.0,
        "no_retrieval@5": 1.0,
        "context_tokens": 7,
    }
    assert {name: grade.metrics[name] for name in expected} == expected
    assert not grade.answerable and grade.alternates == {}


def test_upstreams_recall_is_over_sessions_where_sessions_are_named() -> None:
    metrics = graded(named("nowhere", "s002", "s001")).metrics
    assert metrics["recall_upstream"] == 0.5
    assert metrics["turn_recall@5"] is None and metrics["turn_mrr"] is None


def test_naming_everything_in_one_item_gains_nothing() -> None:
    many = history(*([("user", f"Day {n}.")] for n in range(9)))
    item = locomo_item(sessions=["s009"], turns=["s009:t01"])
    assert graded(named([f"s{n:03}" for n in range(1, 10)]), item, many).credit == 0


@pytest.mark.parametrize(("length", "without_choice"), [(4, 1.0), (5, 1.0), (6, 0.0)])
def test_no_retrieval_is_1_at_depths_that_cover_all_sessions(length: int, without_choice: float) -> None:
    whole = history(*([("user", f"Day {n}.")] for n in range(length)))
    grade = graded(named("s001"), locomo_item(sessions=["s001"]), whole)
    assert grade.metrics["no_retrieval@5"] == without_choice


def test_a_system_without_retrieved_items_gets_no_credit_with_a_reason() -> None:
    grade = graded()
    assert (grade.state, grade.credit) == (GradeState.GRADED, 0.0)
    assert grade.reason == "The system does not say what it retrieved."
    assert grade.metrics["recall_upstream"] == 1.0 and "session_mrr" not in grade.metrics


def test_an_empty_retrieval_gets_no_credit() -> None:
    grade = graded(())
    assert (grade.credit, grade.metrics["session_mrr"], grade.metrics["recall_upstream"]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome.is_error])
def test_an_error_stays_an_error_whatever_came_with_it(outcome: Outcome) -> None:
    grade = graded(named("s002"), outcome=outcome)
    assert (grade.state.value, grade.credit, grade.metrics) == (outcome.value, None, {})


def test_an_item_without_evidence_is_refused() -> None:
    with pytest.raises(ValueError, match="names no evidence"):
        graded((), locomo_item())
    assert list(LocomoRetrieval().cases(ITEM, HISTORY, [answered()])) == []


def test_the_same_grader_grades_one_history_after_the_other() -> None:
    grader, fourth = LocomoRetrieval(), locomo_item(sessions=["s004"])
    other = history(*([("user", text)] for text in ("In Quito.", "No.", "Yes.", "So.")))

    def ranked(item: ItemKey, whole: Scenario, *names: str) -> float | None:
        return grader.grade(item, whole, [answered(items=named(*names))], NoJudge()).metrics["session_mrr"]

    assert [ranked(ITEM, each, "s004", "s002") for each in (HISTORY, other, HISTORY)] == [0.5, 0.5, 0.5]
    assert ranked(fourth, other, "s004:t01") == ranked(fourth, other, "s004", "s002") == 1.0


def test_turn_metrics_of_a_system_that_returns_sessions_are_none_with_the_reason() -> None:
    # The second item is the one turn of its session, word for word: that makes no system of turns.
    items = (*named("s002"), RetrievedItem(turn_id="s003:t01", source_ids=("s003",)))
    grade = graded(items)
    assert {value for name, value in grade.metrics.items() if name.startswith("turn_")} == {None}
    assert grade.credit == 1.0
    assert grade.reason == (
        "2 of 2 sessions of evidence are among the first 5. The system returns sessions, so turn metrics are left out."
    )


def test_measures_by_hand() -> None:
    found = measures(["b", "x", "a", "y", "z", "c"], {"a", "b", "c", "d"}, (1, 3, 10))
    assert found["recall@1"] == 0.25 and found["recall@3"] == 0.5 and found["recall@10"] == 0.75
    assert found["precision@1"] == 1 and found["precision@3"] == 2 / 3 and found["precision@10"] == 0.3
    assert found["hit@1"] == 1 and found["recall_all@10"] == 0 and found["mrr"] == 1
    ideal = 1 + 1 / log2(3) + 1 / log2(4)
    assert found["ndcg@3"] == pytest.approx((1 + 1 / log2(4)) / ideal)
    assert found["ndcg@10"] == pytest.approx((1 + 1 / log2(4) + 1 / log2(7)) / (ideal + 1 / log2(5)))


def test_the_standard_ndcg_of_longmemevals_example() -> None:
    """The spec's comparison: the same ranking that its own formula gives 0.75."""
    ranking = ["s1", "answer_x", "s2", "answer_y", "s3"]
    found = measures(ranking, {"answer_x", "answer_y"})
    assert found["ndcg@5"] == pytest.approx(0.6509209298071326, abs=1e-15)
    assert found["mrr"] == 0.5


def test_not_everything_is_found_where_there_is_more_than_the_depth_holds() -> None:
    found = measures(["a", "b", "x"], {"a", "b"}, (1, 2))
    assert (found["recall@1"], found["recall_all@1"], found["ndcg@1"], found["recall_all@2"]) == (0.5, 0, 1, 1)


def test_nothing_retrieved_is_nothing_found() -> None:
    assert set(measures([], {"a"}).values()) == {0.0}


@pytest.mark.parametrize(("ranking", "relevant"), [(["a"], set()), (["a", "a"], {"a"})])
def test_what_cannot_be_measured_is_refused(ranking: list[str], relevant: set[str]) -> None:
    with pytest.raises(ValueError, match="needs relevant ids"):
        measures(ranking, relevant)


@given(st.lists(st.integers(0, 30), unique=True), st.sets(st.integers(0, 30), min_size=1))
def test_measures_are_shares_and_recall_never_falls_with_depth(ranking: list[int], relevant: set[int]) -> None:
    found = measures([str(one) for one in ranking], {str(one) for one in relevant})
    assert all(0 <= value <= 1 + 1e-12 for value in found.values())
    recalls = [found[f"recall@{k}"] for k in (1, 5, 10, 25, 50)]
    assert recalls == sorted(recalls)
    assert (found["mrr"] > 0) == (found["hit@50"] == 1)
