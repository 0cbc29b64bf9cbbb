"""Reading MemoryCD's answers: as its released code does, and strictly.

Rules: AgentMemoryWorld/MemoryCD, ``eval_core.py``. The released rules always come to something: 3.0 where no number can
be found, the order shown where an id is not named. The strict ones say when that is so, and give it no credit.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

LOWEST, HIGHEST = 1.0, 5.0
"""Stars there are."""

DEFAULT = 3.0
"""What the released code takes an answer for in which it finds no number."""

_NUMBER = re.compile(r"\d+\.?\d*")
_PUBLISHED_ID = re.compile(r"B[0-9A-Z]{9}")
_RUN = re.compile(r"[^\W_]+")


class ParseState(StrEnum):
    """How an answer was read."""

    OK = "ok"
    """It is what was asked for."""
    REPAIRED = "repaired"
    """It holds what was asked for: a number among words, out of range or not finite, or an id that is named twice."""
    FALLBACK = "fallback"
    """It does not hold it: there is no number, or an id is missing."""


@dataclass(frozen=True)
class ParsedRating:
    """What an answer says of a rating."""

    value: float
    """Stars, 1 to 5, not rounded; :data:`DEFAULT` for a fallback."""
    state: ParseState
    """How it was read."""
    finite: bool
    """Whether the number that stands there is one: neither ``nan`` nor ``inf``."""


@dataclass(frozen=True)
class ParsedRanking:
    """What an answer says of a ranking."""

    order: tuple[str, ...]
    """The ids it names, best first, each once."""
    state: ParseState
    """How it was read."""


def parsed_rating(answer: str) -> ParsedRating:
    """Return the stars that an answer gives.

    The whole answer is taken for a number, else the first number in it, else 3; then it is brought into [1, 5]. What is
    not a number, and what is infinitely large, comes to 5.
    """
    state = ParseState.OK
    try:
        told = float(answer)
    except ValueError:
        found = _NUMBER.search(answer)
        if found is None:
            return ParsedRating(DEFAULT, ParseState.FALLBACK, finite=True)
        told, state = float(found.group()), ParseState.REPAIRED
    # In this order of arguments nan comes to the highest, as it does in the released code.
    value = max(LOWEST, min(HIGHEST, told))
    return ParsedRating(value, state if value == told else ParseState.REPAIRED, finite=math.isfinite(told))


def published_ranking(answer: str, candidates: Sequence[str]) -> tuple[str, ...]:
    """Return the order that the released code makes of an answer.

    Only ids of one B and nine more signs are seen; those that are not seen follow in the order shown. Where candidates
    are listed twice and the counts differ, the order shown is the answer.

    Args:
        answer: the answer.
        candidates: the ids in the order shown.
    """
    known = set(candidates)
    seen = dict.fromkeys(one for one in _PUBLISHED_ID.findall(answer) if one in known)
    order = (*seen, *(one for one in candidates if one not in seen))
    return order if len(order) == len(candidates) else tuple(candidates)


def parsed_ranking(answer: str, candidates: Sequence[str]) -> ParsedRanking:
    """Return the candidates that an answer names, in its order; nothing is made up for those it does not name.

    An id counts where it stands by itself, between signs that are neither letters nor digits; of two that begin at one
    place the longer is meant.

    Args:
        answer: the answer.
        candidates: the ids in the order shown.
    """
    named = list(_named(answer, set(candidates)))
    order = tuple(dict.fromkeys(named))
    if len(order) < len(set(candidates)):
        return ParsedRanking(order, ParseState.FALLBACK)
    return ParsedRanking(order, ParseState.OK if len(named) == len(order) else ParseState.REPAIRED)


def _named(answer: str, candidates: set[str]) -> Iterator[str]:
    """Yield the candidates that stand in an answer, from left to right."""
    by_run: dict[str, list[str]] = defaultdict(list)
    for one in sorted(candidates, key=len, reverse=True):
        if run := _RUN.match(one):
            by_run[run.group()].append(one)
    reached = 0
    for run in _RUN.finditer(answer):
        if run.start() < reached:
            continue
        for one in by_run.get(run.group(), ()):
            end = run.start() + len(one)
            if answer.startswith(one, run.start()) and not _RUN.match(answer, end):
                yield one
                reached = end
                break
