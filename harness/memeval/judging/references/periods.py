"""Periods of time in a text: dates in any format, ranges, and dates relative to a date.

"The Friday before 15 July 2023" is 14 July 2023, and so is "7/14/2023". A week, a month and a year are periods of days.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

import regex

from memeval.judging.references.lexical import one_slip

Span = tuple[date, date]
"""First and last day."""

MONTH = 27
"""Days from the first to the last of a month, at least."""

NO_YEAR = 2000
"""The year of dates that name none; a leap year."""

_MONTHS = (
    *("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug"),
    *("september sept sep", "october oct", "november nov", "december dec"),
)
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_LONG_MONTHS = tuple(name for name in _MONTH_OF if len(name) > 5)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_COUNT_WORDS = "a/an/one two/couple three/few four five six seven eight nine ten eleven twelve"
_COUNTS = {word: number for number, words in enumerate(_COUNT_WORDS.split(), 1) for word in words.split("/")}
_NTH = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": 0}

_NAMED = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_MONTH = rf"(?P<month>{_NAMED})(?![a-z])\.?"
_WHOLE_MONTH = "(?P<month>" + "|".join(name for name in _MONTH_OF if len(name) > 3 and name != "march") + ")(?![a-z])"
_NUMBER_MONTH = r"(?P<month>1[0-2]|0?[1-9])"
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?![\d:%])"
_LAST = r"(?: ?[-–—] ?| to | through | and )(?:the )?(?P<last>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?![\d:%])"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?![\d:])"

_CORE = "|".join(
    (
        rf"{_YEAR}[-/.]{_NUMBER_MONTH}[-/.]{_DAY}",
        rf"{_NUMBER_MONTH}/{_DAY}/{_YEAR}",
        rf"{_DAY}(?:{_LAST})? ?(?:of )?{_MONTH}(?:,? ?(?:of )?{_YEAR})?",
        rf"{_MONTH} ?(?:the )?{_DAY}(?! ?[ap]\.?m\b)(?:{_LAST}(?! ?(?:{_NAMED})(?![a-z])))?(?:,? ?(?:of )?{_YEAR})?",
        rf"{_YEAR}-{_NUMBER_MONTH}(?![-\d])",
        rf"{_MONTH},? ?(?:of )?{_YEAR}",
        _WHOLE_MONTH,
        _YEAR,
    )
)
_WEEKDAY = "|".join(_WEEKDAYS)
_SIDE = r"(?:right |just |immediately |shortly )?(?P<side>before|prior to|preceding|after|following|of|in)"
_N = r"(?P<n>\d{1,2}|a couple(?: of)?|a few|(?:" + "|".join(_COUNTS) + r")(?: of)?)"
_PERIOD = (
    r"(?<![\w$.:/-])(?:"
    rf"(?:(?:last|previous) )?(?P<named>{_WEEKDAY}),? {_SIDE} (?:the )?"
    rf"|(?:(?P<nth>{'|'.join(_NTH)}|previous|prior) )?(?:{_N} )?(?P<unit>day|week|weekend|month|year)s? {_SIDE}"
    r" (?:the )?"
    r"|(?P<part>early|mid|middle|late|beginning|start|end)(?: of|-)? ?(?:the month of |the )?(?:in )?"
    r"|(?P<open>before|prior to|after|until|till) "
    rf")?(?:(?:{_WEEKDAY}),? (?:on |the )?)?(?:{_CORE})(?!\w)"
)
_BESIDE_A_NUMBER = regex.compile(r"(?<=\d[ ,`´]{0,2})[a-z]{5,10}(?![a-z])|\b[a-z]{5,10}(?=,? ?\d)")
_DIGIT = regex.compile(r"\d")
_HINT = regex.compile(r"\d|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec")
"""A text without any of these has no period."""
_LOOSE = regex.compile(r"(?<=\d)[`´](?= )")


@dataclass(frozen=True)
class Period:
    spans: tuple[Span, ...]
    """Its days; several spans if the words have several readings, the most common first."""
    open: str = ""
    """The word that leaves it open: "before" or "after" a date; blank for others."""
    start: int = 0
    """Where its words begin in the text."""
    end: int = 0
    has_year: bool = True
    """Whether its words name a year."""

    def is_within(self, wanted: Period) -> bool:
        """Return whether all days are in a wanted period, so that this period says at least as much.

        One day of a wanted week or weekend is a guess.
        """
        if self.open or wanted.open:
            return self.open == wanted.open and self.spans == wanted.spans
        first, last = self.spans[0]
        return any(
            start <= first and last <= end and (first < last or start == end or (end - start).days >= MONTH)
            for start, end in wanted.spans
        )

    def overlaps(self, other: Period) -> bool:
        return any(a <= d and c <= b for a, b in self.spans for c, d in other.spans)

    def without_year(self) -> Period | None:
        """Return the period in the year of dates without one; ``None`` for one that is longer than a month."""
        try:
            spans = tuple((first.replace(year=NO_YEAR), last.replace(year=NO_YEAR)) for first, last in self.spans)
        except ValueError:
            return None
        if any(first > last or (last - first).days > 31 for first, last in spans):
            return None
        return Period(spans, self.open, self.start, self.end, has_year=False)


def mended(text: str) -> str:
    """Return a text in normal form with slips in the names of months corrected beside a number."""
    if _DIGIT.search(text) is None:
        return text
    return _BESIDE_A_NUMBER.sub(lambda found: _month_like(found.group()), _LOOSE.sub("", text))


def _month_like(word: str) -> str:
    if word in _MONTH_OF:
        return word
    return next((name for name in _LONG_MONTHS if one_slip(word, name)), word)


@cache
def _pattern() -> regex.Pattern[str]:
    """Compile what finds a period, for the first text that may have one: this takes as long as to import NumPy."""
    return regex.compile(_PERIOD)


def periods(text: str, year: int | None = None) -> list[Period]:
    """Return the periods of a text in order.

    ``year``: the year of dates that name none; ``None`` if it is not known.
    """
    found: list[Period] = []
    if _HINT.search(text) is None:
        return found
    for words in _pattern().finditer(text):
        try:
            core = _core(words, year)
            period = _related(words, core)
        except (ValueError, OverflowError):
            continue
        has_year = words["year"] is not None or year is not None
        found.append(Period(period.spans, period.open, words.start(), words.end(), has_year))
    return found


def _core(words: regex.Match[str], default: int | None) -> Span:
    year = int(words["year"]) if words["year"] else default or NO_YEAR
    if words["month"] is None:
        return date(year, 1, 1), date(year, 12, 31)
    month = _MONTH_OF.get(words["month"]) or int(words["month"])
    if words["day"] is None:
        return date(year, month, 1), date(year, month, monthrange(year, month)[1])
    first = date(year, month, int(words["day"]))
    if words["last"] is None:
        return first, first
    return first, date(year, month, int(words["last"]))


def _related(words: regex.Match[str], core: Span) -> Period:
    if words["open"]:
        return Period((core,), "after" if words["open"] == "after" else "before")
    if words["part"]:
        return Period((_part(words["part"], core),))
    if words["named"] or words["unit"]:
        return _counted(words, core)
    return Period((core,))


def _part(name: str, core: Span) -> Span:
    first, last = core
    days = (last - first).days + 1
    third = days // 3
    if name in ("early", "beginning", "start"):
        return first, first + timedelta(days=max(third - 1, 0))
    if name in ("mid", "middle"):
        return first + timedelta(days=third), first + timedelta(days=2 * third)
    return first + timedelta(days=2 * third), last


def _counted(words: regex.Match[str], core: Span) -> Period:
    """Return a period such as a weekday before a date, two weeks after it, or the first weekend of a month."""
    first, last = core
    sign = {"before": -1, "prior to": -1, "preceding": -1, "after": 1, "following": 1}.get(words["side"], 0)
    origin = last if sign > 0 else first
    if words["named"]:
        if not sign:
            raise ValueError
        return Period((_day(_weekday_from(origin, _WEEKDAYS.index(words["named"]), sign)),))
    unit, count = words["unit"], _NTH.get(words["nth"]) or _count(words["n"])
    if not sign:
        return Period(_inside(unit, words["nth"], core))
    is_vague = words["n"] is not None and "few" in words["n"]
    if unit == "day":
        if is_vague:
            return Period((_sorted(origin + timedelta(days=2 * sign), origin + timedelta(days=5 * sign)),), "few")
        return Period((_day(origin + timedelta(days=sign * count)),))
    if is_vague:
        return Period((_day(origin),), f"few {unit}")
    if unit == "weekend":
        saturday = _weekend_from(origin, sign) + timedelta(days=7 * sign * (count - 1))
        return Period(((saturday, saturday + timedelta(days=1)),))
    if unit == "week":
        return Period((_week_from(origin, sign, count),))
    if unit == "month":
        return Period((_month(first, sign * count),) if count == 1 else (_day(_month_later(origin, sign * count)),))
    return Period(((date(first.year + sign * count, 1, 1), date(first.year + sign * count, 12, 31)),))


def _count(word: str | None) -> int:
    if word is None:
        return 1
    bare = word.removeprefix("a ").removesuffix(" of")
    return int(bare) if bare.isdigit() else _COUNTS[bare]


def _day(day: date) -> Span:
    return day, day


def _sorted(one: date, other: date) -> Span:
    return min(one, other), max(one, other)


def _weekday_from(day: date, weekday: int, sign: int) -> date:
    if sign < 0:
        return day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)
    return day + timedelta(days=(weekday - day.weekday() - 1) % 7 + 1)


def _weekend_from(day: date, sign: int) -> date:
    """Return the Saturday of the nearest whole weekend before or after a day."""
    if sign < 0:
        return _weekday_from(day, 6, -1) - timedelta(days=1)
    return _weekday_from(day, 5, 1)


def _week_from(day: date, sign: int, count: int) -> Span:
    """Return the seven days before or after a day; of several weeks, the day that many weeks away."""
    if count > 1:
        return _day(day + timedelta(days=7 * sign * count))
    return _sorted(day + timedelta(days=sign), day + timedelta(days=7 * sign))


def _inside(unit: str, nth: str | None, core: Span) -> tuple[Span, ...]:
    """Return a part of a month, such as its first weekend, or the week or weekend of a day."""
    first, last = core
    if nth in _NTH and first != last and unit in ("week", "weekend"):
        number = _NTH[nth]
        if unit == "week":
            start = last - timedelta(days=6) if number == 0 else first + timedelta(days=7 * (number - 1))
            return ((start, start + timedelta(days=6)),)
        saturday = _weekday_from(first - timedelta(days=1), 5, 1) + timedelta(days=7 * (number - 1))
        if number == 0:
            saturday = _weekday_from(last, 5, -1)
        return ((saturday, saturday + timedelta(days=1)),)
    if first == last and unit == "week":
        monday = first - timedelta(days=first.weekday())
        return (monday, monday + timedelta(days=6)), (first, first + timedelta(days=6))
    if first == last and unit == "weekend":
        saturday = first - timedelta(days=first.weekday()) + timedelta(days=5)
        return ((saturday, saturday + timedelta(days=1)),)
    return (core,)


def _month(day: date, by: int) -> Span:
    start = _month_later(day.replace(day=1), by)
    return start, start.replace(day=monthrange(start.year, start.month)[1])


def _month_later(day: date, by: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + by, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
