"""Reading ratings and rankings out of answers: the released code's rules to the digit, and the strict ones."""

import math
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.memorycd.grading import ParseState, parsed_ranking, parsed_rating, published_ranking

OK, REPAIRED, FALLBACK = ParseState
A, B, C = "B00000000A", "B00000000B", "B00000000C"
BOOKS = ("0316769487", "B00000000A", "031676948X")


@pytest.mark.parametrize(
    ("answer", "stars", "state"),
    [
        ("4/5", 4, REPAIRED),
        ("10", 5, REPAIRED),
        ("-3", 1, REPAIRED),
        ("nan", 5, REPAIRED),
        ("inf", 5, REPAIRED),
        ("-inf", 1, REPAIRED),
        ("", 3, FALLBACK),
        ("1-5: 4", 1, REPAIRED),
        ("4", 4, OK),
        (" 4\n", 4, OK),
        ("4.25", 4.25, OK),
        ("I would say 4.5 stars", 4.5, REPAIRED),
        ("Rating: 3.", 3, REPAIRED),
        ("five", 3, FALLBACK),
        ("²", 3, FALLBACK),
        ("４", 4, OK),
        ("٣ نجوم", 3, REPAIRED),
        ("0", 1, REPAIRED),
        ("1e400", 5, REPAIRED),
        ("\ud800", 3, FALLBACK),
        ("-0.0", 1, REPAIRED),
    ],
)
def test_a_rating_is_the_number_that_stands_there_brought_into_range(
    answer: str, stars: float, state: ParseState
) -> None:
    found = parsed_rating(answer)
    assert (found.value, found.state, found.finite) == (stars, state, answer not in ("nan", "inf", "-inf", "1e400"))


def upstream_rating(answer: str) -> float:
    """The released rule, spelled out a second time."""
    try:
        number = float(answer)
    except ValueError:
        match = re.search(r"\d+\.?\d*", answer)
        number = float(match.group()) if match else 3.0
    if math.isnan(number) or number > 5:
        return 5.0
    return 1.0 if number < 1 else number


@given(st.text() | st.floats().map(str) | st.from_regex(r"[\d.\-e/ ]{0,12}") | st.text("0١²४９.-x_", max_size=8))
def test_any_text_comes_to_stars_in_range_as_the_released_code_has_it(answer: str) -> None:
    found = parsed_rating(answer)
    assert found.value == upstream_rating(answer)
    assert 1.0 <= found.value <= 5.0
    assert found.state is not FALLBACK or found.value == 3.0


@pytest.mark.parametrize("answer", ["9" * 3_000_000, "x" * 3_000_000 + "4", "1." + "1" * 3_000_000, "4 " * 1_000_000])
def test_long_answers_are_read_in_no_time(answer: str) -> None:
    began = time.process_time()
    assert 1.0 <= parsed_rating(answer).value <= 5.0
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("answer", "candidates", "order"),
    [
        (f"{C}, {A}, {B}", (A, B, C), (C, A, B)),
        (f"{C}, {C}, then {A}", (A, B, C), (C, A, B)),
        ("", (A, B, C), (A, B, C)),
        ("none of them", (C, B, A), (C, B, A)),
        (f"B99999999Z, {B}", (A, B, C), (B, A, C)),
        (f"x{B}y", (A, B, C), (B, A, C)),
        (f"B{C}", (A, B, C), (A, B, C)),  # the pattern takes the first ten signs from the first B on
        (A.lower(), (B, A), (B, A)),
        (f"031676948X, {A}, 0316769487", BOOKS, (A, "0316769487", "031676948X")),
        (f"{B}, {A}", (A, A, B), (A, A, B)),  # listed twice: the counts differ
        ("", (A, A, B), (A, A, B)),
    ],
)
def test_the_released_rule_recognises_ids_with_b_and_appends_the_rest_in_prompt_order(
    answer: str, candidates: tuple[str, ...], order: tuple[str, ...]
) -> None:
    assert published_ranking(answer, candidates) == order


@pytest.mark.parametrize(
    ("answer", "candidates", "order", "state"),
    [
        (f"{C}, {A}, {B}", (A, B, C), (C, A, B), OK),
        (f"1. **{C}**\n2. _{A}_\n3. [{B}](x)", (A, B, C), (C, A, B), OK),
        (f"031676948X, {A}, 0316769487", BOOKS, ("031676948X", A, "0316769487"), OK),
        (f"{C}, {A}, {C}, {B}", (A, B, C), (C, A, B), REPAIRED),
        (f"{C}, {A}", (A, B, C), (C, A), FALLBACK),
        ("", (A, B), (), FALLBACK),
        (f"x{A}, {A}y, {A}0, {B}", (A, B), (B,), FALLBACK),
        (A.lower(), (A,), (), FALLBACK),
        ("ab-cd ab", ("ab", "ab-cd"), ("ab-cd", "ab"), OK),
        ("ab-cde ab-c", ("ab", "ab-cd"), ("ab",), FALLBACK),
        ("ab-cd", ("ab-cd", "cd"), ("ab-cd",), FALLBACK),
        (f"{A}, {B}", (A, A, B), (A, B), OK),
        ("??", ("??",), (), FALLBACK),
    ],
)
def test_the_strict_rule_takes_candidates_by_the_letter_and_makes_none_up(
    answer: str, candidates: tuple[str, ...], order: tuple[str, ...], state: ParseState
) -> None:
    found = parsed_ranking(answer, candidates)
    assert (found.order, found.state) == (order, state)


IDS = st.lists(st.from_regex(r"[B0-9][0-9A-Z]{9}", fullmatch=True), min_size=1, max_size=12, unique=True)


@given(IDS, st.data())
def test_every_order_of_candidates_is_read_back(ids: list[str], data: st.DataObject) -> None:
    order = data.draw(st.permutations(ids))
    joint = data.draw(st.sampled_from([", ", " ", "\n- ", "_", "—"]))
    assert parsed_ranking(joint.join(order), ids).order == tuple(order)
    assert sorted(published_ranking(joint.join(order), ids)) == sorted(ids)


@given(st.text() | st.text("B0A, _-", max_size=60), st.lists(st.text("B0A-", min_size=1), min_size=1, max_size=6))
def test_any_answer_is_read_without_failing_and_names_candidates_only(answer: str, ids: list[str]) -> None:
    strict, published = parsed_ranking(answer, ids), published_ranking(answer, ids)
    assert set(strict.order) <= set(ids)
    assert len(set(strict.order)) == len(strict.order)
    assert all(one in answer for one in strict.order)
    assert sorted(published) == sorted(ids)


def test_thousands_of_candidates_in_a_long_answer_are_read_in_no_time() -> None:
    ids = [f"B{number:09d}" for number in range(5000)]
    answer = ", ".join(reversed(ids)) + " B" * 1_000_000
    began = time.process_time()
    assert parsed_ranking(answer, ids).order == tuple(reversed(ids))
    assert published_ranking(answer, ids) == tuple(reversed(ids))
    assert time.process_time() - began < 5
