"""Reading a judge's yes or no.

A reply that is neither is not a verdict. The reading of DeepMemEval's own evaluation code, any reply with ``yes``
somewhere in it, is kept beside the strict one so that its published numbers can be matched.
"""

from __future__ import annotations

import re

_WRAPPING = "*_`\"'()[]"
_TRAILING = ".!,:;"
_LEAD = re.compile(r"(yes|no)\b")
_OPPOSITE = {"yes": re.compile(r"\bno\b"), "no": re.compile(r"\byes\b")}


def parse_strict(reply: str) -> bool | None:
    """Return the verdict of a reply, or ``None`` where it is neither a yes nor a no.

    Emphasis, quotes, brackets and closing punctuation around the reply do not count. A bare ``yes`` or ``no`` is a
    verdict, and so is a reply that begins with one and holds the other nowhere as a whole word.

    Args:
        reply: the judge's raw reply.
    """
    text = _bare(reply).lower()
    lead = _LEAD.match(text)
    if lead is None or _OPPOSITE[lead.group(1)].search(text):
        return None
    return lead.group(1) == "yes"


def parse_substring(reply: str) -> bool:
    """Return the verdict as DeepMemEval reads it (``evaluate.py``): whether ``yes`` occurs anywhere, in any case.

    Args:
        reply: the judge's raw reply.
    """
    return "yes" in reply.lower()


def _bare(reply: str) -> str:
    """Return the reply without what may stand around its words."""
    text = reply.strip()
    while (stripped := text.strip().strip(_WRAPPING).rstrip(_TRAILING)) != text:
        text = stripped
    return text
