"""A system that finds turns by their words: Okapi BM25 (Robertson and Zaragoza 2009, section 3.2)."""

from __future__ import annotations

import math
import re
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
        self.turns: list[tuple[str, str, Counter[str]]] = []
        """Per turn its id, its dated line, and its words."""
        self.frequency: Counter[str] = Counter()
        """In how many turns a word occurs."""
        self.length = 0
        """Words in all turns."""

    def reset(self) -> None:
        self.turns.clear()
        self.frequency.clear()
        self.length = 0

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            line = f"[{session['date']}] {turn.get('speaker') or turn['role']}: {turn['content']}"
            words = Counter(terms(turn["content"]))
            self.turns.append((turn["turn_id"], line, words))
            self.frequency.update(words.keys())
            self.length += words.total()

    def search(self, query: str, k: int, timestamp: str = "now") -> dict[str, Any]:
        wanted = set(terms(query))
        scored = [(self.score(wanted, words), place) for place, (_, _, words) in enumerate(self.turns)]
        best = sorted(((s, place) for s, place in scored if s > 0), key=lambda one: (-one[0], one[1]))[:k]
        items = [
            {"text": self.turns[place][1], "source_ids": [self.turns[place][0]], "score": score}
            for score, place in best
        ]
        context = "\n".join(self.turns[place][1] for place in sorted(place for _, place in best))
        return {"context": context, "items": items}

    def score(self, wanted: set[str], words: Counter[str]) -> float:
        """Return the sum over words w of idf(w) · f (k1 + 1) / (f + k1 (1 - b + b · length / mean length))."""
        turns = len(self.turns)
        norm = K1 * (1 - B + B * words.total() * turns / max(1, self.length))
        total = 0.0
        for word in sorted(wanted & words.keys()):
            idf = math.log(1 + (turns - self.frequency[word] + 0.5) / (self.frequency[word] + 0.5))
            total += idf * words[word] * (K1 + 1) / (words[word] + norm)
        return total
