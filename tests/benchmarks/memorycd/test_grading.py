"""The graders of MemoryCD's four tasks: strict credit, and the released code's credit as an alternate."""

import math

import pytest

from memeval.benchmarks.memorycd.grading import (
    MemoryCDRanking,
    MemoryCDRating,
    MemoryCDText,
    macro_average,
    ranking_metrics,
)
from memeval.benchmarks.memorycd.keys import MemoryCDKey, MemoryCDTask
from memeval.grading.base import Grader
from memeval.grading.scoring import score
from memeval.keys import BeliefKey, ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Outcome
from memeval.records.track import CategoryPlan
from tests.grading.builders import NoJudge, fact, item, response, scenario

A, B, C, D, E, F = (f"B00000000{letter}" for letter in "ABCDEF")
ERRORS = [outcome for outcome in Outcome if outcome.is_error]
RATING, TEXT, RANKING = MemoryCDRating(), MemoryCDText(), MemoryCDRanking()


def keyed(key: MemoryCDKey, category: str = "Books") -> ItemKey:
    return item(key, category=category)


def rated(stars: float = 5.0) -> ItemKey:
    return keyed(MemoryCDKey(task=MemoryCDTask.RATING, rating=stars))


def written(text: str = "Great value for money") -> ItemKey:
    return keyed(MemoryCDKey(task=MemoryCDTask.TITLE, text=text))


def ranked(chosen: str = B, *candidates: str) -> ItemKey:
    return keyed(MemoryCDKey(task=MemoryCDTask.RANKING, chosen=chosen, candidates=candidates or (A, B, C)))


GRADERS: dict[str, tuple[Grader, ItemKey, str]] = {
    "rating": (RATING, rated(), "4"),
    "text": (TEXT, written(), "great"),
    "ranking": (RANKING, ranked(), f"{A}, {B}, {C}"),
}
"""Each with an answer that earns something."""


def graded(grader: Grader, key: ItemKey, answer: str, outcome: Outcome = Outcome.OK) -> Grade:
    return grader.grade(key, scenario(), [response(answer, outcome)], NoJudge())


def test_a_rating_earns_what_its_error_leaves_of_four_stars() -> None:
    grade = graded(RATING, rated(4.0), "1")
    assert (grade.state, grade.verdict, grade.credit) == (GradeState.GRADED, None, 0.25)
    assert grade.alternates == {"published": 0.25}
    errors = {"mae": 3.0, "squared_error": 9.0, "published_mae": 3.0, "published_squared_error": 9.0}
    assert grade.metrics == errors | dict.fromkeys(("repaired", "fallback", "non_finite", "decimal"), 0.0)
    assert (grade.grader, grade.answerable) == ("memorycd-rating@1", False)
    assert grade.reason == "The answer is off by 3 stars."


def test_an_answer_without_a_number_counts_as_three_stars_only_as_published() -> None:
    grade = graded(RATING, rated(4.0), "four, I think")
    assert (grade.state, grade.credit, grade.reason) == (GradeState.GRADED, 0.0, "There is no number in the answer.")
    assert grade.alternates == {"published": 0.75}
    assert (grade.metrics["mae"], grade.metrics["published_mae"], grade.metrics["fallback"]) == (None, 1.0, 1.0)


def test_repaired_and_unusual_numbers_are_reported() -> None:
    grade = graded(RATING, rated(4.0), "NaN")
    assert (grade.credit, grade.metrics["repaired"], grade.metrics["non_finite"]) == (0.75, 1.0, 1.0)
    grade = graded(RATING, rated(4.0), "4.5")
    assert (grade.credit, grade.metrics["repaired"], grade.metrics["decimal"]) == (0.875, 0.0, 1.0)


def test_a_blank_rating_is_wrong_and_never_three_stars() -> None:
    grade = graded(RATING, rated(3.0), "", Outcome.EMPTY)
    assert (grade.state, grade.credit, grade.reason) == (GradeState.EMPTY, 0.0, "The answer is blank.")
    measured = {name for name, value in grade.metrics.items() if value is not None}
    assert measured == {"published_mae", "published_squared_error"}
    assert (grade.alternates, grade.metrics["published_mae"]) == ({"published": 1.0}, 0.0)


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize("outcome", ERRORS)
@pytest.mark.parametrize("name", GRADERS)
def test_a_failure_has_its_state_and_neither_credit_nor_strict_measures(
    name: str, outcome: Outcome, answered: bool
) -> None:
    grader, key, answer = GRADERS[name]
    grade = graded(grader, key, answer if answered else "", outcome)
    assert (grade.state.value, grade.credit, grade.verdict) == (outcome.value, None, None)
    assert all(value is None for name, value in grade.metrics.items() if not name.startswith("published_"))
    assert set(grade.alternates.values()) <= {0.0}


def test_a_text_earns_its_rouge_l() -> None:
    grade = graded(TEXT, written(), "great money")
    assert grade.credit == pytest.approx(2 / 3)
    assert grade.metrics == {
        "rouge1": pytest.approx(2 / 3),
        "rougeL": pytest.approx(2 / 3),
        "bleu1": pytest.approx(math.exp(-1) * 0.5),
        "bleu4": pytest.approx(math.exp(-1) * (0.5 * 0.1 * 0.1 * 0.1) ** 0.25),
    }
    assert grade.reason == "ROUGE-L with what the person wrote is 0.667."


