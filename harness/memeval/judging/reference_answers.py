"""Calibration answers for reference answers in words.

Right answers are the reference itself, or the reference with dates in another format or a list in another order. Wrong
answers are another item's reference of the same form, another time, or a part of the list. Not made, because
contestable: right answers to preferences, whose reference is a rubric, and vague text for unanswerable questions.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from memeval.judging.hedging import says_missing
from memeval.judging.phrasing import NO_VALUE, NOTHING, VALUE, Answer, PhraseChooser, draw
from memeval.judging.references.polar import alternatives, polarity
from memeval.judging.references.tokens import read_known
from memeval.keys import ItemKey, ReferenceKey
from memeval.records.audit import ProbeKind

_UNTOLD = (
    "That was never mentioned in what I was told.",
    "There is no information about this in the conversations.",
    "Nobody told me that, so it cannot be answered.",
)
_BAIT = ("{p}. Nothing more was mentioned about it.", "The answer is this, although the rest was not mentioned: {p}.")

_DATE = re.compile(
    r"\b(?:(?P<day>\d{1,2}) ?(?P<month>[A-Z][a-z]+),? ?(?P<year>\d{4})"
    r"|(?P<Month>[A-Z][a-z]+) (?P<Day>\d{1,2}), ?(?P<Year>\d{4}))\b"
)
_MONTH = re.compile(r"\b(?P<month>[A-Z][a-z]+),? ?(?P<year>\d{4})\b")
_YEAR = re.compile(r"\b(?P<year>(?:19|20)\d\d)\b")
_MONTHS = tuple(f"{date(2000, month, 1):%B}" for month in range(1, 13))


def answers(item: ItemKey, key: ReferenceKey, judged: Sequence[ItemKey]) -> Iterator[Answer]:
    """Yield the answers for one item: kind, text, and whether it is right.

    ``judged``: all judged items; wrong answers come from other items.
    """
    yield from (_unanswerable if key.unanswerable else _answerable)(item, key, judged)


def _answerable(item: ItemKey, key: ReferenceKey, judged: Sequence[ItemKey]) -> Iterator[Answer]:
    pen = PhraseChooser(item)
    reference = _plain(key)
    false = []
    if not key.is_rubric:
        yield ProbeKind.RIGHT, pen.two(VALUE, p=reference)[0], True
        yield ProbeKind.RIGHT, pen.two(VALUE, p=_reworded(key, reference))[1], True
        if (other := _other_reference(item, reference, judged)) is not None:
            false.append((ProbeKind.OFF, pen.one(VALUE, ProbeKind.OFF, p=other)))
        if parts := _parts(key, reference):
            false.append((ProbeKind.OFF, pen.one(VALUE, "part", p=", ".join(parts[:-1]))))
        if (moved := _moved(reference)) is not None:
            false.append((ProbeKind.STALE, pen.one(VALUE, ProbeKind.STALE, p=moved)))
    yield from pen.wrong(false, pen.one(NO_VALUE, ProbeKind.HEDGED))


def _unanswerable(item: ItemKey, key: ReferenceKey, judged: Sequence[ItemKey]) -> Iterator[Answer]:
    pen = PhraseChooser(item)
    for text in pen.two(_UNTOLD):
        yield ProbeKind.RIGHT, text, True
    yield ProbeKind.REFUSED, pen.one(NOTHING, ProbeKind.REFUSED), True
    trap = key.misleading
    wrong = None
    if trap is not None and not says_missing(trap):
        wrong = pen.one(VALUE, ProbeKind.STALE, p=trap)
        yield ProbeKind.STALE, wrong, False
        yield ProbeKind.MIXED, pen.one(_BAIT, ProbeKind.MIXED, p=trap), False
    if (other := _other_reference(item, trap or "", judged)) is not None:
        off = pen.one(VALUE, ProbeKind.OFF, p=other)
        yield ProbeKind.OFF, off, False
        wrong = wrong or off
    if wrong is not None:
        yield from pen.injections(wrong)


def _plain(key: ReferenceKey) -> str:
    """Return a reference without its reasons and its full stop."""
    return next(alternatives(key.expected, key.is_loose)).strip().rstrip(".")


def _reworded(key: ReferenceKey, reference: str) -> str:
    """Return a reference with its dates in another format, or the parts of a list in another order."""
    parts = _parts(key, reference)
    if parts:
        return ", ".join((*parts[1:], parts[0]))
    return _DATE.sub(lambda found: _written(_date(found)) or found.group(), reference)


def _parts(key: ReferenceKey, reference: str) -> list[str]:
    """Return the parts of a reference that is a list of three or more; else an empty list."""
    if not key.is_list or ". " in reference:
        return []
    parts = [re.sub(r"^and\s+", "", part.strip()) for part in reference.split(",")]
    return parts if len(parts) >= 3 and all(map(_marks, parts)) else []


def _moved(reference: str) -> str | None:
    """Return a reference with its date moved: a day by nine, a month by one, a year by one; ``None`` without a date."""
    if found := _DATE.search(reference):
        day = _date(found)
        moved = None if day is None else _written(day + timedelta(days=9))
    elif (found := _MONTH.search(reference)) and found["month"] in _MONTHS:
        moved = f"{_MONTHS[_MONTHS.index(found['month']) - 1]} {found['year']}"
    elif found := _YEAR.search(reference):
        moved = str(int(found["year"]) - 1)
    else:
        return None
    return None if moved is None else reference[: found.start()] + moved + reference[found.end() :]


def _date(found: re.Match[str]) -> date | None:
    month = found["month"] or found["Month"]
    try:
        return date(int(found["year"] or found["Year"]), _MONTHS.index(month) + 1, int(found["day"] or found["Day"]))
    except ValueError:
        return None


def _written(day: date | None) -> str | None:
    return None if day is None else f"{day:%B} {day.day}, {day.year}"


def _other_reference(item: ItemKey, reference: str, judged: Sequence[ItemKey]) -> str | None:
    """Return a different reference of the same category and form from another cluster; ``None`` if absent.

    ``reference``: the item's reference, or its trap; blank if it has neither.
    """
    own, form, pole = _marks(reference), _form(reference), polarity(reference)
    others = [each for each in judged if each.category == item.category and each.cluster != item.cluster]
    for each in sorted(others, key=lambda each: draw(item.item_id, each.item_id)):
        other = _reference_of(each)
        theirs = _marks(other)
        if not theirs or (own and (own <= theirs or theirs <= own)):
            continue
        if not own or (_form(other) == form and (pole is None or polarity(other) is not pole)):
            return other
    return None


def _reference_of(item: ItemKey) -> str:
    if not isinstance(item.key, ReferenceKey):
        return ""
    return item.key.misleading or "" if item.key.unanswerable else _plain(item.key)


def _form(reference: str) -> str:
    """Return the form of a reference, so that a wrong answer can have the same form."""
    if polarity(reference) is not None:
        return "yes or no"
    found = read_known(reference)
    if found.periods:
        return "date"
    return "number" if any(token.count for token in found.tokens) else "words"


def _marks(reference: str) -> frozenset[object]:
    """Return what a reference says, for comparison: its words, numbers and times."""
    found = read_known(reference)
    return frozenset((*(token.form for token in found.tokens), *((each.spans, each.open) for each in found.periods)))
