"""What a text says, as tokens that can be compared: stems of words, numbers, and lengths of time."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import regex

from memeval.judging.references.lexical import light_words, negators, phrases, same_words
from memeval.judging.references.periods import Period, mended, periods
from memeval.judging.stemming import stem
from memeval.judging.text import normal, with_clock

NOT = "!not"
"""The token of every negation."""

_ONES_TEXT = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS_TEXT = "twenty thirty forty fifty sixty seventy eighty ninety"
_NTH_TEXT = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_ONES = {word: number for number, word in enumerate(_ONES_TEXT.split())}
_TENS = {word: 10 * number for number, word in enumerate(_TENS_TEXT.split(), 2)}
_BIG = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_NTH = {word: f"{number}th" for number, word in enumerate(_NTH_TEXT.split(), 1)}
_UNITS = {
    "second": ("s", 1), "minute": ("s", 60), "min": ("s", 60), "hour": ("s", 3600), "hr": ("s", 3600),
    "day": ("d", 1), "week": ("d", 7), "month": ("m", 1), "year": ("m", 12), "decade": ("m", 120),
}  # fmt: skip
_UNIT_OF = {form: unit for name, unit in _UNITS.items() for form in (name, f"{name}s") if form != "second"}

_WORD = regex.compile(
    r"(?P<number>\d+(?:,\d{3})+(?!\d)|\d+(?:[.:]\d+)*)(?:(?P<nth>(?:st|nd|rd|th)\b)|(?P<k>k\b))?|[^\W\d_]+"
)
_NEGATED = (
    (regex.compile(r"\bcan'?t\b|\bcannot\b"), "can not"),
    (regex.compile(r"\bwon't\b"), "will not"),
    (regex.compile(r"n't\b"), " not"),
)
_ENDING = regex.compile(r"(?<=\w)'(?:(?:s|re|ve|ll|d|m)\b)?")
_CLOCK = regex.compile(r"(?<!\w)\d{1,2}:\d\d,? on (?=\w)")
"""A time of day before a date."""
_MONEY = regex.compile(r"[$€£] ?(?=\d)")
_THOUSANDS = regex.compile(r"(?<=\d),(?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number or length of time."""

    form: str
    raw: str
    """The word as written, in normal form."""
    start: int
    """Where it begins in the text."""
    count: str = ""
    """The number in digits, of numbers and lengths of time; blank for words, ordinals and "one week"."""
    unit: str = ""
    """The stem of the unit of a length of time, also of "one week", which has no count."""

    @property
    def is_number(self) -> bool:
        """Whether it is a number without a unit of time."""
        return bool(self.count) and not self.unit


@dataclass(frozen=True)
class ReadText:
    text: str
    """The text that places refer to, in the form of :func:`simplified`."""
    tokens: tuple[Token, ...]
    """Its tokens in order, without those inside a period."""
    periods: tuple[Period, ...]
    """Its periods of time in order."""


def simplified(text: str) -> str:
    """Return a text in the form that is read: without contractions and genitives, with one form of some phrases."""
    flat = mended(with_clock(" ".join(normal(text).split())))
    if "'" in flat or "cannot" in flat:
        for short, full in _NEGATED:
            flat = short.sub(full, flat)
        flat = _ENDING.sub("", flat)
    flat = _THOUSANDS.sub("", _CLOCK.sub("", flat))
    return _phrases().sub(lambda found: phrases()[found.group()], flat)


@cache
def _phrases() -> regex.Pattern[str]:
    return regex.compile(r"(?<!\w)(?:" + "|".join(map(regex.escape, phrases())) + r")(?!\w)")


def read(text: str, year: int | None = None, *, lengths: bool = False) -> ReadText:
    """Read a text.

    ``year``: the year of dates that name none. ``lengths``: whether the "two weeks" of "two weeks before 5 May" are
    tokens of their own as well.
    """
    found = tuple(periods(text, year))
    tokens: list[Token] = []
    at = 0
    for period in found:
        tokens += _tokens(text, at, period.start)
        if lengths:
            tokens += [token for token in _tokens(text, period.start, period.end) if token.unit and token.count]
        at = period.end
    tokens += _tokens(text, at, len(text))
    return ReadText(text, tuple(tokens), found)


@lru_cache(maxsize=8_192)
def read_known(text: str, year: int | None = None) -> ReadText:
    """Read a raw question or reference, which come back with every answer."""
    return read(simplified(text), year)


def _tokens(text: str, start: int, end: int) -> Iterator[Token]:
    words = list(_WORD.finditer(text, start, end))
    at = 0
    while at < len(words):
        word = words[at]
        name = word.group()
        is_number = word["number"] is not None or name in _ONES or name in _TENS
        if is_number and (number := _number(words, at)) is not None:
            count, used = number
            unit = words[at + used].group() if at + used < len(words) else ""
            if unit in _UNIT_OF and words[at + used].start() - words[at + used - 1].end() <= 1:
                yield _length(count, unit, word.start())
                at += used + 1
                continue
            yield Token(count, name, word.start(), count)
            if _MONEY.match(text, max(word.start() - 1, start)):
                yield Token(form_of("dollar"), "dollar", word.start())
            at += used
            continue
        form = form_of(name) if word["number"] is None else f"{word['number']}th"
        if form:
            yield Token(form, name, word.start())
        at += 1


def _number(words: list[regex.Match[str]], at: int) -> tuple[str, int] | None:
    """Return the number that begins at a word, in digits, and how many words it has; ``None`` if absent."""
    word = words[at]
    if word["number"] is not None:
        if word["nth"]:
            return None
        digits = word["number"].replace(",", "")
        value = float(digits) if digits.replace(".", "", 1).isdigit() else None
        if value is None:
            return digits, 1
        if word["k"]:
            value *= 1_000
        following = words[at + 1].group() if at + 1 < len(words) else ""
        if following in _BIG:
            return _digits(value * _BIG[following]), 2
        return _digits(value), 1
    total, used = _spelled(words, at)
    return None if used == 0 else (_digits(total), used)


def _spelled(words: list[regex.Match[str]], at: int) -> tuple[int, int]:
    """Return a number in words, and how many words it has; 0 words if absent."""
    total = used = 0
    while at + used < len(words):
        name = words[at + used].group()
        if name in _ONES and (used == 0 or total % 100 == 0 or (total % 10 == 0 and 1 <= _ONES[name] <= 9)):
            total += _ONES[name]
        elif name in _TENS and total % 100 == 0:
            total += _TENS[name]
        elif name in _BIG and 0 < total < _BIG[name]:
            total *= _BIG[name]
        else:
            break
        used += 1
    return total, used


def _digits(value: float) -> str:
    """Return a number in digits; ``inf`` if a float cannot hold it."""
    return str(int(value)) if value % 1 == 0 else str(value)


def _length(count: str, unit: str, start: int) -> Token:
    """Return a length of time. Of "one week" only the week counts, as in "a week"."""
    base, factor = _UNIT_OF[unit]
    name = form_of(unit)
    if count == "1":
        return Token(name, unit, start, unit=name)
    total = float(count) * factor if count.replace(".", "", 1).isdigit() else None
    form = f"{count} {name}" if total is None else f"{_digits(total)} {base}"
    return Token(form, f"{count} {unit}", start, count, name)


@lru_cache(maxsize=65_536)
def form_of(word: str) -> str:
    """Return what is compared of a word: the stem of its base form; blank for a word without meaning of its own."""
    if word in negators():
        return NOT
    if word in light_words():
        return ""
    if word in _NTH:
        return _NTH[word]
    table = same_words()
    found = table.get(word) or stem(word)
    return table.get(found, found)
