"""Times in sentences, on the day they are said."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.execution.extractive.cues import month_asked, said_time

MONDAY = date(2023, 5, 8)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("I met her yesterday.", "7 May 2023"),
        ("The day before yesterday it rained.", "6 May 2023"),
        ("Tomorrow I leave.", "9 May 2023"),
        ("Last night we sang.", "7 May 2023"),
        ("We moved three years ago.", "2020"),
        ("We moved two months ago.", "March 2023"),
        ("We moved a couple of weeks ago.", "around 24 April 2023"),
        ("In 5 days I leave.", "13 May 2023"),
        ("In eight months I leave.", "January 2024"),
        ("I ran last week.", "the week before 8 May 2023"),
        ("I ran last weekend.", "the weekend before 8 May 2023"),
        ("I run this weekend.", "the weekend of 13 May 2023"),
        ("I ran last Friday.", "5 May 2023 (the Friday before 8 May 2023)"),
        ("I run next Friday.", "12 May 2023"),
        ("I ran last summer.", "summer 2022"),
        ("I ran last December.", "December 2022"),
        ("I ran last March.", "March 2023"),
        ("I run next June.", "June 2023"),
        ("I run next March.", "March 2024"),
        ("We met on 3 March 2021.", "3 March 2021"),
        ("We met on August 14th.", "14 August 2022"),
        ("We met in 2019.", "2019"),
        ("I left yesterday, not last year.", "7 May 2023"),
        ("We met on 31 June.", None),
        ("They may come.", None),
        ("We met.", None),
    ],
)
def test_a_time_in_words_is_made_clear(text: str, time: str | None) -> None:
    assert said_time(text, MONDAY) == time


@pytest.mark.parametrize(
    ("question", "month"),
    [
        ("What was it in March 2024?", (2024, 3)),
        ("What was it on 4 March 2024?", None),
        ("What was it in March?", None),
        ("What may it be?", None),
    ],
)
def test_the_month_of_a_question(question: str, month: tuple[int, int] | None) -> None:
    assert month_asked(question) == month


@given(st.text(), st.dates())
def test_any_text_on_any_day_is_read(text: str, day: date) -> None:
    said_time(f"{text} 99 years ago", day)
    said_time(f"next year {text} in 12 months", day)
