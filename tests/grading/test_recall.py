"""Searches of a bank: relevance by id, leaks, and the values of the suites' specification."""

from collections.abc import Sequence
from math import log2
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.grading.evidence import measures
from memeval.grading.recall import Recalled, Unlabelled, holds, passes
from memeval.keys import ItemKey, RecallKey
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Outcome, RetrievedItem
from memeval.records.scenario import Recall, Retain, Scenario
from tests.grading.builders import NoJudge, item, reply

TEXTS = (
    ("s001", "Ida rows.", None, ("sport",), "2025-01-10"),
    ("s002", "Ida sings.", None, ("music",), "2025-02-01"),
    ("s003", "Ida bakes.", None, None, ""),
    ("s004", "Ida rows.", "other", ("sport",), "2025-01-10"),
    ("s005", "Ida rows.", None, ("sport",), "2025-01-11"),
    ("s006", "Oskar swims.", "other", None, ""),
)


def scenario(**asked: Any) -> Scenario:
    """Return a scenario of the texts above and one search."""
    texts = [
        Retain(text_id=name, content=content, bank=bank, tags=tags, occurred_at=at, source_id=f"r-{name}")
        for name, content, bank, tags, at in TEXTS
    ]
    search = Recall(question_id="i:q01", question="What does Ida do?", **asked)
    return Scenario(scenario_id="i", steps=(*texts, search))


def hit(text: str = "a memory", *sources: str, turn: str | None = None, score: float | None = None) -> RetrievedItem:
    return RetrievedItem(turn_id=turn, text=None if turn else text, source_ids=sources, score=score)


def named(*sources: str) -> list[RetrievedItem]:
    """Return hits that each name one text, in words of their own."""
    return [hit(f"memory {place}", source) for place, source in enumerate(sources)]


def graded(
    hits: Sequence[RetrievedItem] | None,
    relevant: Sequence[str] = (),
    *,
    outcome: Outcome = Outcome.OK,
    key: RecallKey | None = None,
    **asked: Any,
) -> Grade:
    """Return the grade of a search that brought up some hits."""
    wanted: ItemKey = item(key or RecallKey(absent=not relevant))
    wanted = wanted.model_copy(update={"evidence": tuple(relevant) or None})
    return Recalled().grade(wanted, scenario(**asked), [reply(wanted, "", hits, outcome)], NoJudge())


def test_golden_ndcg() -> None:
    """Relevance [0, 1, 1, 0] of Astrocyte's suites: by what was retrieved alone, and with three in the store."""
    ranking = ("x", "a", "b", "y")
    assert measures(ranking, {"a", "b"}, (4,))["ndcg@4"] == pytest.approx(0.6934264036172708, abs=1e-15)
    found = measures(ranking, {"a", "b", "c"}, (2, 4))
    assert found["ndcg@4"] == pytest.approx(0.5307212739772434, abs=1e-15)
    assert found["ndcg@2"] == pytest.approx(0.38685280723454163, abs=1e-15)
    assert found["mrr"] == 0.5 and measures(ranking, {"a", "b"}, (4,))["precision@4"] == 0.5


def test_the_same_values_come_of_a_search() -> None:
    grade = graded(named("s006x", "s001", "s002", "zzz"), ["s001", "s002", "s003"], k=4)
    assert grade.credit == grade.metrics["ndcg"] == pytest.approx(0.5307212739772434, abs=1e-15)
    assert (grade.metrics["mrr"], grade.metrics["precision"], grade.metrics["hit"]) == (0.5, 0.5, 1.0)
    assert grade.metrics["r_precision"] == 2 / 3
    assert [grade.metrics[f"recall@{k}"] for k in (1, 3, 5, 10)] == [0, 2 / 3, 2 / 3, 2 / 3]
    short = graded(named("s006x", "s001", "s002"), ["s001", "s002", "s003"], k=2)
    assert short.credit == pytest.approx(0.38685280723454163, abs=1e-15)


