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
# LoCoMo's code uses the package `regex`, whose word boundaries differ from those of `re`.
_STOP_WORDS = regex.compile(r"\b(?:a|an|the|and)\b")


def normalised(text: str) -> str:
    """Return a text in lower case, with single spaces, without ASCII punctuation and the words a, an, the, and.

    Curly quotes and long dashes are not ASCII and stay; ``well-being`` becomes one word.
    """
    bare = text.lower().translate(_UNPUNCTUATED)
    return " ".join(_STOP_WORDS.sub(" ", bare).split())


def tokens(text: str) -> Counter[str]:
    """Return the stems of a normalised text's words, with their counts."""
    return Counter(stem(word) for word in normalised(text).split())


def f1(answer: str, reference: str) -> float:
    """Return ``2PR / (P + R)``, where P and R are the shares of common tokens in the answer and the reference.

    Repeated tokens count as often as both texts contain them. Without common tokens F1 is 0, also for two blank texts.
    """
    return _f1(tokens(answer), tokens(reference))


def multi_f1(answer: str, reference: str) -> float:
    """Return the mean, over the reference's parts, of the best F1 that a part of the answer has with it.

    Commas separate parts; blank parts count.
    """
    answer_parts = [tokens(part) for part in dict.fromkeys(answer.split(","))]
    reference_parts = [tokens(part) for part in reference.split(",")]
    return _sum([max(_f1(one, other) for one in answer_parts) for other in reference_parts]) / len(reference_parts)


def _sum(values: Sequence[float]) -> float:
    """Return a sum with NumPy's rounding, because LoCoMo's code uses NumPy and rounds the mean.

    NumPy adds up to seven numbers in order. It adds up to 128 numbers in eight lanes, and the rest at the end; no
    reference has more parts.
    """
    if len(values) < 8:
        return reduce(add, values, 0.0)
    whole = len(values) - len(values) % 8
    lanes = [reduce(add, values[lane:whole:8]) for lane in range(8)]
    while len(lanes) > 1:
        lanes = [one + other for one, other in zip(lanes[::2], lanes[1::2], strict=True)]
    return reduce(add, values[whole:], lanes[0])


def _f1(answer_tokens: Counter[str], reference_tokens: Counter[str]) -> float:
    common = sum(
        min(count, answer_tokens[token]) for token, count in reference_tokens.items() if token in answer_tokens
    )
    if common == 0:
        return 0.0
    precision, recall = common / answer_tokens.total(), common / reference_tokens.total()
    return 2 * precision * recall / (precision + recall)
