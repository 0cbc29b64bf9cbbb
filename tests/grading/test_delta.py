"""Delta efficiency by token counts, as published, and the gate that reads the answers."""

from collections.abc import Sequence
from itertools import zip_longest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.grading.base import DeliveredContexts
from memeval.grading.delivery import DeliveredDelta
from memeval.grading.delta import coverage, efficiency
from memeval.keys import BeliefKey
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Outcome, Response
from tests.grading.builders import NoJudge, delta_item, fact, item, response, scenario

# The table of the DeepMemEval specification, section 6, computed with the formula of its evaluation code.
GOLDEN: list[tuple[Sequence[float], float | None, bool]] = [
    ([1000] * 5 + [100] * 15, 0.9, True),
    ([1000] * 5 + [0] * 15, 1.0, True),
    ([1000] * 20, 0.0, False),
    ([1000] * 5 + [500] * 15, 0.5, False),
    ([1000] * 5 + [499] * 15, 0.501, True),
    ([1001] * 5 + [500] * 15, 0.5004995004995005, True),
    ([100.0 * n for n in range(1, 21)], -3.3333333333333335, False),
    ([100.0 * n for n in range(20, 0, -1)], 0.5555555555555556, True),
    ([100, 200, 300, 400, 500] + [120] * 15, 0.6, True),
    ([900, 850, 800, 780, 760] + [300] * 10 + [450] * 5, 0.5721271393643033, True),
    ([800, 700, 600, 500, 400, 150], 0.75, True),
    ([0] * 20, None, False),
    ([0] * 5 + [10] * 15, None, False),
    ([], None, False),
    ([10], None, False),
    ([10, 4], None, False),
    ([10] * 5, None, False),
    ([5e-324] * 5 + [1e12] * 15, None, False),
]


@pytest.mark.parametrize(("tokens", "value", "passes"), GOLDEN)
def test_efficiency_is_as_the_table_says(tokens: Sequence[float], value: float | None, passes: bool) -> None:
    found = efficiency(tokens)
    assert found.value == (None if value is None else pytest.approx(value, abs=1e-12))
    assert found.passes is passes
    assert (found.reason is None) is (value is not None)


@given(st.lists(st.floats(1, 1e6), min_size=6, max_size=40), st.floats(0.01, 100))
def test_efficiency_does_not_depend_on_the_unit(tokens: list[float], factor: float) -> None:
    first, second = efficiency(tokens), efficiency([factor * t for t in tokens])
    assert first.value is not None and second.value == pytest.approx(first.value, rel=1e-9, abs=1e-9)


FACTS = (fact("Jest"), fact("Redis"), fact("Svelte"), fact("Go"))
ALL = "Jest, Redis, Svelte and Go."
HALF = "Jest and Redis."
SHRINKING = [1000] * 5 + [100] * 15


def responses(
    answers: Sequence[str], counted: Sequence[int | None] = (), reported: Sequence[float | None] = ()
) -> list[Response]:
    rows = zip_longest(answers, counted, reported)
    return [response(text, number=n, counted=tokens, reported=told) for n, (text, tokens, told) in enumerate(rows, 1)]


def graded(given: list[Response]) -> Grade:
    questions = [f"Question {n}?" for n in range(len(given))]
    whole, contexts = scenario(questions=questions), DeliveredContexts(read=True)
    return DeliveredDelta().grade_delivered(delta_item([FACTS] * len(given)), whole, given, contexts)


def test_a_saving_passes_under_the_published_rule() -> None:
    grade = graded(responses([ALL] * 20, SHRINKING))
    assert (grade.grader, grade.verdict, grade.flags) == ("delta-efficiency@3", True, ())
    assert grade.value == grade.metrics["efficiency"] == pytest.approx(0.9)
    assert (grade.metrics["early_coverage"], grade.metrics["late_coverage"]) == (1.0, 1.0)
    assert not grade.answerable


@pytest.mark.parametrize(
    ("early", "late", "holds"),
    [
        (ALL, ALL, True),
        (HALF, HALF, True),
        ("Jest.", ALL, False),
        (ALL, HALF, False),
        (HALF, "Jest.", False),
        ("I am not sure.", "I am not sure.", False),
    ],
)
def test_the_gate_reads_the_answers(early: str, late: str, holds: bool) -> None:
    answers = [early] * 5 + [late] * 15
    assert coverage(answers, [FACTS] * 20).holds is holds
    assert graded(responses(answers, SHRINKING)).verdict is True


def test_late_answers_may_lose_a_fifth_and_no_more() -> None:
    keeping = [ALL] * 5 + [ALL] * 3 + ["Jest, Redis and Svelte."] * 12
    assert coverage(keeping, [FACTS] * 20).holds
    losing = [ALL] * 5 + [ALL] * 2 + ["Jest, Redis and Svelte."] * 13
    found = coverage(losing, [FACTS] * 20)
    assert found.late == pytest.approx(0.7833333)
    assert not found.holds