def test_a_texts_credit_depends_on_word_order() -> None:
    grade = graded(TEXT, written("a b c"), "c b a")
    assert grade.credit == pytest.approx(1 / 3) and grade.metrics["rouge1"] == 1.0


def test_a_blank_text_measures_nothing() -> None:
    grade = graded(TEXT, written(), " ", Outcome.EMPTY)
    assert (grade.state, grade.credit) == (GradeState.EMPTY, 0.0)
    assert set(grade.metrics.values()) == {0.0}


@pytest.mark.parametrize(
    ("rank", "five", "three"),
    [
        (1, 1.0, 1.0),
        (2, 0.6309297535714575, 0.6309297535714575),
        (3, 0.5, 0.5),
        (5, 0.38685280723454163, 0.0),
        (6, 0, 0),
    ],
)
def test_gain_falls_with_the_rank_and_is_nothing_beyond_the_depth(rank: int, five: float, three: float) -> None:
    found = ranking_metrics(rank)
    assert [found["ndcg@5"], found["ndcg@3"]] == pytest.approx([five, three], abs=1e-15)
    assert [found[f"recall@{k}"] for k in (1, 3, 5)] == [float(rank <= k) for k in (1, 3, 5)]


def test_a_ranking_earns_its_gain_at_five() -> None:
    grade = graded(RANKING, ranked(B, A, B, C), f"{C}, {B}, {A}")
    assert grade.credit == grade.metrics["ndcg@5"] == pytest.approx(0.6309297535714575)
    assert grade.metrics["ndcg@1"] == grade.metrics["recall@1"] == 0.0
    assert grade.metrics["published_ndcg@5"] == grade.alternates["published"] == grade.credit
    assert grade.reason == "What the person chose has rank 2."
    assert (grade.metrics["fallback"], grade.metrics["repaired"]) == (0.0, 0.0)


def test_an_incomplete_ranking_earns_credit_only_as_published() -> None:
    grade = graded(RANKING, ranked(B, A, B, C), f"{C}")
    assert (grade.credit, grade.metrics["ndcg@5"], grade.metrics["fallback"]) == (0.0, 0.0, 1.0)
    assert grade.metrics["published_ndcg@5"] == pytest.approx(0.5)  # C, then A, B as shown
    assert grade.reason == "The answer leaves out 2 candidates."
    twice = graded(RANKING, ranked(B, A, A, B), A)
    assert twice.reason == "The answer leaves out 1 candidates.", "what is listed twice is one candidate"


def test_ids_of_books_count_by_the_letter_and_fall_back_as_published() -> None:
    grade = graded(RANKING, ranked("031676948X", "0316769487", "031676948X"), "031676948X, 0316769487")
    assert [grade.credit, grade.alternates["published"]] == pytest.approx([1.0, 0.6309297535714575])


def test_a_blank_ranking_is_wrong_and_the_order_shown_as_published() -> None:
    grade = graded(RANKING, ranked(A, A, B, C), "", Outcome.EMPTY)
    assert (grade.state, grade.credit, grade.alternates) == (GradeState.EMPTY, 0.0, {"published": 1.0})
    assert (grade.metrics["ndcg@5"], grade.metrics["fallback"]) == (0.0, None)


@pytest.mark.parametrize("name", GRADERS)
def test_what_a_grader_cannot_grade_is_refused(name: str) -> None:
    grader, key, _answer = GRADERS[name]
    others = [other for each, (_, other, _) in GRADERS.items() if each != name]
    stranger = key.model_copy(update={"key": BeliefKey(current=fact("Lima"), stale=())})
    for wrong in (*others, stranger):
        with pytest.raises(TypeError, match="cannot use keys of kind"):
            graded(grader, wrong, "4")
    with pytest.raises(ValueError, match="one response"):
        grader.grade(key, scenario(), [response("4"), response("4")], NoJudge())
    bare = key.model_copy(update={"key": key.key.model_copy(update={"rating": None, "text": None, "chosen": None})})
    with pytest.raises(ValueError, match="has no"):
        graded(grader, bare, "4")
    assert grader.cases(key, scenario(), [response("4")]) == ()


def test_scores_have_the_share_of_fallbacks_and_the_mean_error_of_the_rest() -> None:
    answers = {"one": ("5", Outcome.OK), "two": ("?", Outcome.OK), "three": ("3", Outcome.OK)}
    answers["four"] = ("", Outcome.ADAPTER_ERROR)
    grades = [
        graded(RATING, rated(5.0), *answer).model_copy(update={"item_id": name, "cluster": name})
        for name, answer in answers.items()
    ]
    found = score([CategoryPlan(name="Books", weight=1.0, items=4, grader=RATING.name)], grades)
    metrics = found.categories[0].metrics
    assert (metrics["mae"], metrics["squared_error"]) == (1.0, 2.0)
    assert metrics["fallback"] == pytest.approx(1 / 3)
    assert metrics["published_mae"] == pytest.approx((0 + 2 + 2 + 2) / 4)
    assert found.composite.value == pytest.approx((1 + 0 + 0.5 + 0) / 4)
    assert found.overall.errors == 1


def test_the_average_by_person_gives_each_person_equal_weight() -> None:
    assert macro_average([("ada", 1.0), ("ada", 1.0), ("ada", 1.0), ("bo", 0.0)]) == 0.5
    assert macro_average([]) is None
