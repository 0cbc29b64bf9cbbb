"""Marks: dates in any format, numbers however they are written, and words by their stems."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.judging.marks import DateMark, is_number, marks

DAY = DateMark(2021, 3, 5)


@pytest.mark.parametrize(
    "text",
    [
        "5 March 2021",
        "5 March, 2021",
        "5March, 2021",
        "March 5, 2021",
        "Mar. 5th, 2021",
        "the 5th of March 2021",
        "2021-03-05",
        "2021/3/5",
        "3/5/2021",
        "on MARCH 5 2021.",
    ],
)
def test_a_day_is_the_same_in_every_format(text: str) -> None:
    assert marks(text) == [DAY]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("March 2021", [DateMark(2021, 3, None)]),
        ("March of 2021", [DateMark(2021, 3, None)]),
        ("2021-03", [DateMark(2021, 3, None)]),
        ("in 2021", [DateMark(2021, None, None)]),
        ("in April", [DateMark(None, 4, None)]),
        ("April 5", [DateMark(None, 4, 5)]),
        ("May 5 at 3:30 pm", [DateMark(None, 5, 5), "3:30", "pm"]),
        ("they may go", ["go"]),
        ("a march for peace", ["march", "peac"]),
        ("$2021", ["2021"]),
        ("20210305", ["20210305"]),
    ],
)
def test_partial_dates_and_other_numbers_are_recognized(text: str, found: list[object]) -> None:
    assert marks(text) == found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("seven", "7"),
        ("Twelve cats", "12 cats"),
        ("$400,000", "400000"),
        ("the first", "1st"),
        ("the 2nd", "second"),
        ("7pm", "7 PM"),
        ("Ada's dogs", "ada dog"),
        ("Ada\u2019s dog", "Ada's dog"),
        ("about two", "2"),
    ],
)
def test_what_says_the_same_has_the_same_marks(one: str, other: str) -> None:
    assert marks(one) == marks(other) != []


@pytest.mark.parametrize(
    ("mark", "number"), [("7", True), ("25:50", True), ("2.5", True), ("7th", False), ("a", False)]
)
def test_ordinals_are_not_numbers(mark: str, number: bool) -> None:
    assert is_number(mark) is number
    assert not is_number(DAY)


@given(st.one_of(st.text(), st.text(alphabet="0123456789/-.,: marchayjun")))
def test_any_text_has_marks_and_the_same_ones_in_capitals(text: str) -> None:
    found = marks(text)
    assert all(isinstance(mark, DateMark) or mark for mark in found)
    if text.isascii():
        assert marks(text.upper()) == found
