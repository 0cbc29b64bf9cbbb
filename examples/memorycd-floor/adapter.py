"""Guesses at MemoryCD's tasks: what a memory has to beat."""

from __future__ import annotations

import hashlib
import re
from typing import Any

_TASK = re.compile(r"\s*\[(rating|title|review|ranking)\]")
_AVERAGE = re.compile(r"^ *Product Avg Rating: ([0-9]+(?:\.[0-9]+)?)$", re.MULTILINE)
_PRODUCT = re.compile(r"^ *Product: (.+)$", re.MULTILINE)
_CANDIDATE = re.compile(r"^(?=ID: )", re.MULTILINE)
_FIELDS = {"title": "title", "review": "text"}


class Floor:
    """Answers by one rule a task, whatever is asked.

    Args:
        by: ``nothing``: five stars, no text, and products in an order drawn by the hashes of their ids. ``product``:
            its average rating, its name as title and as review, and products by their average ratings. ``person``: the
            mean of their ratings, the title or the text of their latest review, and products as by ``nothing``.
    """

    def __init__(self, by: str = "nothing") -> None:
        self.by = by
        self.reviews: list[dict[str, Any]] = []

    def reset(self) -> None:
        self.reviews.clear()

    def retain(self, content: str, metadata: dict[str, Any] | None = None) -> None:
        self.reviews.append(metadata or {})

    def query(self, question: str, timestamp: str = "now") -> str:
        asked = _TASK.match(question)
        if asked is None:
            return ""
        task, shown = asked.group(1), question.partition("\n\n")[2]
        if task == "ranking":
            return ", ".join(self.ranked(shown))
        if self.by == "product":
            found = (_AVERAGE if task == "rating" else _PRODUCT).search(shown)
            return "" if found is None else found.group(1)
        if self.by == "person":
            return self.mean() if task == "rating" else self.latest(_FIELDS[task])
        return "5" if task == "rating" else ""

    def ranked(self, shown: str) -> list[str]:
        """Return the ids of the products shown, in the order of the rule; of equals the one shown first."""
        blocks = [block for block in _CANDIDATE.split(shown) if block.startswith("ID: ")]
        products = [(block.split("\n", 1)[0].removeprefix("ID: "), _AVERAGE.search(block)) for block in blocks]
        if self.by == "product":
            products.sort(key=lambda one: -float(one[1].group(1)) if one[1] else 0.0)
        else:
            products.sort(key=lambda one: hashlib.sha256(one[0].encode()).digest())
        return [item for item, _average in products]

    def mean(self) -> str:
        """Return the mean of the person's ratings; blank where there are none."""
        ratings = [float(one["rating"]) for one in self.reviews if "rating" in one]
        return f"{sum(ratings) / len(ratings):.4f}" if ratings else ""

    def latest(self, field: str) -> str:
        """Return a text of the latest review that has one; blank where none has."""
        return next((str(one[field]) for one in reversed(self.reviews) if one.get(field)), "")
