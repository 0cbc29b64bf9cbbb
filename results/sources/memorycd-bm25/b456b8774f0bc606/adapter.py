"""MemoryCD's second way of choosing what is remembered: the reviews that fit best, in the order of their time."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

K1 = 1.5
B = 0.75
EPSILON = 0.25
DESCRIPTION_CHARACTERS = 500


def okapi(corpus: list[list[str]], query: list[str]) -> list[float]:
    """Return the BM25 score of every document.

    ``Σ_w idf(w) · f (k1 + 1) / (f + k1 (1 - b + b · length / mean length))`` over the query's words, where ``idf(w) =
    ln(N - n + 0.5) - ln(n + 0.5)``, and a word whose idf is negative has ε times the mean idf of all words instead,
    which may be negative too (rank_bm25's ``BM25Okapi``). Where no document has a word, all scores are 0.

    Args:
        corpus: per document, its words.
        query: the words asked for, as often as they stand there.
    """
    counts = [Counter(words) for words in corpus]
    within = Counter(word for words in counts for word in words)
    if not within:
        return [0.0] * len(corpus)
    idf = {word: math.log(len(corpus) - n + 0.5) - math.log(n + 0.5) for word, n in within.items()}
    floor = EPSILON * math.fsum(idf.values()) / len(idf)
    idf = {word: floor if value < 0 else value for word, value in idf.items()}
    mean = sum(map(len, corpus)) / len(corpus)
    scores = []
    for words, found in zip(corpus, counts, strict=True):
        norm = K1 * (1 - B + B * len(words) / mean)
        scores.append(math.fsum(idf[w] * found[w] * (K1 + 1) / (found[w] + norm) for w in query if w in found))
    return scores


def document(content: str, metadata: dict[str, Any]) -> str:
    """Return what of a text is searched: a review's own words and its product's; where it comes alone, the text."""
    if not metadata:
        return content
    described = str(metadata.get("description") or "")[:DESCRIPTION_CHARACTERS]
    parts = [metadata.get(name) for name in ("title", "text", "product", "category")]
    return " ".join(str(part) for part in (*parts, described) if part)


class BM25Reviews:
    """Brings up the texts whose words fit best.

    Args:
        max_items: how many; 0 for all.
    """

    def __init__(self, max_items: int = 10) -> None:
        self.max_items = max_items
        self.reset()

    def reset(self) -> None:
        self.texts: list[tuple[str, str]] = []
        self.words: list[list[str]] = []

    def retain(self, content: str, source_id: str = "", metadata: dict[str, Any] | None = None) -> None:
        self.texts.append((source_id, content))
        self.words.append(document(content, metadata or {}).lower().split())

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        said = ((turn.get("speaker") or turn["role"], turn["content"]) for turn in session["turns"])
        self.retain("\n".join(f"[{timestamp}] {who}: {what}" for who, what in said), session["session_id"])

    def search(self, query: str, k: int, timestamp: str = "now") -> dict[str, Any]:
        scores = okapi(self.words, query.lower().split())
        best = sorted(range(len(scores)), key=lambda place: -scores[place])
        kept = sorted(best[: self.max_items or None])
        found = [
            {"text": self.texts[place][1], "source_ids": [self.texts[place][0]], "score": scores[place]}
            for place in best[:k]
        ]
        return {"context": "\n\n".join(self.texts[place][1] for place in kept), "items": found}
