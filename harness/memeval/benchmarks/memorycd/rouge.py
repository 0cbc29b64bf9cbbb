"""ROUGE-1 and ROUGE-L of one text against one reference, as the package ``rouge-score`` 0.1.2 computes them.

Lin, "ROUGE: a package for automatic evaluation of summaries", 2004, sections 2 and 3.1. The package is not used,
because its import loads all of NLTK. Tests check that both give equal values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memeval.judging.stemming import stem

_WORD = re.compile(r"[a-z0-9]+")
_STEMMED_FROM = 4
"""Shortest length of a stemmed word."""


@dataclass(frozen=True)
class Rouge:
    """F-measures, in [0, 1]."""

    rouge1: float
    """Over single words."""
    rouge_l: float
    """Over the longest common subsequence of words."""


def rouge(reference: str, prediction: str) -> Rouge:
    """Return ROUGE-1 and ROUGE-L.

    ``F = 2PR / (P + R)``, where P and R are the shares of common words in the prediction and the reference. Words are
    runs of a-z and 0-9 in the lower-cased text; longer ones than three letters are Porter-stemmed. ROUGE-1 counts
    repeated words as often as both texts contain them. ROUGE-L counts the longest common subsequence.

    Args:
        reference: the reference text.
        prediction: the predicted text.
    """
    reference_words, predicted_words = tokens(reference), tokens(prediction)
    if not reference_words or not predicted_words:
        return Rouge(0.0, 0.0)
    common = (Counter(reference_words) & Counter(predicted_words)).total()
    return Rouge(
        _f(common, len(reference_words), len(predicted_words)),
        _f(_subsequence(reference_words, predicted_words), len(reference_words), len(predicted_words)),
    )


def tokens(text: str) -> list[str]:
    """Return the stemmed words of a text."""
    return [stem(word) if len(word) >= _STEMMED_FROM else word for word in _WORD.findall(text.lower())]


def _f(common: int, reference_count: int, predicted_count: int) -> float:
    precision, recall = common / predicted_count, common / reference_count
    return 2 * precision * recall / (precision + recall) if common else 0.0


def _subsequence(reference_words: Sequence[str], predicted_words: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    The bits of one integer store a row of the usual table (0 for a step up), so that a row takes one addition:
    Hyyrö, "Bit-parallel LCS-length computation revisited", 2004, section 3.
    """
    positions: dict[str, int] = {}
    for position, word in enumerate(reference_words):
        positions[word] = positions.get(word, 0) | 1 << position
    all_bits = (1 << len(reference_words)) - 1
    row = all_bits
    for word in predicted_words:
        if matches := row & positions.get(word, 0):
            row = ((row + matches) | (row - matches)) & all_bits
    return len(reference_words) - row.bit_count()
