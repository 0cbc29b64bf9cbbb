"""Errata: what is wrong or contested in a benchmark's answers, item by item, apart from the data itself."""

from __future__ import annotations

from enum import StrEnum

from memeval.records.base import Record


class ErratumKind(StrEnum):
    """What is wrong with an item."""

    WRONG_ANSWER = "wrong_answer"
    AMBIGUOUS = "ambiguous"
    WRONG_EVIDENCE = "wrong_evidence"
    WRONG_CATEGORY = "wrong_category"


class ErratumAction(StrEnum):
    """What the corrected score makes of an item."""

    EXCLUDE = "exclude"
    """Leaves it out of the count."""
    REPLACE = "replace"
    """Grades it by what is corrected."""


class Erratum(Record):
    """One item that is wrong or contested."""

    id: str
    """The item, by memeval's id."""
    kind: ErratumKind
    """What is wrong."""
    action: ErratumAction
    """What the corrected score makes of it."""
    corrected: str | tuple[str, ...] | None = None
    """The right answer, or the right evidence as the benchmark writes it; needed to replace."""
    note: str
    """Why, in a sentence."""


class Errata(Record):
    """A file of errata."""

    dataset_sha256: str
    """The data it speaks of: 64 hexadecimal digits."""
    source: str
    """Who found them, and where that is written."""
    entries: tuple[Erratum, ...]
    """The items."""
