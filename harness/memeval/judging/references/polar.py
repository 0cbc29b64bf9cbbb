"""The answers that a reference accepts, and whether an answer to a yes-or-no question says yes or no."""

import re
from collections.abc import Iterator

from memeval.judging.references.tokens import NOT, read, read_known, simplified

_STOP = re.compile(r"(?<=[.!?])\s+")
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


def alternatives(reference: str, loose: bool) -> Iterator[str]:
    """Yield the answers that a reference accepts, the main one first.

    It also accepts answers that it calls acceptable, and answers in brackets after "or"; other brackets are asides.
    ``loose``: whether reasons after the answer are ignored, and whether "or" separates alternative answers.
    """
    sentences = _STOP.split(reference)
    also = [_ACCEPTED.sub("", sentence) for sentence in sentences if _ACCEPTED.search(sentence)]
    main = " ".join(sentence for sentence in sentences if not _ACCEPTED.search(sentence))
    if loose and (without := _BECAUSE.sub("", main)).strip():
        main = without
    wholes = re.split(r"\s+or\s+", main) if loose else [main]
    for whole in (*wholes, *also):
        yield bare if (bare := _ASIDE.sub(" ", whole)).strip() else whole
        yield from (aside[3:] for aside in _ASIDE.findall(whole) if aside.lower().startswith("or "))


_ASKS_YES_OR_NO = re.compile(
    r"(?:^|[,.;:] )(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)"
    r" (?!you )\w+ .*\?|\byes or no\b"
)
_LEADING = (
    r"(?:based on|according to|from|given|considering|judging by|in light of|as far as|per)\b[^,.]{0,120},"
    r"|(?:in short|overall|in summary|in conclusion|therefore|thus|so|well|hence|the answer is|answer|i think"
    r"|i would say|it is|it seems|it appears|that is|that|likely|most|very|quite|highly|probably|presumably|possibly"
    r"|perhaps|maybe)\b"
)
_PREAMBLE = re.compile(rf"\W{{0,20}}+(?:(?:{_LEADING})\W{{1,20}}+){{0,8}}")
_YES = re.compile(
    r"(?:yes|yeah|yep|yup|definitely|absolutely|certainly|of course|sure|surely|indeed|correct|true|very much so)\b"
    r"(?! not)"
)
_SIGN = (
    r"no (?:\w+ ){0,2}(?:evidence|indication|sign|reason|proof|suggestion)s?"
    r" (?!(?:is|was|were|are|in|from|given|provided|found|available|here|exists?|to (?:answer|determine|say|tell))\b)\w"
)
"""No evidence that it is so: a no. That there is no evidence at all is an abstention."""
_NO = re.compile(
    r"(?:no(?= *(?:$|[,;.:!–—-]| (?:he|she|they|it|there|the|we|i|this|that|because|since|as)\b))"
    rf"|(?={_SIGN})|nope|nah|never(?= *(?:$|[,;.:!]| (?:he|she|they|it|has|have|had|did|was)\b))"
    r"|false\b|unlikely|improbable"
    r"|not(?= *(?:$|[,;.:!]|really\b|likely\b|at all\b|necessarily\b|particularly\b|so\b|very\b|exactly\b))"
    r"|doubtful|hardly\b|(?:definitely|certainly|absolutely|surely) not\b)"
)
_NO_SIGN = re.compile(rf"\b{_SIGN}")
_UNDECIDED = re.compile(
    r"\b(?:unclear|uncertain|unknown|cannot (?:say|tell|know)|can not (?:be )?(?:say|tell|know|determined?|answered?)"
    r"|not (?:enough|sufficient|specified|mentioned|stated|discussed|provided|clear|sure|certain|known|possible to)"
    r"|no (?:\w+ )?(?:information|mention|record|memory|memories|details?|data|context)|insufficient|depends|it depends"
    r"|(?:does|do|did) not (?:\w+ )?(?:mention|specify|provide|contain|state|say|know|include))\b"
)
_DENIES = re.compile(
    r"\b(?:not|no|never|unlikely|nor|neither|without|lacks?|opposed|against|refus\w+|declin\w+|avoid\w*)\b"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_AFTER_ALL = re.compile(r"\b(?:however|but|although|though|nevertheless|on the other hand|yet)\b")

SHARE = 0.5
"""A sentence answers a question if it has at least this share of the question's words."""


def verdict_of(answer: str, question: str) -> bool | None:
    """Return whether an answer says yes or no; ``None`` if it says neither.

    The first word decides, or the first sentence if it repeats the question as a statement: "She would not enjoy it."
    """
    text = simplified(answer)
    start = _PREAMBLE.match(text)
    rest = text[start.end() :] if start else text
    if _YES.match(rest):
        return True
    if _NO.match(rest):
        return False
    return _stated(rest, question) if _ASKS_YES_OR_NO.search(question.lower()) else None


def _stated(text: str, question: str) -> bool | None:
    first = next((part for part in _SENTENCE.split(text) if part.strip()), "")
    if _NO_SIGN.search(first):
        return False
    if _UNDECIDED.search(first) or _AFTER_ALL.search(first) or " only " in f" {first}":
        return None
    asked = {token.form for token in read_known(question).tokens} - {NOT}
    said = {token.form for token in read(first).tokens}
    if not asked or len(asked & said) < SHARE * len(asked):
        return None
    if " or " in f" {read_known(question).text} ":
        return None
    return _DENIES.search(first) is None
