"""Shared code of the graders of MemoryCD's tasks, and averages by person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum

from memeval.benchmarks.memorycd.keys import MemoryCDKey, MemoryCDTask
from memeval.benchmarks.memorycd.parsing import ParseState
from memeval.grading.outcomes import first_failure
from memeval.keys import ItemKey
from memeval.records.grade import GradeState
from memeval.records.response import Response

PUBLISHED = "published"
"""The released code's rule: name of the alternate, and prefix of its metrics."""


def key_of(item: ItemKey, grader: str, *tasks: MemoryCDTask) -> MemoryCDKey:
    """Return an item's key.

    Raises:
        TypeError: the key belongs to none of the tasks.
    """
    if not isinstance(item.key, MemoryCDKey) or item.key.task not in tasks:
        kind = item.key.task.value if isinstance(item.key, MemoryCDKey) else item.key.kind
        raise TypeError(f"{item.item_id}: {grader} cannot grade keys of kind {kind!r}")
    return item.key


def state_of(responses: Sequence[Response], reason: str) -> tuple[GradeState, str]:
    """Return an item's state and reason: those of the first failure, else graded and ``reason``."""
    return first_failure(responses) or (GradeState.GRADED, reason)


def parse_rates(responses: Sequence[Response], state: ParseState) -> dict[str, float | None]:
    """Return whether the parser repaired the answer or fell back, as 1 or 0; ``None`` if there is no answer."""
    answered = first_failure(responses) is None
    return {
        each.value: float(state is each) if answered else None for each in (ParseState.REPAIRED, ParseState.FALLBACK)
    }


def macro_average(values: Iterable[tuple[str, float]]) -> float | None:
    """Return the mean of the people's means, so that each person has the same weight.

    Args:
        values: person and value of each item.

    Returns:
        The average; ``None`` if there are no values.
    """
    by_person: dict[str, list[float]] = defaultdict(list)
    for person, value in values:
        by_person[person].append(value)
    means = [fsum(own) / len(own) for own in by_person.values()]
    return fsum(means) / len(means) if means else None
