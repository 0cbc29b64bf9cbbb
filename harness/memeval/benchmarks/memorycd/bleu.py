"""BLEU of one text against one reference, as NLTK 3.10.4 computes it with its smoothing method 1.

Papineni and others, "BLEU: a method for automatic evaluation of machine translation", 2002; smoothing: Chen and Cherry,
"A systematic comparison of smoothing techniques for sentence-level BLEU", 2014, section 3. NLTK's own function is not
used, because its import loads all of NLTK. Tests check that both give equal values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import exp, fsum, log

EPSILON = 0.1
"""Number of matches that replaces 0 for an order."""


def bleu(reference: str, prediction: str, orders: int) -> float:
    """Return ``BP · exp(Σ_{n≤N} log(p_n) / N)``.

    p_n is the share of the prediction's n-grams that also occur in the reference, with clipped counts. BP is
    ``exp(1 - r/c)`` for a prediction of c words that is shorter than the reference of r words, and 1 otherwise. Words
    are separated by white space and case-sensitive. Without common words, BLEU is 0.

    Args:
        reference: the reference text.
        prediction: the predicted text.
        orders: N, with equal weights: 1 for BLEU-1, 4 for BLEU-4.
    """
    reference_words, predicted_words = reference.split(), prediction.split()
    matches = [_matches(reference_words, predicted_words, order) for order in range(1, orders + 1)]
    if not matches[0]:
        return 0.0
    shares = [
        (match or EPSILON) / max(1, len(predicted_words) - order + 1) for order, match in enumerate(matches, start=1)
    ]
    brevity = (
        exp(1 - len(reference_words) / len(predicted_words)) if len(predicted_words) <= len(reference_words) else 1.0
    )
    return brevity * exp(fsum(log(share) / orders for share in shares))


def _matches(reference_words: Sequence[str], predicted_words: Sequence[str], order: int) -> int:
    return (_grams(reference_words, order) & _grams(predicted_words, order)).total()


def _grams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))
