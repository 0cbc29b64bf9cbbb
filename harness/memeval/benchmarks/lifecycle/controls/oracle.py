"""A memory that knows the sentences of the benchmark. It shows that every probe can be passed."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORDING = Path(__file__).parents[1] / "wording"

SLOTS = {"value": ".+?", "name": ".+?", "month": r"\w+ \d{4}"}
"""What the placeholders of a pattern match."""

FORMS = ("ask", "paraphrase", "partial", "indirect", "past", "about")

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def matcher(pattern: str) -> re.Pattern[str]:
    """Return a regular expression for the texts of a pattern."""
    parts = re.split(r"\{(\w+)\}", pattern)
    return re.compile(
        "".join(f"(?P<{part}>{SLOTS[part]})" if n % 2 else re.escape(part) for n, part in enumerate(parts))
    )


@dataclass
class KnownText:
    """A text with what it states."""

    bank: str
    text: str
    source: str
    date: str
    topics: frozenset[str]
    """The topics of which the user states a value, or that there is none."""


class LifecycleOracle:
    """Returns the one text that answers a question, and deletes exactly what it is asked to delete."""

    def __init__(self) -> None:
        topics = tomllib.loads((WORDING / "topics.toml").read_text("utf-8"))["topics"]
        self.said = {
            topic["id"]: [
                *map(matcher, (*topic["told"], *topic["changed"], topic["back"], topic["retracted"])),
            ]
            for topic in topics
        }
        self.asked = [(topic["id"], form, matcher(topic[form])) for form in FORMS for topic in topics]
        self.kept: list[KnownText] = []

    def reset(self) -> None:
        self.kept = []

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            self.keep(turn.get("speaker") or "", turn["content"], turn["turn_id"], session["date"])

    def retain(self, content: str, bank: str = "", timestamp: str | None = None, source_id: str = "") -> None:
        self.keep(bank, content, source_id, timestamp or "")

    def keep(self, bank: str, text: str, source: str, date: str) -> None:
        """Keep a text with its topics. A text in a bank begins with the name of who says it."""
        said = (text, text.partition(": ")[2])
        topics = frozenset(
            name for name, patterns in self.said.items() if any(p.fullmatch(each) for p in patterns for each in said)
        )
        self.kept.append(KnownText(bank, text, source, date, topics))

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return self.answer(query, None)

    def recall(self, query: str, k: int, bank: str = "") -> list[dict[str, Any]]:
        return self.answer(query, bank)

    def answer(self, query: str, bank: str | None) -> list[dict[str, Any]]:
        """Return the newest statement of the user about the topic of a question, or that of the asked month."""
        found = self.understood(query)
        if found is None:
            return []
        topic, form, match = found
        user = match["name"] if bank is None else bank
        own = [each for each in self.kept if each.bank == user and topic in each.topics]
        if form == "past":
            month, year = match["month"].split()
            last = f"{year}-{MONTHS.index(month) + 1:02}-31"
            own = [each for each in own if each.date <= last]
        return [item(each) for each in own[-1:]]

    def understood(self, query: str) -> tuple[str, str, re.Match[str]] | None:
        """Return topic, form and match of a question; ``None`` if it is unknown."""
        matches = ((topic, form, pattern.fullmatch(query)) for topic, form, pattern in self.asked)
        return next(((topic, form, match) for topic, form, match in matches if match), None)

    def forget(self, bank: str | None = None, ids: list[str] | None = None, query: str | None = None) -> int:
        """Delete the texts that match all arguments."""
        found = None if query is None else self.understood(query)
        left = [
            each
            for each in self.kept
            if (bank is not None and each.bank != bank)
            or (ids is not None and each.source not in ids)
            or (query is not None and (found is None or found[0] not in each.topics))
        ]
        gone = len(self.kept) - len(left)
        self.kept = left
        return gone

    def export_memories(self) -> list[dict[str, Any]]:
        return [item(each) for each in self.kept]


def item(each: KnownText) -> dict[str, Any]:
    """Return a text as an item."""
    return {"text": each.text, "source_ids": [each.source]}
