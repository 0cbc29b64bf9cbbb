"""Words and meaning together: BM25 and all-MiniLM-L6-v2 over dated turns, merged by reciprocal rank fusion."""

from __future__ import annotations

from typing import Any

import bm25s
import numpy as np
import Stemmer
from minilm import DIMENSIONS, MiniLM

FUSION = 60
"""The constant k of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""

LOOKED_AT = 50
"""Places of each ranking that are merged, at least."""


class Hybrid:
    """Brings up the turns that stand high in either ranking, of those said by the asked time."""

    def __init__(self) -> None:
        self.model = MiniLM()
        self.stemmer = Stemmer.Stemmer("english")
        self.reset()

    def reset(self) -> None:
        self.lines: list[str] = []
        self.sources: list[str] = []
        self.dates: list[str] = []
        self.vectors = np.empty((0, DIMENSIONS), dtype=np.float32)
        self.index: bm25s.BM25 | None = None

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        said = [f"{turn.get('speaker') or turn['role']}: {turn['content']}" for turn in session["turns"]]
        self.lines += [f"[{session['date']}] {text}" for text in said]
        self.sources += [turn["turn_id"] for turn in session["turns"]]
        self.dates += [session["date"]] * len(said)
        self.vectors = np.concatenate([self.vectors, self.model.embed(said)])
        self.index = None

    def settle(self, timeout: float) -> bool:
        """Index the words of what was taken in; the statistics of BM25 are those of the whole memory."""
        if self.index is None and self.lines:
            self.index = bm25s.BM25()
            self.index.index(self.words(self.lines), show_progress=False)
        return True

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        self.settle(0)
        known = np.array([timestamp == "now" or date[: len(timestamp)] <= timestamp for date in self.dates], dtype=bool)
        fused = np.zeros(len(self.lines))
        for scores in (self.by_words(query), self.by_meaning(query)):
            ranked = [place for place in np.argsort(-scores, kind="stable") if known[place] and scores[place] > 0]
            for rank, place in enumerate(ranked[: max(k, LOOKED_AT)], 1):
                fused[place] += 1 / (FUSION + rank)
        best = [place for place in np.argsort(-fused, kind="stable")[:k] if fused[place] > 0]
        return [
            {"text": self.lines[place], "source_ids": [self.sources[place]], "score": float(fused[place])}
            for place in best
        ]

    def by_words(self, query: str) -> np.ndarray:
        """Return the BM25 score of each turn."""
        (asked,) = self.words([query])
        if self.index is None or not asked:
            return np.zeros(len(self.lines))
        return self.index.get_scores(asked)

    def by_meaning(self, query: str) -> np.ndarray:
        """Return the cosine of each turn and the question."""
        scores: np.ndarray = self.vectors @ self.model.vector(query)
        return scores

    def words(self, texts: list[str]) -> list[list[str]]:
        """Return the stems of each text's words, without the common ones."""
        found: list[list[str]] = bm25s.tokenize(
            texts, stopwords="en", stemmer=self.stemmer, return_ids=False, show_progress=False
        )
        return found
