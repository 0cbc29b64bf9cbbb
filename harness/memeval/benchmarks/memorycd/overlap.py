"""BLEU and ROUGE of one text against one reference, as NLTK 3.10.4 and ``rouge-score`` 0.1.2 compute them.

BLEU with NLTK's smoothing method 1: Papineni and others, "BLEU: a method for automatic evaluation of machine
translation", 2002; Chen and Cherry, "A systematic comparison of smoothing techniques for sentence-level BLEU", 2014,
section 3. ROUGE-1 and ROUGE-L: Lin, "ROUGE: a package for automatic evaluation of summaries", 2004, sections 2 and 3.1.
The packages are not used, because their import loads all of NLTK. Tests check that the values are equal.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, fsum, log

from memeval.judging.stemming import stem

EPSILON = 0.1
"""Number of matches that replaces 0 for an order."""


def bleu(reference: str, prediction: str, orders: int) -> float:
    """Return ``BP · exp(Σ_{n≤N} log(p_n) / N)``.

    p_n is the share of the prediction's n-grams that also occur in the reference, with clipped counts. BP is ``exp(1 -
    r/c)`` for a prediction of c words that is shorter than the reference of r words, and 1 otherwise. Words are
    separated by white space and case-sensitive. Without common words, BLEU is 0. ``orders``: N, with equal weights: 1
    for BLEU-1, 4 for BLEU-4.
    """
    reference_words, predicted_words = reference.split(), prediction.split()
    matches = [
        (_grams(reference_words, order) & _grams(predicted_words, order)).total() for order in range(1, orders + 1)
    ]
    if not matches[0]:
        return 0.0
    shares = [
        (match or EPSILON) / max(1, len(predicted_words) - order + 1) for order, match in enumerate(matches, start=1)
    ]
    brevity = (
        exp(1 - len(reference_words) / len(predicted_words)) if len(predicted_words) <= len(reference_words) else 1.0
    )
    return brevity * exp(fsum(log(share) / orders for share in shares))


def _grams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))


_WORD = re.compile(r"[a-z0-9]+")
_STEMMED_FROM = 4


@dataclass(frozen=True)
class Rouge:
    rouge1: float
    """Over single words."""
    rouge_l: float
    """Over the longest common subsequence of words."""


def rouge(reference: str, prediction: str) -> Rouge:
    """Return ROUGE-1 and ROUGE-L.

    ``F = 2PR / (P + R)``, where P and R are the shares of common words in the prediction and the reference. Words are
    runs of a-z and 0-9 in the lower-cased text; longer ones than three letters are Porter-stemmed. ROUGE-1 counts
    repeated words as often as both texts contain them. ROUGE-L counts the longest common subsequence.
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
