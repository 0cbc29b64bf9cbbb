"""The rules for reference answers in words.

They match marks, not meaning: an answer is right if it contains every date, number and content word of the reference,
in any order and format. They reject paraphrases that a person would accept, and accept answers that use the same words
with another meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from memeval.judging import lexicon
from memeval.judging.base import Case
from memeval.judging.hedging import plain, without_echo
from memeval.judging.marks import DateMark, Mark, is_number, known_marks, marks
from memeval.judging.text import states
from memeval.keys import ReferenceKey

Verdict = tuple[bool, str]

BEGINNING = 1_000
"""First characters of an answer that are searched for a statement that the information is missing."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_ACCEPTED = re.compile(r"\b(?:is|are|would be) also (?:acceptable|accepted|correct|fine)\b.*", re.IGNORECASE)
_ASIDE = re.compile(r"\s*\(([^()]*)\)")
_BECAUSE = re.compile(r"\s*(?:;|,\s*(?:since|because|as|so|though)\b).*", re.IGNORECASE | re.DOTALL)
_POLAR = re.compile(
    r"\W*(?:(?:so|well|most|very|likely|probably|presumably|possibly|i think|i would say|in short|the answer)\W+)*"
    r"(?:(?P<yes>yes\b)|no(?=\s*(?:$|[,;.:!]|(?:he|she|they|it|there|the)\b))|not(?=\s*(?:$|[,;.:!])))"
)
_COUNTED = re.compile(r"\b(?:how many|number of) (?:days|weeks|months)\b")
_MARKUP = re.compile(r"(?m)^[ \t]{0,8}\d{1,3}[.)][ \t]|\[[^\]\n]{0,200}\]")
"""List numbers, and text in brackets, such as citations."""

_UNITS = frozenset({"second", "minut", "hour", "day", "week", "month", "year"})
_RELATIVE = frozenset(
    {"befor", "after", "until", "till", "week", "weekend", "earli", "late", "mid", "end", "begin", "start"}
)
"""Marks before a date that change its meaning."""


def by_reference(case: Case, key: ReferenceKey) -> Verdict:
    """Judge an answer to a question with a reference answer."""
    if key.unanswerable:
        return missing_verdict(case, key.misleading)
    if key.is_rubric:
        return False, "The reference is a rubric, which rules cannot read."
    return _stated(case, key)


def says_missing(text: str) -> bool:
    """Return whether a text says that the information is missing."""
    return _missing_phrases().search(plain(text)) is not None


@lru_cache(maxsize=1)
def _missing_phrases() -> re.Pattern[str]:
    return lexicon.compiled(lexicon.MISSING)


def begins_missing(answer: str) -> bool:
    """Return whether the first sentence of an answer says that the information is missing."""
    first = next((part for part in _SENTENCE.split(answer.strip()) if part.strip()), "")
    return says_missing(first[:BEGINNING])


def missing_verdict(case: Case, trap: str | None) -> Verdict:
    """Judge an answer to an unanswerable question: it must begin by saying so, and must not state the trap."""
    answer = without_echo(case.answer, case.question)
    if not begins_missing(answer):
        return False, "The answer does not begin by saying that this was not told."
    if trap is not None and not says_missing(trap) and _holds(answer, trap, case.question):
        return False, "The answer says that this was not told, and states what the question leads to."
    return True, "The answer says that this was not told."


def _stated(case: Case, key: ReferenceKey) -> Verdict:
    """Judge an answer that must state the reference."""
    answer = without_echo(case.answer, case.question)
    if begins_missing(answer):
        return False, "The answer begins by saying that this was not told."
    reference = key.expected
    wanted = polarity(reference)
    if wanted is not None:
        if polarity(answer) is wanted:
            return True, "The answer is the yes or no that the reference is."
        return False, "The answer does not begin with the yes or no that the reference is."
    off = (-1, 1) if key.counts_loosely and _COUNTED.search(case.question.lower()) else ()
    if any(_holds(answer, alternative, case.question, off) for alternative in alternatives(reference, key.is_loose)):
        return True, "The answer holds all that tells of the reference: its dates, numbers and words."
    return False, "The answer lacks a date, a number or a telling word of the reference."


