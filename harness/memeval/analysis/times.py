"""Reads times and numbers in short texts, and compares those of two texts. Unclear times are left out."""

from __future__ import annotations

import re
from typing import NamedTuple

from memeval.judging.text import normal

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DATE = re.compile(
    r"\b(?:"
    r"(?P<y1>\d{4})[-/](?P<m1>\d{1,2})(?:[-/](?P<d1>\d{1,2}))?"
    rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH.format('m2')}\.?(?:,? (?P<y2>\d{{4}}))?"
    rf"|{_MONTH.format('m3')}\.? (?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<y3>\d{{4}}))?"
    rf"|{_MONTH.format('m4')}\.?,? (?P<y4>\d{{4}})"
    r"|(?P<y5>(?:19|20)\d{2})"
    r")(?=\D|$)"
)
_ABOUT = re.compile(
    r"\b(?:before|after|ago|week|weeks|weekend|last|next|previous|following|yesterday|tomorrow|around|early|late|few)\b"
)
_UNITS = r"(second|minute|hour|day|week|month|year)s?"
_WORDS = {
    **{"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9},
    **{"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16},
    **{"seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50},
    **{"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90},
}
_NUMBER = rf"\d[\d,]*(?:\.\d+)?|{'|'.join(_WORDS)}"
_COUNTED = re.compile(rf"\b({_NUMBER})(?: |-){_UNITS}\b")
_BARE = re.compile(rf"\b(?:{_NUMBER})(?!\w|\.\d)")


class StatedDate(NamedTuple):
    """A date; ``None`` for each part that the text leaves out."""

    year: int | None
    month: int | None
    day: int | None

    def agrees(self, other: StatedDate) -> bool:
        """Return whether no part that both have is different."""
        return all(mine is None or theirs is None or mine == theirs for mine, theirs in zip(self, other, strict=True))


def dates(text: str) -> frozenset[StatedDate]:
    """Return the dates in a text; without days if the text says before, after, around or similar."""
    text = " ".join(normal(text).split())
    vague = _ABOUT.search(text) is not None
    return frozenset(_date(found, vague) for found in _DATE.finditer(text))


def durations(text: str) -> frozenset[tuple[float, str]]:
    """Return the durations in a text, each as a number with its unit, such as ``(3.0, "week")``."""
    return frozenset((_value(found[1]), found[2]) for found in _COUNTED.finditer(" ".join(normal(text).split())))


def numbers(text: str) -> frozenset[float]:
    return frozenset(_value(found[0]) for found in _BARE.finditer(normal(text)))


def names_another_time(answer: str, reference: str) -> bool:
    """Return whether both texts have dates, or durations in one unit, and none of them agree."""
    expected_dates, answer_dates = dates(reference), dates(answer)
    if expected_dates and answer_dates:
        return not any(mine.agrees(theirs) for mine in answer_dates for theirs in expected_dates)
    expected = durations(reference)
    units = {unit for _, unit in expected}
    answered = {duration for duration in durations(answer) if duration[1] in units}
    return bool(answered) and not answered & expected


def _date(found: re.Match[str], vague: bool) -> StatedDate:
    part = {name[0]: value for name, value in found.groupdict().items() if value is not None}
    month = part.get("m")
    number = None if month is None else int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
    day = part.get("d")
    return StatedDate(
        year=int(part["y"]) if "y" in part else None, month=number, day=None if day is None or vague else int(day)
    )


def _value(text: str) -> float:
    return float(_WORDS[text]) if text in _WORDS else float(text.replace(",", ""))
