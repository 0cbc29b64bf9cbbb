"""The answers that a reference accepts."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_ACCEPTED = re.compile(r"\b(?:is|are|would be) also (?:acceptable|accepted|correct|fine)\b.*", re.IGNORECASE)
_ASIDE = re.compile(r"\s*\(([^()]*)\)")
_BECAUSE = re.compile(r"\s*(?:;|,\s*(?:since|because|as|so|though)\b).*", re.IGNORECASE | re.DOTALL)
_POLAR = re.compile(
    r"\W*(?:(?:so|well|most|very|likely|probably|presumably|possibly|i think|i would say|in short|the answer)\W+)*"
    r"(?:(?P<yes>yes\b)|no(?=\s*(?:$|[,;.:!]|(?:he|she|they|it|there|the)\b))|not(?=\s*(?:$|[,;.:!])))"
)


def polarity(text: str) -> bool | None:
    """Return true for a text that begins with yes, false for no, ``None`` for others."""
    found = _POLAR.match(text.lower())
    return None if found is None else found["yes"] is not None


def main_answer(reference: str, loose: bool) -> str:
    """Return the first answer that a reference accepts; see :func:`alternatives`."""
    return next(alternatives(reference, loose))


def alternatives(reference: str, loose: bool) -> Iterator[str]:
    """Yield the answers that a reference accepts.

    It also accepts answers that it calls acceptable, and answers in brackets after "or"; other brackets are asides.

    Args:
        loose: whether reasons after the answer are ignored, and whether "or" separates alternative answers.
    """
    sentences = _SENTENCE.split(reference)
    also = [_ACCEPTED.sub("", sentence) for sentence in sentences if _ACCEPTED.search(sentence)]
    main = " ".join(sentence for sentence in sentences if not _ACCEPTED.search(sentence))
    if loose and (without := _BECAUSE.sub("", main)).strip():
        main = without
    wholes = re.split(r"\s+or\s+", main) if loose else [main]
    for whole in (*wholes, *also):
        yield bare if (bare := _ASIDE.sub(" ", whole)).strip() else whole
        yield from (aside[3:] for aside in _ASIDE.findall(whole) if aside.lower().startswith("or "))
