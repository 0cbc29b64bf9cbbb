"""Months in words, independent of the locale."""

from __future__ import annotations

from datetime import date

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
"""Names of the months."""


def month(day: date) -> str:
    """Return the month of ``day`` in words: ``March 2025``."""
    return f"{MONTHS[day.month - 1]} {day.year}"


def month_phrases(day: date) -> tuple[str, ...]:
    """Return the texts of a right answer to when something began: the month of the day, or the day."""
    name = MONTHS[day.month - 1]
    phrases = (
        month(day),
        f"{name[:3]} {day.year}",
        f"{day.year}-{day.month:02d}",
        day.isoformat(),
        f"{name} {day.day}, {day.year}",
    )
    return tuple(dict.fromkeys(phrases))
