"""BM25 over whole sessions, as LongMemEval's authors set it up: users' words, split at single spaces."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

K1 = 1.5
B = 0.75
EPSILON = 0.25


def okapi(corpus: list[list[str]], query: list[str]) -> list[float]:
    """Return the BM25 score of every document.

    ``Σ_w idf(w) · f (k1 + 1) / (f + k1 (1 - b + b · length / mean length))`` over the query's words, where ``idf(w) =
    ln(N - n + 0.5) - ln(n + 0.5)``, and a word whose idf is negative has ε times the mean idf of all words instead
    (rank_bm25's ``BM25Okapi``).

    Args:
        corpus: per document, its words.
        query: the words asked for, as often as they stand there.
    """
    counts = [Counter(words) for words in corpus]
    within = Counter(word for words in counts for word in words)
    idf = {word: math.log(len(corpus) - n + 0.5) - math.log(n + 0.5) for word, n in within.items()}
    mean = math.fsum(idf.values()) / len(idf) if idf else 0.0
    idf = {word: EPSILON * mean if value < 0 else value for word, value in idf.items()}
    length = sum(map(len, corpus)) / len(corpus) if corpus else 0.0
    scores = []
    for words, found in zip(corpus, counts, strict=True):
        norm = K1 * (1 - B + B * len(words) / length) if length else K1
        scores.append(math.fsum(idf[w] * found[w] * (K1 + 1) / (found[w] + norm) for w in query if w in found))
    return scores


class SessionBM25:
    """Brings up the sessions whose users' words fit best."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.sessions: list[tuple[str, list[str], list[str]]] = []
        """Per session its id, its words, and its dated lines."""

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        users = [turn for turn in session["turns"] if turn["role"] == "user"]
        words = " ".join(turn["content"] for turn in users).split(" ")
        lines = [f"[{session['date']}] {turn.get('speaker') or turn['role']}: {turn['content']}" for turn in users]
        self.sessions.append((session["session_id"], words, lines))

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        scores = okapi([words for _, words, _ in self.sessions], query.split(" "))
        best = sorted(range(len(scores)), key=lambda place: (-scores[place], -place))[:k]
        return [
            {
                "text": "\n".join(self.sessions[place][2]),
                "source_ids": [self.sessions[place][0]],
                "score": scores[place],
            }
            for place in best
        ]
