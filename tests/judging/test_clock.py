"""Times of day in the forms in which people and models write them."""

import pytest

from memeval.benchmarks.qa.keys import holds
from memeval.judging.text import states, with_clock

SEVEN = (
    "7 pm",
    "7 p.m.",
    "7pm",
    "7PM",
    "7 P.M.",
    "7:00 pm",
    "7:00 p.m.",
    "7.00 pm",
    "19:00",
    "7 p. m.",
    "seven pm",
    "７ ｐｍ",
)


@pytest.mark.parametrize("written", SEVEN)
@pytest.mark.parametrize("wanted", SEVEN)
def test_one_time_is_the_same_in_all_forms(written: str, wanted: str) -> None:
    assert states(f"She left at {written}, tired.", (wanted,))
    assert holds(f"She left at {written}, tired.", (wanted,))


@pytest.mark.parametrize(
    ("written", "clock"),
    [
        ("12 am", "0:00"),
        ("midnight", "0:00"),
        ("12 pm", "12:00"),
        ("noon", "12:00"),
        ("12 noon", "12:00"),
        ("07:05", "7:05"),
        ("7:30 p.m. sharp", "19:30 sharp"),
        ("7 to 8 pm", "19:00 to 20:00"),
        ("11-1 pm", "11:00-13:00"),
        ("8:00am-5:00pm", "8:00-17:00"),
        ("9 o'clock", "9:00"),
        ("9 o'clock in the evening", "21:00"),
        ("7:00:00", "7:00"),
    ],
)
def test_a_time_is_written_as_hour_and_minute_of_the_day(written: str, clock: str) -> None:
    assert with_clock(written) == clock


@pytest.mark.parametrize(
    "text",
    ["3:2", "16:9", "25 pm", "i am 7", "2 amazing days", "a.m.", "2023-05-08", "the afternoon", "1:2:3", "three amps"],
)
def test_what_is_no_time_of_day_stays(text: str) -> None:
    assert with_clock(text) == text


def test_morning_and_evening_differ() -> None:
    assert not states("at 7 am", ("7 pm",))
    assert not states("at 7:00", ("19:00",))
    assert states("at 7:00", ("7 am",))
