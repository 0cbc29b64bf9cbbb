"""Words of English from ``lexical.toml``: those without a meaning of their own, irregular forms, words for the same."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

from memeval.judging.stemming import stem
from memeval.toml import read_words

FAMILY = 6
"""Letters that the words of one family share at least."""


@dataclass(frozen=True)
class _Words:
    light: str
    negators: str
    endings: str
    forms: str
    same: str
    phrases: Mapping[str, str]


@cache
def _words() -> _Words:
    return read_words(__package__, "lexical.toml", _Words)


@cache
def light_words() -> frozenset[str]:
    """Return the words that a right answer may leave out."""
    return frozenset(_words().light.split())


@cache
def negators() -> frozenset[str]:
    return frozenset(_words().negators.split())


@cache
def _endings() -> frozenset[str]:
    return frozenset(_words().endings.split()) | {""}


def phrases() -> Mapping[str, str]:
    """Return phrases with what they are read as, in the order in which they are looked for."""
    return _words().phrases


@cache
def same_words() -> dict[str, str]:
    """Return the stem that stands for each irregular form and each other word, by word or stem."""
    table: dict[str, str] = {}
    for group in _words().forms.split(";"):
        base, *forms = group.split()
        table |= dict.fromkeys(forms, stem(base))
    same: dict[str, str] = {}
    for group in _words().same.split(";"):
        stems = [table.get(word, stem(word)) for word in group.split()]
        known = {same[each] for each in stems if each in same}
        target = min(known, default=stems[0])
        same |= dict.fromkeys([word for word, to in same.items() if to in known], target)
        same |= dict.fromkeys(stems, target)
    return table | same


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
    endings = _endings()
    return any(one[at:] in endings and other[at:] in endings for at in range(shared, FAMILY - 1, -1))
