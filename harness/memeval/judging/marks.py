"""Marks of a text, for comparison without a model: dates in any format, numbers, and stems of content words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import regex

from memeval.judging.stemming import stem
from memeval.judging.text import normal

_MONTHS = (
    *("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug"),
    *("september sept sep", "october oct", "november nov", "december dec"),
)
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_MONTH = r"(?P<month>" + "|".join(sorted(_MONTH_OF, key=len, reverse=True)) + r")(?![a-z])\.?"
_WHOLE_MONTH = (
    r"(?P<month>" + "|".join(names.split()[0] for names in _MONTHS if names not in ("may", "march mar")) + ")"
)
_NUMBER_MONTH = r"(?P<month>1[0-2]|0?[1-9])"
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?!\d)"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d)"

_DATE = regex.compile(
    r"(?<![\w$.:/-])(?:"
    + "|".join(
        (
            rf"{_YEAR}[-/.]{_NUMBER_MONTH}[-/.]{_DAY}",
            rf"{_NUMBER_MONTH}/{_DAY}/{_YEAR}",
            rf"{_DAY} ?(?:of )?{_MONTH}(?:,? ?{_YEAR})?",
            rf"{_MONTH} ?{_DAY}(?! ?(?:[:%]|[ap]m\b))(?:,? ?{_YEAR})?",
            rf"{_YEAR}-{_NUMBER_MONTH}(?![-\d])",
            rf"{_MONTH},? ?(?:of )?{_YEAR}",
            rf"{_WHOLE_MONTH}(?![a-z])",
            _YEAR,
        )
    )
    + ")"
)

_CARDINALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_TENS = "thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_NUMBERS = (
    {word: str(number) for number, word in enumerate(_CARDINALS.split())}
    | {word: str(10 * number) for number, word in enumerate(_TENS.split(), 3)}
    | {word: f"{number}th" for number, word in enumerate(_ORDINALS.split(), 1)}
)

_TOKEN = regex.compile(r"(?P<number>\d+(?:,\d{3})+(?!\d)|\d+(?:[.:]\d+)*)(?P<nth>(?:st|nd|rd|th)\b)?|[^\W\d_]+")
_APOSTROPHE = regex.compile(r"(?<=\w)'(?:s\b)?")

_IDLE = (
    "a an the and or of to in on at by for with from as into over is are was were be been being am has have had "
    "do does did can could would will shall should may might must it its this that these those there here i you "
    "he she they we me him her them us my your his their our who whom which what when where why how than then so "
    "such also very really quite just only some any about around approximately nearly almost roughly likely "
    "probably presumably possibly most perhaps usually since"
)

IDLE = frozenset(_IDLE.split())
"""Stop words, and words that only weaken a statement."""


@dataclass(frozen=True)
class DateMark:
    """A date; missing parts are ``None``."""

    year: int | None
    month: int | None
    day: int | None


Mark = DateMark | str


def marks(text: str) -> list[Mark]:
    """Return the marks of a text, in order.

    Parts of a date are not marks of their own. Numbers are in digits (``400000``; ``1th`` for the first), words are
    stems, and words in ``IDLE`` are ignored.

    Args:
        text: the raw text.
    """
    flat = _APOSTROPHE.sub("", " ".join(normal(text).split()))
    found: list[Mark] = []
    at = 0
    for date in _DATE.finditer(flat):
        found += _words(flat[at : date.start()])
        year, month, day = date["year"], date["month"], date["day"]
        number = None if month is None else _MONTH_OF.get(month) or int(month)
        found.append(DateMark(None if year is None else int(year), number, None if day is None else int(day)))
        at = date.end()
    return found + _words(flat[at:])


@lru_cache(maxsize=8_192)
def known_marks(text: str) -> tuple[Mark, ...]:
    """Return the marks of a raw question or reference, which come back with every answer."""
    return tuple(marks(text))


def is_number(mark: Mark) -> bool:
    """Return whether a mark is a number; ordinals are not."""
    return isinstance(mark, str) and mark[0].isdigit() and not mark.endswith("th")


def _words(text: str) -> list[Mark]:
    found: list[Mark] = []
    for token in _TOKEN.finditer(text):
        word = token.group()
        if token["number"]:
            found.append(token["number"].replace(",", "") + ("th" if token["nth"] else ""))
        elif word in _NUMBERS:
            found.append(_NUMBERS[word])
        elif word not in IDLE:
            found.append(stem(word))
    return found
