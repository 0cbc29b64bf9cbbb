"""Reading answers without a model: which phrases occur as whole words, and how words are compared.

Text is compared in one normal form: Unicode NFKC, casefolded, without invisible characters, with plain quotes. So
``Ｃ＃`` is ``C#``, and no zero-width space hides a stale answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

Phrases = tuple[str, ...]

_PLAIN = str.maketrans({"‘": "'", "’": "'", "‛": "'", "ʼ": "'", "“": '"', "”": '"'})
_WORD = re.compile(r"[^\W_]+(?:[+#]+(?![^\W_]))?")
_NEVER = re.compile(r"(?!)")


def normal(text: str) -> str:
    """Return ``text`` in the form in which texts are compared."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(c for c in folded if unicodedata.category(c) != "Cf").translate(_PLAIN)


def words(text: str) -> list[str]:
    """Return the words of a text already in :func:`normal` form; ``c#`` and ``c++`` are words."""
    return _WORD.findall(text)


@lru_cache(maxsize=8192)
def _pattern(phrase: str) -> str:
    """Return the regular expression of one normalised phrase as whole words.

    A phrase that ends in a letter or digit is not found before ``#`` or ``++``: C is neither C# nor C++.
    Underscores do not belong to words here, since Markdown writes emphasis with them.
    """
    body = r"\s+".join("(?:&|and)" if part in ("&", "and") else re.escape(part) for part in phrase.split())
    end = r"(?![^\W_]|\#|\+\+)" if phrase[-1].isalnum() else r"(?![^\W_])"
    return rf"(?<![^\W_]){body}{end}"


@lru_cache(maxsize=4096)
def _matcher(groups: tuple[Phrases, ...]) -> tuple[re.Pattern[str], tuple[frozenset[int], ...]]:
    """Return one pattern over all phrases, longest first, and per capturing group the phrase groups it stands for."""
    owners: dict[str, set[int]] = {}
    for number, group in enumerate(groups):
        for phrase in group:
            if form := " ".join(normal(phrase).split()):
                owners.setdefault(form, set()).add(number)
    if not owners:
        return _NEVER, ()
    ordered = sorted(owners, key=lambda form: (-len(form), form))
    pattern = re.compile("|".join(f"({_pattern(form)})" for form in ordered))
    return pattern, tuple(frozenset(owners[form]) for form in ordered)


def stated(text: str, *groups: Phrases) -> tuple[bool, ...]:
    """Return, for each group of phrases, whether the text states one of them.

    Phrases match as whole words in any case. Where two phrases overlap the longer one is what was said: an answer
    ``Redis Cluster`` states ``Redis Cluster`` and not ``Redis``, if both are asked about in one call.

    Args:
        text: the text as it came.
        groups: the phrases that belong together, such as a fact's key phrase and its aliases.
    """
    pattern, owners = _matcher(groups)
    found: set[int] = set()
    for match in pattern.finditer(normal(text)):
        found |= owners[(match.lastindex or 1) - 1]
    return tuple(number in found for number in range(len(groups)))


def states(text: str, phrases: Phrases) -> bool:
    """Return whether the text states one of ``phrases``."""
    return stated(text, phrases)[0]


@lru_cache(maxsize=1024)
def _framed(phrases: Phrases) -> re.Pattern[str]:
    """Return what finds mentions of ``phrases`` that only say before or into what something happened."""
    bodies = "|".join(_pattern(" ".join(normal(phrase).split())) for phrase in sorted(phrases, key=len, reverse=True))
    return re.compile(
        r"\b(?:(?:before|prior to|until|till|ahead of|preceding)(?: (?:the|a|this|that|their|his|her|its))?"
        r"(?: (?:move|switch|change|migration|adoption))?(?: (?:to|of|over to))?"
        r"|(?:switch|mov|adopt|migrat|chang|replac|go|went|gone)\w*(?: (?:over|on|away))?(?: (?:to|onto|by|with))?"
        rf"|(?P<origin>from [^.;!?\n]{{1,60}}?) to)(?: the)? (?:{bodies})"
    )


def without_framed(text: str, phrases: Phrases) -> str:
    """Return a text, in normal form, without mentions of ``phrases`` that merely place something in time.

    In "before the move to Nomad they ran Docker Swarm", Nomad is not what they are said to have run; neither is it in
    "they went from Docker Swarm to Nomad". "Nomad, or Docker Swarm" stays as it is.
    """
    text = normal(text)
    named = tuple(phrase for phrase in phrases if normal(phrase).strip())
    return _framed(named).sub(lambda found: found.group("origin") or " ", text) if named else text


def covered(answer: Counter[str], history: Iterable[str]) -> tuple[int, int]:
    """Return how many of the history's words the answer holds, each as often as it holds it, and how many there are.

    Args:
        answer: the answer's words with their counts.
        history: the texts of the history, as they came.
    """
    counts: Counter[str] = Counter()
    for text in history:
        counts.update(words(normal(text)))
    held = sum(min(count, answer[word]) for word, count in counts.items() if word in answer)
    return held, counts.total()
