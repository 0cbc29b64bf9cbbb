"""A system that answers with the earliest statement on the matter."""

from __future__ import annotations

import re
from typing import Any

_COMMON = """
a an and are as at be been by did do does for from had has have he her his i in is it its of on or our she that the
their they this to was we were what when where which who whose will with you your
"""
COMMON = frozenset(_COMMON.split())


def words(text: str) -> set[str]:
    """Return the words of a text that carry meaning, in lower case."""
    return set(re.findall(r"\w+", text.lower())) - COMMON


class FirstStated:
    """Answers with what the user said that shares most words with the question; of several, the earliest."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    def reset(self) -> None:
        self.statements.clear()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            if turn["role"] == "user":
                self.statements += [s for s in re.split(r"(?<=[.!?])\s+", turn["content"]) if not s.endswith("?")]

    def query(self, question: str, timestamp: str = "now") -> str:
        wanted = words(question)
        ordered = self.statements
        return max(ordered, key=lambda statement: len(wanted & words(statement)), default="")
