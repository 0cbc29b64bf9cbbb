"""Token F1 as LoCoMo's evaluation code computes it (snap-research/locomo, ``task_eval/evaluation.py``)."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from operator import add

import regex

from memeval.judging.stemming import stem

_UNPUNCTUATED = str.maketrans("", "", string.punctuation)
# The word boundary of the package `regex` is not quite that of `re`, and LoCoMo's is the former.
_LITTLE_WORDS = regex.compile(r"\b(?:a|an|the|and)\b")


def normalised(text: str) -> str:
    """Return a text in lower case, without ASCII punctuation and the words a, an, the, and; with single spaces.

    Curly quotes and long dashes are no ASCII punctuation and stay; ``well-being`` becomes one word.
    """
    bare = text.lower().translate(_UNPUNCTUATED)
    return " ".join(_LITTLE_WORDS.sub(" ", bare).split())


def tokens(text: str) -> Counter[str]:
    """Return the stems of a normalised text's words, with their counts."""
    return Counter(stem(word) for word in normalised(text).split())


def f1(answer: str, reference: str) -> float:
    """Return ``2PR / (P + R)``, where P and R are the shares of the answer's and of the reference's tokens in common.

    Tokens are common as often as both hold them. Nothing in common is 0, two blank texts included.
    """
    return _f1(tokens(answer), tokens(reference))


def multi_f1(answer: str, reference: str) -> float:
    """Return the mean, over the reference's parts, of the best F1 that a part of the answer has with it.

    Parts stand between commas; blank ones are parts as well.
    """
    given = [tokens(part) for part in dict.fromkeys(answer.split(","))]
    wanted = [tokens(part) for part in reference.split(",")]
    return _sum([max(_f1(one, other) for one in given) for other in wanted]) / len(wanted)


def _sum(values: Sequence[float]) -> float:
    """Return a sum to the bit of NumPy's, in which LoCoMo's code takes the mean: what is rounded next depends on it.

    NumPy adds up to seven numbers in their order, and more of them in eight lanes with the rest at the end (up to 128
    numbers; no reference has as many parts).
    """
    if len(values) < 8:
        return reduce(add, values, 0.0)
    whole = len(values) - len(values) % 8
    lanes = [reduce(add, values[lane:whole:8]) for lane in range(8)]
    while len(lanes) > 1:
        lanes = [one + other for one, other in zip(lanes[::2], lanes[1::2], strict=True)]
    return reduce(add, values[whole:], lanes[0])


def _f1(given: Counter[str], wanted: Counter[str]) -> float:
    common = sum(min(count, given[token]) for token, count in wanted.items() if token in given)
    if common == 0:
        return 0.0
    precision, recall = common / given.total(), common / wanted.total()
    return 2 * precision * recall / (precision + recall)
