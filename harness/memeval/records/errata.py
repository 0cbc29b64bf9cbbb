"""Errata: wrong or disputed answers of a benchmark, item by item, kept separate from the data."""

from __future__ import annotations

from enum import StrEnum

from memeval.records.base import Record


class ErratumKind(StrEnum):
    """The problem of an item."""

    WRONG_ANSWER = "wrong_answer"
    AMBIGUOUS = "ambiguous"
    WRONG_EVIDENCE = "wrong_evidence"
    WRONG_CATEGORY = "wrong_category"


class ErratumAction(StrEnum):
    """How the corrected score treats an item."""

    EXCLUDE = "exclude"
    """Excludes it."""
    REPLACE = "replace"
    """Grades it by the corrected answer or evidence."""


class Erratum(Record):
    """One item that is wrong or disputed."""

    id: str
    """The item, by memeval's id."""
    kind: ErratumKind
    """The problem."""
    action: ErratumAction
    """How the corrected score treats it."""
    corrected: str | tuple[str, ...] | None = None
    """The correct answer, or the correct evidence in the benchmark's format; required for a replacement."""
    note: str
    """The reason, in a sentence."""


class Errata(Record):
    """A file of errata."""

    dataset_sha256: str
    """Digest of the data it applies to: 64 hexadecimal digits."""
    source: str
    """Who reported the problems, and where."""
    entries: tuple[Erratum, ...]
    """The items."""
