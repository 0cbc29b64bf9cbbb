"""BLEU of one text against one reference, as NLTK 3.10.4 computes it with its smoothing method 1.

Papineni and others, "BLEU: a method for automatic evaluation of machine translation", 2002; smoothing: Chen and Cherry,
"A systematic comparison of smoothing techniques for sentence-level BLEU", 2014, section 3. NLTK's own function is not
used: importing it loads all of NLTK. Tests hold the two equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import exp, fsum, log

EPSILON = 0.1
"""What stands for the matches of an order that has none."""


def bleu(reference: str, prediction: str, orders: int) -> float:
    """Return ``BP · exp(Σ_{n≤N} log(p_n) / N)``.

    p_n is the share of the prediction's n-grams that the reference holds, each counted no more often than there; BP is
    ``exp(1 - r/c)`` for a prediction of c words that is shorter than the reference of r, and 1 otherwise. Words stand
    between white space, and upper and lower case differ. No word in common is 0.

    Args:
        reference: the text that is aimed at.
        prediction: the text that is measured.
        orders: N, with equal weights: 1 for BLEU-1, 4 for BLEU-4.
    """
    wanted, given = reference.split(), prediction.split()
    matches = [_matches(wanted, given, order) for order in range(1, orders + 1)]
    if not matches[0]:
        return 0.0
    shares = [(match or EPSILON) / max(1, len(given) - order + 1) for order, match in enumerate(matches, start=1)]
    brevity = exp(1 - len(wanted) / len(given)) if len(given) <= len(wanted) else 1.0
    return brevity * exp(fsum(log(share) / orders for share in shares))


def _matches(wanted: Sequence[str], given: Sequence[str], order: int) -> int:
    return (_grams(wanted, order) & _grams(given, order)).total()


def _grams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))
