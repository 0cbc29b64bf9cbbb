"""Full-text search over dated turns, with the bm25s library."""

from __future__ import annotations

from typing import Any

import bm25s
import numpy as np
import Stemmer


class BM25S:
    """Brings up the turns whose words fit best, of those said by the asked time."""

    def __init__(self) -> None:
        self.stemmer = Stemmer.Stemmer("english")
        self.reset()

    def reset(self) -> None:
        self.lines: list[str] = []
        self.sources: list[str] = []
        self.dates: list[str] = []
        self.index: bm25s.BM25 | None = None

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            self.lines.append(f"[{session['date']}] {turn.get('speaker') or turn['role']}: {turn['content']}")
            self.sources.append(turn["turn_id"])
            self.dates.append(session["date"])
        self.index = None

    def settle(self, timeout: float) -> bool:
        """Index what was taken in; the statistics of BM25 are those of the whole memory."""
        if self.index is None and self.lines:
            self.index = bm25s.BM25()
            self.index.index(self.words(self.lines), show_progress=False)
        return True

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        self.settle(0)
        (asked,) = self.words([query])
        if self.index is None or not asked:
            return []
        known = np.array([timestamp == "now" or date[: len(timestamp)] <= timestamp for date in self.dates])
        scores = self.index.get_scores(asked, weight_mask=known)
        best = [place for place in np.argsort(-scores, kind="stable")[:k] if scores[place] > 0]
        return [
            {"text": self.lines[place], "source_ids": [self.sources[place]], "score": float(scores[place])}
            for place in best
        ]

    def words(self, texts: list[str]) -> list[list[str]]:
        """Return the stems of each text's words, without the common ones."""
        found: list[list[str]] = bm25s.tokenize(
            texts, stopwords="en", stemmer=self.stemmer, return_ids=False, show_progress=False
        )
        return found
