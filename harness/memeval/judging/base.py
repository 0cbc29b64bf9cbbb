"""The interface of judges, and parsing of a yes or no. Any other reply is not a verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from memeval.keys import AnswerKey
from memeval.records.base import Digest
from memeval.records.grade import Flag, GradeState
from memeval.records.scenario import Scenario


@dataclass(frozen=True)
class Case:
    """One answer to judge."""

    item_id: str
    question: str
    answer: str
    key: AnswerKey
    scenario: Scenario


@dataclass(frozen=True)
class Ruling:
    """A judge's verdict on a case, with its reason."""

    state: GradeState
    """``graded``, ``unparsed`` or ``judge_error``."""
    verdict: bool | None
    """The verdict; ``None`` unless graded."""
    reason: str | None = None
    """The reason, in one sentence."""
    flags: tuple[Flag, ...] = ()
    """Properties of the answer that readers of the results should know."""
    judgment_key: Digest | None = None
    """Key of the recorded model call that decided; ``None`` for the rule set."""
    alternates: Mapping[str, bool] = field(default_factory=dict)
    """Verdicts by other parsers of the same reply, by name."""


class Judge(Protocol):
    """Gives verdicts."""

    @property
    def name(self) -> str:
        """Name and version, such as ``rules@1``; part of the track."""

    def rule(self, case: Case) -> Ruling:
        """Judge one answer."""


_WRAPPING = "*_`\"'()[]"
_TRAILING = ".!,:;"
_LEAD = re.compile(r"(yes|no)\b")
_OPPOSITE = {"yes": re.compile(r"\bno\b"), "no": re.compile(r"\byes\b")}


def parse_strict(reply: str) -> bool | None:
    """Return the verdict of a reply, or ``None`` if it is neither yes nor no.

    Emphasis, quotes, brackets and final punctuation around the reply are ignored. A bare ``yes`` or ``no`` is a
    verdict, and so is a reply that begins with one of them and does not contain the other as a whole word.
    """
    text = _bare(reply).lower()
    lead = _LEAD.match(text)
    if lead is None or _OPPOSITE[lead.group(1)].search(text):
        return None
    return lead.group(1) == "yes"


def parse_substring(reply: str) -> bool:
    """Return the verdict by DeepMemEval's rule (``evaluate.py``): whether ``yes`` occurs anywhere, in any case."""
    return "yes" in reply.lower()


def _bare(reply: str) -> str:
    """Return the reply without emphasis, quotes, brackets and final punctuation around it."""
    text = reply.strip()
    while (stripped := text.strip().strip(_WRAPPING).rstrip(_TRAILING)) != text:
        text = stripped
    return text
