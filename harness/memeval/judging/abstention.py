"""Detects abstentions: answers that say that what was asked for was never told. Doubt alone is not an abstention."""

from __future__ import annotations

import re
from functools import lru_cache

from memeval.judging import lexicon
from memeval.judging.hedging import plain, without_echo
from memeval.judging.thinking import without_thinking

BEGINNING = 1_000
"""First characters of a sentence that are searched."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_PREFACE = re.compile(
    r"\W*(?:(?:i am |we are )?(?:so |very |really )?(?:sorry|afraid)(?: about that)?|(?:my |sincere )?apologies"
    r"|i apologi[sz]e|unfortunately|hmm+|uh+|(?:good|great|interesting) question"
    r"|thanks?(?: you)?(?: for \w[^.]{0,60})?|okay|ok|sure|well|oh|let me (?:check|see|think|look)\b[^.]{0,60}|(?:i"
    r"|we) (?:have )?(?:just )?(?:looked|searched|checked|reviewed|went|gone|read|scanned) (?:through|in|for|at|over"
    r"|back|all|our|your|the|my|everything|again)\b[^.]{0,120}|0|zero|none|no|nothing|answer)\W*"
)
"""A sentence that says nothing yet."""
_ONE_WORD = re.compile(r"(?:unknown|none|n/a|not applicable|not sure|no idea|unclear|unsure)\W*")
_UNSURE = re.compile(
    r"(?<!\w)i am (?:\w+ )?not (?:\w+ )?(?:sure|certain)(?!\w)|(?<!\w)(?:is|are|was|were|remains?) unclear(?!\w)"
)
_BUT = re.compile(r"[,;] (?:but|though|although|however|yet|while)\b|;| [-—] ")


def says_missing(text: str) -> bool:
    return _missing().search(_simple(text)) is not None


def begins_missing(answer: str) -> bool:
    """Return whether an answer begins by saying that the information is missing, after nothing but a preface."""
    return any(says_missing(sentence) for sentence in _first(answer))


def withholds(answer: str) -> bool:
    """Return whether an answer begins so, and states nothing before it: "Rome, but the year was not told" does."""
    return any(says_missing(_BUT.split(sentence, maxsplit=1)[0]) for sentence in _first(answer))


def abstains(answer: str, question: str) -> bool:
    """Return whether an answer says that it does not know, or that the information is missing.

    Args:
        question: the question; repeating it is not an abstention.
    """
    own = without_echo(without_thinking(answer), question)
    simple = plain(own)
    if _ONE_WORD.fullmatch(simple) or _UNSURE.search(simple):
        return True
    return any(says_missing(sentence) for sentence in _SENTENCE.split(own) if sentence.strip())


def _first(answer: str) -> list[str]:
    """Return the first sentence that says something, with the prefaces before it."""
    found = []
    for part in _SENTENCE.split(answer.strip()):
        if part.strip():
            found.append(part[:BEGINNING])
            if not _PREFACE.fullmatch(plain(part)):
                break
    return found


def _simple(text: str) -> str:
    return plain(text[:BEGINNING]).strip(" .!\"'*_()[]")


@lru_cache(maxsize=1)
def _missing() -> re.Pattern[str]:
    return lexicon.compiled(lexicon.MISSING)
