"""Reading answers without a model: which phrases occur as whole words, and how words are compared.

Text is compared in one normal form: Unicode NFKC, casefolded, without invisible characters, with plain quotes. So
``Ｃ＃`` is ``C#``, and no zero-width space hides a stale answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

Phrases = tuple[str, ...]

_PLAIN = str.maketrans({"‘": "'", "’": "'", "‛": "'", "ʼ": "'", "“": '"', "”": '"'})
_AMPERSAND = re.compile(r"(?<![^\W_])&(?![^\W_])")
_WORD = re.compile(r"[^\W_]+(?:[+#]+(?![^\W_]))?")


def normal(text: str) -> str:
    """Return ``text`` in the form in which texts are compared."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(c for c in folded if unicodedata.category(c) != "Cf").translate(_PLAIN)


def words(text: str) -> list[str]:
    """Return the words of a text already in :func:`normal` form; ``c#`` and ``c++`` are words."""
    return _WORD.findall(text)


def _flat(text: str) -> str:
    """Return text in normal form with single spaces, and ``and`` for an ampersand that stands alone."""
    flat = " ".join(normal(text).split())
    return _AMPERSAND.sub("and", flat) if "&" in flat else flat


@lru_cache(maxsize=4096)
def _owners(groups: tuple[Phrases, ...]) -> dict[str, frozenset[int]]:
    """Return the phrases of some groups in flat form, each with the groups it stands for."""
    owners: dict[str, set[int]] = {}
    for number, group in enumerate(groups):
        for phrase in group:
            if form := _flat(phrase):
                owners.setdefault(form, set()).add(number)
    return {form: frozenset(numbers) for form, numbers in owners.items()}


def _spans(text: str, form: str) -> Iterator[tuple[int, int]]:
    """Yield where a flat phrase stands in a flat text as whole words.

    A phrase that ends in a letter or digit is not found before ``#`` or ``++``: C is neither C# nor C++. Underscores
    do not belong to words here, since Markdown writes emphasis with them.
    """
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        free_before = start == 0 or not text[start - 1].isalnum()
        free_after = end == len(text) or not text[end].isalnum()
        if free_before and free_after and not (form[-1].isalnum() and text.startswith(("#", "++"), end)):
            yield start, end
        start = text.find(form, start + 1)


def stated(text: str, *groups: Phrases) -> tuple[bool, ...]:
    """Return, for each group of phrases, whether the text states one of them.

    Phrases match as whole words in any case. Where two phrases overlap the longer one is what was said: an answer
    ``Redis Cluster`` states ``Redis Cluster`` and not ``Redis``, if both are asked about in one call.

    Args:
        text: the text as it came.
        groups: the phrases that belong together, such as a fact's key phrase and its aliases.
    """
    flat, owners = _flat(text), _owners(groups)
    # From left to right, the longest first where several begin together; what overlaps an earlier one is part of it.
    spans = sorted((start, -end, form) for form in owners for start, end in _spans(flat, form))
    found: set[int] = set()
    reached = 0
    for start, minus_end, form in spans:
        if start >= reached:
            reached = -minus_end
            found |= owners[form]
    return tuple(number in found for number in range(len(groups)))


def states(text: str, phrases: Phrases) -> bool:
    """Return whether the text states one of ``phrases``."""
    return stated(text, phrases)[0]


@lru_cache(maxsize=1024)
def _framed(phrases: Phrases) -> re.Pattern[str]:
    """Return what finds mentions of ``phrases`` that only say before or into what something happened."""
    bodies = "|".join(re.escape(_flat(phrase)) for phrase in sorted(phrases, key=len, reverse=True))
    return re.compile(
        r"\b(?:(?:before|prior to|until|till|ahead of|preceding)(?: (?:the|a|this|that|their|his|her|its))?"
        r"(?: (?:move|switch|change|migration|adoption))?(?: (?:to|of|over to))?"
        r"|(?:switch|mov|adopt|migrat|chang|replac|go|went|gone)\w*(?: (?:over|on|away))?(?: (?:to|onto|by|with))?"
        rf"|(?P<origin>from [^.;!?\n]{{1,60}}?) to)(?: the)? (?:{bodies})(?![^\W_]|\#|\+\+)"
    )


def without_framed(text: str, phrases: Phrases) -> str:
    """Return a text, in flat normal form, without mentions of ``phrases`` that merely place something in time.

    In "before the move to Nomad they ran Docker Swarm", Nomad is not what they are said to have run; neither is it in
    "they went from Docker Swarm to Nomad". "Nomad, or Docker Swarm" stays as it is.
    """
    text = _flat(text)
    named = tuple(phrase for phrase in phrases if _flat(phrase))
    return _framed(named).sub(lambda found: found.group("origin") or " ", text) if named else text


def covered(answer: Counter[str], history: Iterable[str], within: float) -> tuple[int, int] | None:
    """Return how many of the history's words the answer holds, each as often as it holds it, and how many there are.

    Args:
        answer: the answer's words with their counts.
        history: the texts of the history, as they came.
        within: how many words the history may have; with more of them it is left, and there is nothing to return.
    """
    counts: Counter[str] = Counter()
    total = 0
    for text in history:
        found = words(normal(text))
        counts.update(found)
        total += len(found)
        if total > within:
            return None
    held = sum(min(count, answer[word]) for word, count in counts.items() if word in answer)
    return held, total
