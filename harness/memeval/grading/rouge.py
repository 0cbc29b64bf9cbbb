"""ROUGE-1 and ROUGE-L of one text against one reference, as the package ``rouge-score`` 0.1.2 computes them.

Lin, "ROUGE: a package for automatic evaluation of summaries", 2004, sections 2 and 3.1. The package is not used itself:
importing it loads all of NLTK. Tests hold the two equal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memeval.judging.stemming import stem

_WORD = re.compile(r"[a-z0-9]+")
_STEMMED_FROM = 4
"""Letters from which on a word is stemmed."""


@dataclass(frozen=True)
class Rouge:
    """F-measures, in [0, 1]."""

    rouge1: float
    """Over single words."""
    rouge_l: float
    """Over the longest common subsequence of words."""


def rouge(reference: str, prediction: str) -> Rouge:
    """Return ROUGE-1 and ROUGE-L.

    ``F = 2PR / (P + R)``, where P and R are the common words' shares of the prediction and of the reference. Words are
    runs of a-z and 0-9 in the lower-cased text, as Porter stems where longer than three letters. For ROUGE-1 words are
    common as often as both texts hold them; for ROUGE-L, as many as stand in both in one order.

    Args:
        reference: the text that is aimed at.
        prediction: the text that is measured.
    """
    wanted, given = tokens(reference), tokens(prediction)
    if not wanted or not given:
        return Rouge(0.0, 0.0)
    common = (Counter(wanted) & Counter(given)).total()
    return Rouge(_f(common, len(wanted), len(given)), _f(_subsequence(wanted, given), len(wanted), len(given)))


def tokens(text: str) -> list[str]:
    """Return the words of a text as ROUGE compares them."""
    return [stem(word) if len(word) >= _STEMMED_FROM else word for word in _WORD.findall(text.lower())]


def _f(common: int, wanted: int, given: int) -> float:
    precision, recall = common / given, common / wanted
    return 2 * precision * recall / (precision + recall) if common else 0.0


def _subsequence(wanted: Sequence[str], given: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    A row of the usual table is held in the bits of one number, a 0 where it steps up, so that a row is one addition:
    Hyyrö, "Bit-parallel LCS-length computation revisited", 2004, section 3.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(wanted):
        places[word] = places.get(word, 0) | 1 << place
    whole = (1 << len(wanted)) - 1
    row = whole
    for word in given:
        if met := row & places.get(word, 0):
            row = ((row + met) | (row - met)) & whole
    return len(wanted) - row.bit_count()