def test_turns_have_facts_of_their_own_and_those_without_any_are_left_out() -> None:
    facts = [FACTS[:1]] * 2 + [()] * 3 + [FACTS] * 10 + [()] * 5
    found = coverage(["Jest"] * 5 + [ALL] * 10 + ["?"] * 5, facts)
    assert (found.early, found.late, found.holds) == (1.0, 1.0, True)
    assert coverage(["Jest"] * 20, [()] * 20).holds is False


@pytest.mark.parametrize(("answers", "late"), [([ALL] * 5, None), ([*[ALL] * 3, "?"], 2 / 3), ([*[ALL] * 5, "?"], 0.0)])
def test_of_fewer_than_five_questions_only_the_first_is_early(answers: list[str], late: float | None) -> None:
    found = coverage(answers, [FACTS] * len(answers))
    assert (found.early, found.late) == (1.0, late if late is None else pytest.approx(late))


def test_no_saving_fails_however_good_the_answers() -> None:
    grade = graded(responses([ALL] * 20, [1000] * 20))
    assert (grade.verdict, grade.value) == (False, 0.0)


def test_an_undefined_efficiency_is_none_with_a_reason_and_fails() -> None:
    grade = graded(responses([ALL] * 20, [0] * 20))
    assert (grade.verdict, grade.value, grade.state) == (False, None, GradeState.GRADED)
    assert grade.reason == "No context was delivered for the early questions."
    uncounted = graded(responses([ALL] * 20))
    assert (uncounted.verdict, uncounted.value) == (False, None)
    assert uncounted.reason == "Not every question has a token count."


def test_counted_tokens_go_before_reported_ones_and_a_difference_is_flagged() -> None:
    grade = graded(responses([ALL] * 20, [1000] * 20, [float(t) for t in SHRINKING]))
    assert (grade.value, grade.flags) == (0.0, (Flag.TOKEN_MISMATCH,))
    close = graded(responses([ALL] * 20, [1000] * 20, [1100.0] * 20))
    assert close.flags == ()


def test_reported_tokens_count_where_there_are_no_others_and_are_flagged() -> None:
    grade = graded(responses([ALL] * 20, reported=[t * 1.3 for t in SHRINKING]))
    assert grade.value == pytest.approx(0.9)
    assert grade.flags == (Flag.SELF_REPORTED_TOKENS,)


def test_a_failed_question_fails_the_item_with_the_first_failure() -> None:
    given = responses([ALL] * 20, SHRINKING)
    given[7] = response(outcome=Outcome.TIMEOUT, number=8)
    given[9] = response(outcome=Outcome.ADAPTER_ERROR, number=10)
    grade = graded(given)
    assert (grade.state, grade.verdict) == (GradeState.TIMEOUT, None)
    assert grade.alternates == {"gated": False, "corrected": False}


def with_a_blank_answer() -> list[Response]:
    given = responses([ALL] * 20, SHRINKING)
    given[7] = response(outcome=Outcome.EMPTY, number=8, counted=100)
    return given


def test_a_blank_answer_fails_only_the_gated_rule() -> None:
    # DeepMemEval's evaluate_delta_efficiency reads token_counts alone (specification, sections 3 and 6).
    grade = graded(with_a_blank_answer())
    assert (grade.state, grade.verdict, grade.reason) == (GradeState.GRADED, True, "Efficiency 0.900 is above 0.5.")
    assert grade.alternates == {"gated": False, "corrected": False}


def test_an_error_behind_a_blank_answer_fails_the_item_as_an_error() -> None:
    given = with_a_blank_answer()
    given[12] = response(outcome=Outcome.ADAPTER_ERROR, number=13)
    grade = graded(given)
    assert (grade.state, grade.verdict, grade.alternates["gated"]) == (GradeState.ADAPTER_ERROR, None, False)


def test_other_keys_and_missing_responses_are_refused() -> None:
    with pytest.raises(TypeError, match="belief-update"):
        DeliveredDelta().grade(item(BeliefKey(current=FACTS[0], stale=())), scenario(), [response()], NoJudge())
    with pytest.raises(ValueError, match="1 responses to 20"):
        DeliveredDelta().grade(delta_item([FACTS] * 20), scenario(), [response()], NoJudge())


def test_no_judge_is_asked() -> None:
    given = (delta_item([(fact("Jest"),)] * 20), scenario(questions=["?"] * 20))
    assert DeliveredDelta().cases(*given, [response("Jest", number=n) for n in range(1, 21)]) == ()
