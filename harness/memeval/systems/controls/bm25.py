"""A system that finds turns by their words: Okapi BM25 (Robertson and Zaragoza 2009, section 3.2)."""

from __future__ import annotations

import heapq
import math
import re
from array import array
from collections import Counter
from typing import Any

K1 = 1.2
B = 0.75


def terms(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return re.findall(r"\w+", text.lower())


class BM25:
    """Brings up the turns that score highest, best first; their context is in the order they were said."""

    def __init__(self) -> None:
        self.turns: list[tuple[str, str]] = []
        """Per turn its id and its dated line."""
        self.lengths = array("L")
        """Per turn its number of words."""
        self.postings: dict[str, tuple[array[int], array[int]]] = {}
        """Per word the places of the turns it occurs in, in order, and how often it does."""

    def reset(self) -> None:
        self.turns.clear()
        self.lengths = array("L")
        self.postings.clear()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            words = Counter(terms(turn["content"]))
            for word, count in words.items():
                held = self.postings.get(word)
                if held is None:
                    held = self.postings[word] = (array("L"), array("L"))
                held[0].append(len(self.turns))
                held[1].append(count)
            line = f"[{session['date']}] {turn.get('speaker') or turn['role']}: {turn['content']}"
            self.turns.append((turn["turn_id"], line))
            self.lengths.append(words.total())

    def search(self, query: str, k: int, timestamp: str = "now") -> dict[str, Any]:
        scored = ((-score, place) for place, score in enumerate(self.scores(set(terms(query)))) if score > 0)
        best = heapq.nsmallest(k, scored)
        items = [
            {"text": self.turns[place][1], "source_ids": [self.turns[place][0]], "score": -minus_score}
            for minus_score, place in best
        ]
        context = "\n".join(self.turns[place][1] for place in sorted(place for _, place in best))
        return {"context": context, "items": items}

    def scores(self, wanted: set[str]) -> list[float]:
        """Return per turn the sum over words w of idf(w) · f (k1 + 1) / (f + k1 (1 - b + b · length / mean length))."""
        turns, words = len(self.turns), max(1, sum(self.lengths))
        norms = [K1 * (1 - B + B * length * turns / words) for length in self.lengths]
        totals = [0.0] * turns
        for word in sorted(wanted & self.postings.keys()):
            places, counts = self.postings[word]
            idf = math.log(1 + (turns - len(places) + 0.5) / (len(places) + 0.5))
            for place, count in zip(places, counts, strict=True):
                totals[place] += idf * count * (K1 + 1) / (count + norms[place])
        return totals