def test_a_perfect_search_gets_credit_1_and_an_empty_one_0() -> None:
    perfect = graded(named("s002", "s003"), ["s003", "s002"])
    assert (perfect.credit, perfect.verdict, perfect.state) == (1.0, None, GradeState.GRADED)
    nothing = graded([], ["s002"])
    assert (nothing.credit, nothing.metrics["precision"], nothing.metrics["mrr"]) == (0.0, 0.0, 0.0)
    assert nothing.metrics["duplicate_rate"] is None


def test_hits_name_texts_or_turns_and_chunks_count_once_at_their_best_rank() -> None:
    grade = graded(named("s001:t01", "s001", "s001:t01", "s002"), ["s001", "s002"])
    assert grade.credit == 1.0
    assert grade.metrics["precision"] == 1.0
    assert grade.metrics["duplicate_rate"] == 0.0, "chunks of one text are no duplicates"


def test_r_precision_looks_no_deeper_than_there_are_relevant_texts() -> None:
    late = graded(named("s002", "s003", "s001"), ["s001", "s003"]).metrics
    assert (late["r_precision"], late["precision"]) == (1 / 2, 2 / 3)


def test_an_item_that_names_everything_gains_nothing_by_it() -> None:
    lazy = graded([hit("all of it", "s001", "s002", "s003")], ["s003"])
    assert lazy.credit == pytest.approx(1 / log2(4))
    assert lazy.metrics["precision"] == pytest.approx(1 / 3)


def test_the_very_words_of_a_text_say_which_it_is_whatever_the_system_names() -> None:
    assert graded([hit(turn="s002:t01")], ["s002"]).credit == 1.0
    assert graded([hit("x", "s001", turn="s002:t01")], ["s001"]).credit == 0.0


def test_unknown_ids_are_irrelevant() -> None:
    grade = graded(named("nonsense", "s999", "", "s003"), ["s003"])
    assert grade.credit == pytest.approx(1 / log2(5))
    assert grade.flags == ()


def test_equal_texts_in_one_bank_count_once_and_as_duplicates() -> None:
    once = graded(named("s005"), ["s001"])
    assert once.credit == 1.0
    both = graded([hit("Ida rows, I heard.", "s001"), hit("Ida rows!", "s005"), hit("x", "s002")], ["s001", "s005"])
    assert both.credit == 1.0
    assert both.metrics["duplicate_rate"] == pytest.approx(1 / 3)
    again = graded([hit(turn="s001:t01"), hit(turn="s001:t01")], ["s001"])
    assert again.metrics["duplicate_rate"] == 0.5


def test_one_of_several_texts_that_say_the_same_will_do() -> None:
    key = RecallKey(alike=(("s002", "s003"),))
    assert graded(named("s003"), ["s002", "s003"], key=key).credit == 1.0
    assert graded(named("s003"), ["s002", "s003"]).credit == pytest.approx(1 / (1 + 1 / log2(3)))


@pytest.mark.parametrize(
    ("asked", "leaks"),
    [
        ({"tags": ("sport",)}, 2),
        ({"tags": ("sport", "music")}, 1),
        ({"since": "2025-01-10", "until": "2025-02-01T00:00:00Z"}, 2),
        ({"since": "2025-02-01"}, 2),
        ({"until": "2025-01-10T00:00:00+01:00"}, 3),
        ({"tags": ("music",), "since": "2025-01-01"}, 2),
    ],
)
def test_a_hit_that_does_not_pass_the_filter_is_a_leak_and_costs_the_point(asked: dict[str, Any], leaks: int) -> None:
    grade = graded(named("s001", "s002", "s003"), ["s001"], **asked)
    assert grade.metrics["filter_leak_rate"] == pytest.approx(leaks / 3)
    assert (grade.credit, grade.flags) == (0.0, (Flag.FILTER_LEAK,))
    assert f"{leaks} of 3 hits do not pass the filter." in (grade.reason or "")
    assert grade.metrics["ndcg"] == 1.0, "what was found is told all the same"


