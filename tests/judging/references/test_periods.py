"""Periods of time in texts."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.judging.references.periods import mended, periods

DAYS = st.dates(date(1901, 1, 1), date(2099, 12, 1))


def days(text: str) -> list[tuple[str, str]]:
    return [(f"{first}", f"{last}") for period in periods(mended(text)) for first, last in period.spans[:1]]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("the friday before 15 july 2023", "2023-07-14", "2023-07-14"),
        ("the saturday after 1 july 2023", "2023-07-08", "2023-07-08"),
        ("two days before may 5th, 2023", "2023-05-03", "2023-05-03"),
        ("the week before 21janury, 2022", "2022-01-14", "2022-01-20"),
        ("the week after 1 may 2023", "2023-05-02", "2023-05-08"),
        ("the weekend of 22 august 2022", "2022-08-27", "2022-08-28"),
        ("two weekends before 17 july 2023", "2023-07-08", "2023-07-09"),
        ("last month before 13 october 2023", "2023-09-01", "2023-09-30"),
        ("last weekend of july 2023", "2023-07-29", "2023-07-30"),
        ("december 4-10, 2023", "2023-12-04", "2023-12-10"),
        ("early july 2023", "2023-07-01", "2023-07-10"),
        ("february 2024", "2024-02-01", "2024-02-29"),
        ("1/13/2023", "2023-01-13", "2023-01-13"),
        ("in 2019", "2019-01-01", "2019-12-31"),
    ],
)
def test_words_are_read_as_days(text: str, first: str, last: str) -> None:
    assert days(text) == [(first, last)]


@pytest.mark.parametrize("text", ["she may go", "march on", "7 pm", "room 12", "30 february 2023", "may 5 pm"])
def test_words_that_name_no_date_are_none(text: str) -> None:
    assert days(text) == []


@given(DAYS)
def test_every_way_of_writing_a_date_is_that_day(day: date) -> None:
    for text in (
        f"{day}",
        f"{day.day} {day:%B} {day.year}",
        f"{day:%B} {day.day}, {day.year}",
        f"{day:%b} {day.day} {day.year}",
    ):
        assert days(text.lower()) == [(f"{day}", f"{day}")]


@given(DAYS, st.integers(1, 8))
def test_days_before_and_after_are_counted(day: date, count: int) -> None:
    for word, sign in (("before", -1), ("after", 1)):
        there = day + timedelta(days=sign * count)
        assert days(f"{count} days {word} {day}") == [(f"{there}", f"{there}")]


@given(DAYS, st.sampled_from(["monday", "wednesday", "sunday"]))
def test_a_weekday_before_a_date_is_within_a_week(day: date, weekday: str) -> None:
    ((found, _),) = days(f"the {weekday} before {day}")
    then = date.fromisoformat(found)
    assert f"{then:%A}".lower() == weekday and 1 <= (day - then).days <= 7
