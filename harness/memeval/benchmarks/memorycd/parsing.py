"""Parsing of MemoryCD's answers: like the released code, and strictly.

Rules: AgentMemoryWorld/MemoryCD, ``eval_core.py``. The released rules always give a result: 3.0 if an answer has no
number, and the prompt's order for missing ids. The strict rules report both cases and give no credit.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

LOWEST, HIGHEST = 1.0, 5.0
"""Smallest and largest number of stars."""

DEFAULT = 3.0
"""The released code's rating of an answer without a number."""

_NUMBER = re.compile(r"\d+\.?\d*")
_PUBLISHED_ID = re.compile(r"B[0-9A-Z]{9}")
_RUN = re.compile(r"[^\W_]+")


class ParseState(StrEnum):
    OK = "ok"
    """The answer has the requested form."""
    REPAIRED = "repaired"
    """The answer contains a number among words, out of range or not finite, or an id twice."""
    FALLBACK = "fallback"
    """The answer has no number, or an id is missing."""


@dataclass(frozen=True)
class ParsedRating:
    value: float
    """Stars, 1 to 5, not rounded; :data:`DEFAULT` for a fallback."""
    state: ParseState
    finite: bool
    """Whether the number is finite: neither ``nan`` nor ``inf``."""


@dataclass(frozen=True)
class ParsedRanking:
    order: tuple[str, ...]
    """The named ids, best first, each once."""
    state: ParseState


def parsed_rating(answer: str) -> ParsedRating:
    """Return the rating in an answer.

    It is the whole answer as a number, else the first number in it, else 3; clamped to [1, 5]. ``nan`` and ``inf`` give
    5.
    """
    state = ParseState.OK
    try:
        number = float(answer)
    except ValueError:
        found = _NUMBER.search(answer)
        if found is None:
            return ParsedRating(DEFAULT, ParseState.FALLBACK, finite=True)
        number, state = float(found.group()), ParseState.REPAIRED
    # With this order of arguments nan gives the highest rating, like in the released code.
    value = max(LOWEST, min(HIGHEST, number))
    return ParsedRating(value, state if value == number else ParseState.REPAIRED, finite=math.isfinite(number))


def published_ranking(answer: str, candidates: Sequence[str]) -> tuple[str, ...]:
    """Return the ranking of the released code.

    It recognises only ids of the letter B and nine more characters; other ids follow in the prompt's order. If
    candidates are duplicated and the counts differ, the result is the prompt's order.
    """
    known = set(candidates)
    recognised = dict.fromkeys(one for one in _PUBLISHED_ID.findall(answer) if one in known)
    order = (*recognised, *(one for one in candidates if one not in recognised))
    return order if len(order) == len(candidates) else tuple(candidates)


def parsed_ranking(answer: str, candidates: Sequence[str]) -> ParsedRanking:
    """Return the candidates that an answer names, in its order.

    An id counts if no letter or digit is next to it. Of two ids that begin at one position, the longer one counts.
    """
    named = list(_named(answer, set(candidates)))
    order = tuple(dict.fromkeys(named))
    if len(order) < len(set(candidates)):
        return ParsedRanking(order, ParseState.FALLBACK)
    return ParsedRanking(order, ParseState.OK if len(named) == len(order) else ParseState.REPAIRED)


def _named(answer: str, candidates: set[str]) -> Iterator[str]:
    """Yield the candidates in an answer, from left to right."""
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