def polarity(text: str) -> bool | None:
    """Return true for a text that begins with yes, false for no, ``None`` for others."""
    found = _POLAR.match(text.lower())
    return None if found is None else found["yes"] is not None


def main_answer(reference: str, loose: bool) -> str:
    """Return the first answer that a reference accepts; see :func:`alternatives`."""
    return next(alternatives(reference, loose))


def alternatives(reference: str, loose: bool) -> Iterator[str]:
    """Yield the answers that a reference accepts.

    It also accepts answers that it calls acceptable, and answers in brackets after "or"; other brackets are asides.

    Args:
        reference: the benchmark's reference.
        loose: whether reasons after the answer are ignored, and whether "or" separates alternative answers.
    """
    sentences = _SENTENCE.split(reference)
    also = [_ACCEPTED.sub("", sentence) for sentence in sentences if _ACCEPTED.search(sentence)]
    main = " ".join(sentence for sentence in sentences if not _ACCEPTED.search(sentence))
    if loose and (without := _BECAUSE.sub("", main)).strip():
        main = without
    wholes = re.split(r"\s+or\s+", main) if loose else [main]
    for whole in (*wholes, *also):
        yield bare if (bare := _ASIDE.sub(" ", whole)).strip() else whole
        yield from (aside[3:] for aside in _ASIDE.findall(whole) if aside.lower().startswith("or "))


def _holds(answer: str, reference: str, question: str, off: Sequence[int] = ()) -> bool:
    """Return whether an answer contains the marks of a reference that are not in the question.

    Args:
        reference: one accepted answer.
        off: allowed differences of a number.
    """
    given, whole, asked = marks(answer), known_marks(reference), set(known_marks(question))
    wanted = [mark for mark in whole if mark not in asked] or whole
    if not wanted:
        return states(answer, (reference,))
    years = {mark.year for mark in asked if isinstance(mark, DateMark)}
    if len(wanted) == 1 and _is_count(wanted[0]):
        return _counts(answer, whole, wanted[0], asked, off)
    if not _durations(whole) <= _durations(given):
        return False
    return all(_is_among(mark, given, _is_relative(mark, whole), years, off) for mark in wanted)


def _durations(among: Sequence[Mark]) -> set[tuple[Mark, Mark]]:
    """Return the durations: numbers with the units that follow them."""
    return {(one, unit) for one, unit in pairwise(among) if is_number(one) and unit in _UNITS}


def _is_count(mark: Mark) -> bool:
    return is_number(mark) and len(str(mark)) <= 2


def _counts(answer: str, whole: Sequence[Mark], count: Mark, asked: set[Mark], off: Sequence[int]) -> bool:
    """Return whether an answer gives a count; many answers contain a small number by chance.

    The number must precede the reference's unit, or be the answer's first number that is not in the question.
    """
    given = marks(_MARKUP.sub(" ", answer))
    if len(whole) == 2 and whole[0] == count:
        return any(_is_number(one, count, off) and other == whole[1] for one, other in pairwise(given)) or (
            len(given) == 1 and _is_number(given[0], count, off)
        )
    numbers = [mark for mark in given if is_number(mark) and mark not in asked]
    return bool(numbers) and _is_number(numbers[0], count, off)


def _is_among(mark: Mark, given: Sequence[Mark], relative: bool, years: set[int | None], off: Sequence[int]) -> bool:
    if isinstance(mark, str):
        return mark in given or (is_number(mark) and any(_is_number(one, mark, off) for one in given))
    return any(
        isinstance(one, DateMark)
        and (one.month, one.day) == (mark.month, mark.day)
        and (mark.year in (None, one.year) or (one.year is None and mark.year in years))
        and (relative or n == 0 or given[n - 1] not in _RELATIVE)
        for n, one in enumerate(given)
    )


def _is_relative(mark: Mark, among: Sequence[Mark]) -> bool:
    """Return whether the mark before a date changes its meaning."""
    place = among.index(mark)
    return place > 0 and among[place - 1] in _RELATIVE


def _is_number(given: Mark, wanted: Mark, off: Sequence[int]) -> bool:
    if not (is_number(given) and isinstance(given, str) and isinstance(wanted, str)):
        return False
    if given == wanted:
        return True
    return given.isdigit() and wanted.isdigit() and any(int(given) == int(wanted) + by for by in off)
