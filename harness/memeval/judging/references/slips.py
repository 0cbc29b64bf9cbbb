"""Words that are written differently and are the same all the same: slips of the pen, and words of one family."""

from __future__ import annotations

from itertools import takewhile

from memeval.judging.references.lexical import ENDINGS, FAMILY

SHORTEST = 8
"""Letters of the shorter word from which a slip is forgiven: short words often become another word."""


def one_slip(one: str, other: str) -> bool:
    """Return whether two different words differ by one slip. A replaced letter is none: it makes another word."""
    if len(one) > len(other):
        one, other = other, one
    if not one or one[0] != other[0] or len(other) - len(one) > 1 or one == other:
        return False
    at = next((n for n, letter in enumerate(one) if letter != other[n]), len(one))
    if len(one) < len(other):
        return one[at:] == other[at + 1 :]
    return one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :]


def one_family(one: str, other: str) -> bool:
    """Return whether two words differ only in their endings, as photography and photographer do."""
    if one[:FAMILY] != other[:FAMILY] or len(one) < FAMILY or len(other) < FAMILY:
        return False
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return any(one[at:] in ENDINGS and other[at:] in ENDINGS for at in range(shared, FAMILY - 1, -1))
