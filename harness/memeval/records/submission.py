"""``submission.toml``: what a system says of itself."""

from __future__ import annotations

from memeval.records.base import Record, Slug


class Submission(Record):
    """What a system says of itself. Its text comes from outside."""

    schema_version: int = 1
    """Version of this file's schema."""
    slug: Slug
    """Its folder, and its name in paths and URLs."""
    name: str
    """Its name for people."""
    version: str
    """Its version."""
    entry: str = "adapter.py"
    """The file with the adapter class, and, after a colon, the class where there are several."""
    authors: tuple[str, ...] = ()
    """Who wrote it."""
    licence: str | None = None
    """SPDX expression of its licence."""
    homepage: str | None = None
    """Where it lives."""
    summary: str | None = None
    """What it is, in a sentence."""
    light: bool = False
    """Whether it runs in seconds with no key and no download; such systems are part of ``make demo``."""
    declared_models: tuple[str, ...] = ()
    """Models it uses."""
    parameters: dict[str, str | int | float | bool] = {}
    """Keyword arguments of the adapter class."""
    conflict_of_interest: str | None = None
    """What ties the submitter to a system on the board."""
