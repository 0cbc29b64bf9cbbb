"""Checks of stored regraded files, for ``memeval verify``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memeval.claims.store import IMPORTED, check_regraded, regraded_at
from memeval.evaluation.verify.findings import Check, Finding
from memeval.records.errors import BadInput
from memeval.storage import listed

REMEDY = "Restore the file, or import the source again: memeval sources import."


def regraded_checks(results: Path) -> Iterator[Check]:
    """Yield a check for each regraded file: its figures are counted again from its rows.

    Args:
        results: a folder of results. One without regraded files gets no check.
    """
    for path in listed(results / IMPORTED, "*/*.json"):
        try:
            problems = check_regraded(results, regraded_at(path))
        except BadInput as error:
            problems = [error.problem]
        yield Check("regraded", tuple(Finding(str(path), problem, REMEDY) for problem in problems))
