"""Times in sentences: what *yesterday*, *last Saturday* and *three weeks ago* mean on the day they are said."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import date, timedelta

MONTHS = tuple(calendar.month_name)
WEEKDAYS = tuple(calendar.day_name)
SEASONS = ("spring", "summer", "fall", "autumn", "winter")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "a couple of": 2, "three": 3, "few": 3, "a few": 3}
_NUMBERS |= {name: 4 + index for index, name in enumerate(("four", "five", "six", "seven", "eight", "nine", "ten"))}

_MONTH = "|".join(MONTHS[1:])
_WEEKDAY = "|".join(WEEKDAYS)
_COUNT = rf"(?P<count>\d{{1,2}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>day|week|month|year)s?"


def day_in_words(day: date) -> str:
    """Return a day in words: ``7 May 2023``."""
    return f"{day.day} {MONTHS[day.month]} {day.year}"


def month_asked(question: str) -> tuple[int, int] | None:
    """Return the year and month that a question names, if it names no day."""
    for match in _DATE.finditer(question):
        if match["year"] and not (match["day"] or match["day_after"]):
            return int(match["year"]), MONTHS.index(match["month"].capitalize())
    return None


def said_time(text: str, said: date) -> str | None:
    """Return the first time that a sentence names, in words that are clear on any day; ``None`` without one."""
    found: list[tuple[int, str]] = []
    for pattern, in_words in _READINGS:
        if match := pattern.search(text):
            try:
                found.append((match.start(), in_words(match, said)))
            except (ValueError, OverflowError):
                continue  # no such day, or a year beyond the calendar
    return min(found)[1] if found else None


def _moved(said: date, unit: str, by: int) -> str:
    if unit == "day":
        return day_in_words(said + timedelta(days=by))
    if unit == "week":
        return f"around {day_in_words(said + timedelta(weeks=by))}"
    if unit == "year":
        return str(said.replace(day=1, year=said.year + by).year)
    months = said.year * 12 + said.month - 1 + by
    first = date(months // 12, months % 12 + 1, 1)
    return f"{MONTHS[first.month]} {first.year}"


def _counted(match: re.Match[str], said: date) -> str:
    count = match["count"].lower()
    by = int(count) if count.isdigit() else _NUMBERS[count]
    return _moved(said, match["unit"].lower(), by if match.re is _IN else -by)


def _near(match: re.Match[str], said: date) -> str:
    word = match["word"].lower()
    by = -2 if word.startswith("the day") else -1 if word in ("yesterday", "last night") else int(word == "tomorrow")
    return day_in_words(said + timedelta(days=by))


def _named(match: re.Match[str], said: date) -> str:
    which, unit = match["which"].lower(), match["unit"].lower()
    by = -1 if which in ("last", "past", "this past") else 0 if which == "this" else 1
    if unit in SEASONS:
        return f"{unit} {said.year + by}"
    if unit in ("week", "weekend") and by < 0:
        return f"the {unit} before {day_in_words(said)}"
    if unit == "weekend":
        return f"the weekend of {day_in_words(said + timedelta(days=(5 - said.weekday()) % 7 + 7 * by))}"
    if unit in ("week", "month", "year"):
        return _moved(said, unit, by)
    if unit.capitalize() in MONTHS:
        month = MONTHS.index(unit.capitalize())
        return f"{MONTHS[month]} {said.year + (by if (by < 0) == (month >= said.month) else 0)}"
    weekday = next(number for number, name in enumerate(WEEKDAYS) if name.lower().startswith(unit[:3]))
    if by >= 0:
        return day_in_words(said + timedelta(days=(weekday - said.weekday()) % 7 or 7))
    day = said - timedelta(days=(said.weekday() - weekday) % 7 or 7)
    return f"{day_in_words(day)} (the {WEEKDAYS[weekday]} before {day_in_words(said)})"


def _dated(match: re.Match[str], said: date) -> str:
    month, day = MONTHS.index(match["month"].capitalize()), match["day"] or match["day_after"]
    if match["month"] == "may" and not (day or match["year"]):
        raise ValueError("the verb")
    year = int(match["year"]) if match["year"] else said.year - (month > said.month)
    return day_in_words(date(year, month, int(day))) if day else f"{MONTHS[month]} {year}"


def _pattern(body: str) -> re.Pattern[str]:
    return re.compile(rf"\b{body}\b", re.IGNORECASE)


_DATE = _pattern(
    rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?(?P<month>{_MONTH})"
    rf"(?: (?P<day_after>\d{{1,2}})(?:st|nd|rd|th)?\b)?(?:,? (?P<year>(?:19|20)\d\d))?"
)
_IN = _pattern(rf"in {_COUNT} {_UNIT}")
_READINGS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], str]], ...] = (
    (
        _pattern(
            "(?P<word>the day before yesterday|yesterday|today|tonight|tomorrow|last night|just now|earlier today|"
            "this (?:morning|afternoon|evening))"
        ),
        _near,
    ),
    (_pattern(rf"{_COUNT} {_UNIT} (?:ago|back)"), _counted),
    (_IN, _counted),
    (
        _pattern(
            rf"(?P<which>last|this past|this|next|past|coming) (?P<unit>weekend|week|month|year|{'|'.join(SEASONS)}|"
            rf"{_WEEKDAY}|mon|tues?|wed|thurs?|fri|sat|sun|{_MONTH})"
        ),
        _named,
    ),
    (_DATE, _dated),
    (_pattern(r"(?:in|since|of) (?P<year>(?:19|20)\d\d)"), lambda match, said: match["year"]),
)
