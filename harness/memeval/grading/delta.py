"""Delta efficiency by counts: whether the context shrinks once the facts are known, and whether the answers stay right.

Formulas: DeepMemEval, delta-efficiency as its evaluation code computes it (nambok/DeepMemEval, ``evaluate.py``), and
memeval's gate, which also reads the answers. :mod:`memeval.grading.delivery` has the grader.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from memeval.judging.text import stated
from memeval.keys import DeltaKey, Fact, ItemKey
from memeval.records.grade import Flag
from memeval.records.response import Response

EARLY_TURNS = 5
"""Number of early questions; their mean context is the baseline for later ones."""

PASS_ABOVE = 0.5
"""An efficiency must be greater than this to pass."""

MIN_EARLY_COVERAGE = 0.5
"""The gate: smallest mean share of facts in the early answers."""

MIN_KEPT_COVERAGE = 0.8
"""The gate: smallest ratio of late to early coverage."""

MISMATCH = 0.1
"""Counted and reported tokens of a turn that differ by more than this share of the count are flagged."""


@dataclass(frozen=True)
class Efficiency:
    """The efficiency of one scenario, or the reason why it is undefined."""

    value: float | None
    """Share of context saved in late questions, relative to early ones; negative if it grows; ``None`` if undefined."""
    reason: str | None = None
    """Why it is undefined."""

    @property
    def passes(self) -> bool:
        return self.value is not None and self.value > PASS_ABOVE


def efficiency(tokens: Sequence[float]) -> Efficiency:
    """Return the delta efficiency of a series of token counts.

    ``early = mean(t[0:5])`` with at least five counts and ``t[0]`` otherwise, ``late = t[5:]``, and
    ``efficiency = 1 - sum(late) / (early * len(late))``. The original's documentation fixes the factor at 15; its
    code, followed here, uses the number of late turns. Counts are added from left to right, as NumPy's mean of five
    numbers does; Python's ``sum`` of floats rounds differently from version 3.12 on.
    """
    if len(tokens) < 2:
        return Efficiency(None, "Efficiency needs the token counts of at least two questions.")
    early = _sum(tokens[:EARLY_TURNS]) / EARLY_TURNS if len(tokens) >= EARLY_TURNS else tokens[0]
    late = tokens[EARLY_TURNS:]
    expected = early * len(late)
    if not late:
        return Efficiency(None, "There are no late questions to compare the early ones with.")
    if expected == 0:
        return Efficiency(None, "No context was delivered for the early questions.")
    value = 1.0 - _sum(late) / expected
    return Efficiency(value) if math.isfinite(value) else Efficiency(None, "The token counts are out of proportion.")


@dataclass(frozen=True)
class FactCoverage:
    """Mean shares of the expected facts that the answers contain."""

    early: float | None
    """Over the early questions; ``None`` if no early question has facts."""
    late: float | None
    """Over the late questions; ``None`` if no late question has facts."""

    @property
    def holds(self) -> bool:
        if self.early is None or self.early < MIN_EARLY_COVERAGE:
            return False
        return self.late is None or self.late >= MIN_KEPT_COVERAGE * self.early


def coverage(answers: Sequence[str], facts_by_turn: Sequence[tuple[Fact, ...]]) -> FactCoverage:
    """Return the coverage of the facts by the answers; questions without facts are excluded."""
    early_turns = EARLY_TURNS if len(answers) >= EARLY_TURNS else 1
    shares = [
        (number < early_turns, sum(stated(answer, *(fact.phrases for fact in facts))) / len(facts))
        for number, (answer, facts) in enumerate(zip(answers, facts_by_turn, strict=True))
        if facts
    ]
    return FactCoverage(
        early=_mean([share for is_early, share in shares if is_early]),
        late=_mean([share for is_early, share in shares if not is_early]),
    )


def delta_key(item: ItemKey, responses: Sequence[Response], grader: str) -> DeltaKey:
    """Return the key of a delta-efficiency item.

    Raises ``TypeError``: it is another key. Raises ``ValueError``: the numbers of questions and responses differ.
    """
    if not isinstance(item.key, DeltaKey):
        raise TypeError(f"{item.item_id}: {grader} cannot grade keys of kind {item.key.kind!r}")
    if not len(item.question_ids) == len(responses) == len(item.key.facts_by_turn):
        raise ValueError(f"{item.item_id}: {len(responses)} responses to {len(item.question_ids)} questions")
    return item.key


def verdict_reason(found: Efficiency) -> str:
    if found.value is None:
        return found.reason or "Efficiency is undefined."
    return f"Efficiency {found.value:.3f} is {'above' if found.passes else 'not above'} {PASS_ABOVE}."


def token_series(responses: Sequence[Response]) -> tuple[list[float] | None, tuple[Flag, ...]]:
    """Return the context tokens per question, with flags; ``None`` if counts are missing.

    The counts are memeval's if every question has one, else the self-reported ones if those are complete.
    """
    counted = [response.context_tokens for response in responses]
    reported = [response.reported_tokens for response in responses]
    flags: list[Flag] = []
    if any(
        c is not None and r is not None and abs(r - c) > MISMATCH * c for c, r in zip(counted, reported, strict=True)
    ):
        flags.append(Flag.TOKEN_MISMATCH)
    measured = [float(count) for count in counted if count is not None]
    if len(measured) == len(responses):
        return measured, tuple(flags)
    claimed = [count for count in reported if count is not None]
    if len(claimed) == len(responses):
        return claimed, (*flags, Flag.SELF_REPORTED_TOKENS)
    return None, tuple(flags)


def _sum(counts: Sequence[float]) -> float:
    return reduce(add, counts, 0.0)


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