def test_a_search_that_keeps_to_its_filter_keeps_its_point() -> None:
    grade = graded(named("s001", "s005"), ["s001"], tags=("sport",), since="2025-01-10", until="2025-01-12")
    assert (grade.credit, grade.metrics["filter_leak_rate"], grade.flags) == (1.0, 0.0, ())
    assert graded([], ["s001"], tags=("sport",)).metrics["filter_leak_rate"] == 0.0
    chunks = graded(named("s001", "s002:t01", "s002", "s002:t02"), ["s001"], tags=("sport",))
    assert chunks.metrics["filter_leak_rate"] == 0.5, "chunks of one text are one hit"
    assert graded(named("s001"), ["s001"]).metrics["filter_leak_rate"] is None, "there was no filter"


def test_a_hit_of_another_bank_is_found_and_costs_the_point() -> None:
    grade = graded(named("s001", "s004", "s006"), ["s001"])
    assert (grade.credit, grade.flags) == (0.0, (Flag.OTHER_BANK,))
    assert grade.metrics["isolation_violations"] == 2
    twin = graded(named("s004", "s002"), ["s001"]).metrics
    assert (twin["precision"], twin["ndcg"]) == (0.0, 0.0), "the same words of another bank are not relevant"
    assert graded(named("s006"), ["s006"], bank="other").metrics["isolation_violations"] == 0


def test_where_there_is_one_bank_nothing_can_be_of_another() -> None:
    whole = scenario()
    ours = tuple(step for step in whole.steps if not isinstance(step, Retain) or step.bank is None)
    wanted = item(RecallKey()).model_copy(update={"evidence": ("s001",)})
    response = reply(wanted, "", named("s001"), Outcome.OK)
    found = Recalled().grade(wanted, whole.model_copy(update={"steps": ours}), [response], NoJudge())
    assert (found.credit, found.metrics["isolation_violations"]) == (1.0, None)


def test_equal_texts_in_two_banks_count_for_the_searched_bank_unless_named() -> None:
    assert graded([hit(turn="s001:t01")], ["s004"], bank="other").credit == 1.0
    told = graded([hit("x", "s001", turn="s001:t01")], ["s004"], bank="other")
    assert told.flags == (Flag.OTHER_BANK,)


def test_a_search_that_nothing_answers_is_right_where_nothing_comes_up() -> None:
    right, wrong = graded([]), graded(named("s001", "s002"))
    assert (right.credit, right.metrics["true_rejection"], right.metrics["false_positive_hits"]) == (1.0, 1.0, 0.0)
    assert (wrong.credit, wrong.metrics["true_rejection"], wrong.metrics["false_positive_hits"]) == (0.0, 0.0, 2.0)
    assert not {"precision", "mrr", "ndcg", "hit", "recall@1"} & set(right.metrics)
    assert graded([hit("both", "s001", "s002")]).metrics["false_positive_hits"] == 1.0, "it is one hit"


def test_hits_below_the_least_score_did_not_come_up() -> None:
    low = [hit("a", "s001", score=0.2), hit("b", "s002", score=0.5), hit("c", "s003", score=0.9)]
    assert graded(low[:1], key=RecallKey(absent=True, min_score=0.5)).credit == 1.0
    assert graded(low, key=RecallKey(absent=True, min_score=0.5)).metrics["false_positive_hits"] == 2
    assert graded(low, ["s003"], key=RecallKey(min_score=0.9)).credit == 1.0
    assert graded([hit("a", "s003")], ["s003"], key=RecallKey(min_score=0.9)).credit == 1.0, "it gave no score"


