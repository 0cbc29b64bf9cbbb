"""Parsing a judge's yes or no.

Any other reply is not a verdict. DeepMemEval's own code accepts every reply that contains ``yes``; that parser is kept
too, to match its published numbers.
"""

from __future__ import annotations

import re

_WRAPPING = "*_`\"'()[]"
_TRAILING = ".!,:;"
_LEAD = re.compile(r"(yes|no)\b")
_OPPOSITE = {"yes": re.compile(r"\bno\b"), "no": re.compile(r"\byes\b")}


def parse_strict(reply: str) -> bool | None:
    """Return the verdict of a reply, or ``None`` if it is neither yes nor no.

    Emphasis, quotes, brackets and final punctuation around the reply are ignored. A bare ``yes`` or ``no`` is a
    verdict, and so is a reply that begins with one of them and does not contain the other as a whole word.

    Args:
        reply: the judge's raw reply.
    """
    text = _bare(reply).lower()
    lead = _LEAD.match(text)
    if lead is None or _OPPOSITE[lead.group(1)].search(text):
        return None
    return lead.group(1) == "yes"


def parse_substring(reply: str) -> bool:
    """Return the verdict by DeepMemEval's rule (``evaluate.py``): whether ``yes`` occurs anywhere, in any case.

    Args:
        reply: the judge's raw reply.
    """
    return "yes" in reply.lower()


def _bare(reply: str) -> str:
    """Return the reply without emphasis, quotes, brackets and final punctuation around it."""
    text = reply.strip()
    while (stripped := text.strip().strip(_WRAPPING).rstrip(_TRAILING)) != text:
        text = stripped
    return text
