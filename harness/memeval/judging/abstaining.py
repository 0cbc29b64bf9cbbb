"""Detects answers that say the information is missing, for every benchmark; doubt alone is not enough."""

from __future__ import annotations

import re

from memeval.judging.hedging import plain, without_echo

_INFORMATION = r"(?:information|mentions?|records?|details?|data|evidence|indication|memory|memories|answer)"
_MENTIONED = r"(?:mentioned|discussed|specified|stated|provided|available|recorded|disclosed|told)"
_SAYS_NOTHING = re.compile(
    r"(?<![^\W_])(?:"
    + "|".join(
        (
            rf"no (?:\w+ ){{0,2}}{_INFORMATION}|(?:not|never) (?:\w+ )?{_MENTIONED}",
            r"(?:do|does|did) not (?:\w+ )?(?:know|recall|remember|mention|say|specify|contain|provide|include|state)",
            rf"(?:do|does|did) not (?:\w+ )?have (?:\w+ )?(?:any|enough|access|{_INFORMATION})",
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
    """Return whether an answer says that it does not know, or that the information is missing.

    Args:
        answer: the raw answer.
        question: the question; repeating it is not an abstention.
    """
    own = plain(without_echo(answer, question))
    return _ONE_WORD.fullmatch(own) is not None or _SAYS_NOTHING.search(own) is not None
