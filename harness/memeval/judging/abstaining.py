"""Seeing that an answer says it was not told: more than doubt, and whatever the benchmark."""

from __future__ import annotations

import re

from memeval.judging.hedging import plain, without_echo

_TOLD = r"(?:information|mentions?|records?|details?|data|evidence|indication|memory|memories|answer)"
_SAID = r"(?:mentioned|discussed|specified|stated|provided|available|recorded|disclosed|told)"
_SAYS_NOTHING = re.compile(
    r"(?<![^\W_])(?:"
    + "|".join(
        (
            rf"no (?:\w+ ){{0,2}}{_TOLD}|(?:not|never) (?:\w+ )?{_SAID}",
            r"(?:do|does|did) not (?:\w+ )?(?:know|recall|remember|mention|say|specify|contain|provide|include|state)",
            rf"(?:do|does|did) not (?:\w+ )?have (?:\w+ )?(?:any|enough|access|{_TOLD})",
            r"(?:can not|could not|unable to|not able to) (?:be )?(?:\w+ )?"
            r"(?:determined?|answer(?:ed)?|tell|say|find|found|recall|remember|provide|confirm(?:ed)?|know)",
            r"(?:not enough|not sufficient|insufficient) (?:\w+ )?(?:context|details|information|data|evidence)",
            r"i am (?:\w+ )?not (?:\w+ )?(?:sure|certain)|i have no idea",
            r"(?:is|are|was|were|remains?) (?:unknown|unclear)",
        )
    )
    + r")(?![^\W_])"
)
_ONE_WORD = re.compile(r"(?:unknown|none|n/a|not applicable|not sure|no idea|unclear)\W*")


def abstains(answer: str, question: str) -> bool:
    """Return whether an answer says somewhere that it does not know, or that nothing was said of the matter.

    Args:
        answer: the answer as it came.
        question: the question that was asked; given back, it is no abstention.
    """
    own = plain(without_echo(answer, question))
    return _ONE_WORD.fullmatch(own) is not None or _SAYS_NOTHING.search(own) is not None