def test_where_a_system_names_no_texts_words_decide_and_the_grade_says_so() -> None:
    key = RecallKey(keywords=("ida", "ROWS"))
    grade = graded([hit("Ida likes to row."), hit("She, Ida, rows."), hit("Ida rows")], ["s001", "s002"], key=key)
    assert grade.metrics["by_text"] == 1.0
    assert grade.credit == pytest.approx((1 / log2(3) + 1 / log2(4)) / (1 + 1 / log2(3)))
    assert (grade.reason or "").endswith("Relevance by text.")
    assert grade.metrics["isolation_violations"] is None, "nobody knows where they are from"
    named_one = graded([hit("Ida rows, they say."), *named("s002")], ["s001"], key=key)
    assert (named_one.credit, named_one.metrics["by_text"]) == (0.0, 0.0)
    assert graded([hit("sings")], ["s002"], key=RecallKey(keywords=("rows", "sings"), one_keyword=True)).credit == 1.0
    assert graded([hit("Ida rows"), hit("Ida rows")], ["s001", "s002"], key=key).metrics["precision"] == 1.0
    assert graded([hit("anything")], ["s001"]).credit == 0.0, "there are no keywords"


@pytest.mark.parametrize("outcome", [Outcome.ADAPTER_ERROR, Outcome.TIMEOUT])
def test_a_search_that_fails_is_an_error_and_nothing_is_measured(outcome: Outcome) -> None:
    grade = graded(None, ["s001"], outcome=outcome)
    assert (grade.state.value, grade.credit, grade.verdict, grade.metrics) == (outcome.value, None, None, {})
    assert graded(None, outcome=outcome).credit is None, "a failure is no rejection"


def test_what_has_no_truth_is_not_graded_here() -> None:
    for key in (RecallKey(graded=False), RecallKey()):
        with pytest.raises(ValueError, match="only searches with an expected result"):
            graded([], key=key)


def test_a_question_without_a_truth_neither_earns_nor_is_an_error() -> None:
    bare = item(RecallKey(graded=False))
    row = Unlabelled().grade(bare, scenario(), [reply(bare, "", [], Outcome.OK)], NoJudge())
    assert (row.state, row.credit, row.metrics, row.flags) == (GradeState.GRADED, 0.0, {}, ())
    row = Unlabelled().grade(bare, scenario(), [reply(bare, outcome=Outcome.TIMEOUT)], NoJudge())
    assert (row.state, row.credit) == (GradeState.TIMEOUT, None)


def test_time_ranges_include_their_start_and_exclude_their_end() -> None:
    def text(at: str) -> Retain:
        return Retain(text_id="s001", content="x", occurred_at=at, source_id="r1")

    asked = Recall(question_id="q", question="x", since="2025-01-01", until="2025-02-01")
    inside = ("2025-01-01", "2025-01-01T00:00:00Z", "2025-01-31T23:59:59.999Z", "2025-02-01T00:30:00+01:00")
    outside = ("2025-02-01", "2025-02-01T00:00:00Z", "2024-12-31", "2025-01-01T00:30:00+01:00", "")
    assert all(passes(asked, text(at)) for at in inside)
    assert not any(passes(asked, text(at)) for at in outside)


def test_keywords_are_found_in_any_case() -> None:
    assert holds("Die STRASSE", ("straße",), one=False)
    assert not holds("Ida rows", ("ida", "sings"), one=False)
    assert holds("Ida rows", ("ida", "sings"), one=True)
    assert not holds("Ida rows", (), one=False) and not holds("Ida rows", (), one=True)


@given(
    st.lists(st.sampled_from(["s001", "s002", "s003", "s004", "s005", "s006", "s999", "x:y", ""]), max_size=12),
    st.lists(st.sampled_from(["s001", "s002", "s003"]), min_size=1, max_size=3, unique=True),
    st.integers(1, 12),
)
def test_whatever_comes_up_every_measure_is_a_share(hits: list[str], relevant: list[str], k: int) -> None:
    grade = graded(named(*hits), relevant, k=k)
    shares = {name: value for name, value in grade.metrics.items() if name != "isolation_violations"}
    assert all(value is None or 0 <= value <= 1 for value in shares.values())
    assert grade.credit is not None and 0 <= grade.credit <= 1
    assert (grade.credit == 0) or not grade.flags
