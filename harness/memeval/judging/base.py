"""The interface of judges, and parsing of a yes or no. Any other reply is not a verdict."""

import re
from collections.abc import Iterator, Mapping
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
    """``graded``, ``empty``, ``unparsed`` or ``judge_error``."""
    verdict: bool | None
    """The verdict; ``None`` unless graded."""
    reason: str | None = None
    flags: tuple[Flag, ...] = ()
    """Properties of the answer that readers of the results should know."""
    judgment_key: Digest | None = None
    """Key of the recorded model call that decided; ``None`` for the rule set."""
    alternates: Mapping[str, bool] = field(default_factory=dict)
    """Verdicts by other parsers of the same reply, by name."""


class Judge(Protocol):
    @property
    def name(self) -> str:
        """Name and version, such as ``rules@3``; part of the track."""

    def rule(self, case: Case) -> Ruling:
        """Judge one answer."""


_BEFORE = re.compile(r"^[\s*_`\"'()\[\]]+")
_AFTER = re.compile(r"(?<![\s*_`\"'()\[\].!,:;])[\s*_`\"'()\[\].!,:;]++$")
_LEAD = re.compile(r"(?P<verdict>yes|no)\b(?!-\w)")
_OPPOSITE = {"yes": re.compile(r"\bno\b"), "no": re.compile(r"\byes\b")}
_NO_NOUN = re.compile(
    r"no[ \t]+(?!(?:the|it|its|he|she|they|this|that|these|those|there|because|since|as|i|we|you|a|an|not|in|by|for|but"
    r"|-+|–|—)\b|[-–—(])\w"
)
"""No problem, no doubt, no match: the word belongs to what follows it."""
_NOT = r"(?P<not>n't|\bnot|\bnever|\bhardly|\bno longer|\bfar from|\bfails? to|\bcannot|\bwithout)"
_JUDGED = re.compile(
    r"(?:\b(?:is|are|was|were|'s|be|seems?|looks?|appears?|marked|considered|deemed)|(?<=[a-z])s(?=n't)|(?:^"
    r"|[,.;:!\u2013\u2014-])(?:[ \t]*+(?:that's|it's|quite|very|totally|but|actually|wait|although|though|however))?)"
    r"(?:\s*+"
    + _NOT
    + r")?(?:\s++(?:also|really|actually|quite|entirely|fully|completely|totally|all|mostly|largely|just|clearly"
    r"|in fact|indeed|to be|simply|factually))*"
    r"\s*+(?:(?P<right>correct|right|accurate|true|acceptable|valid|fine|ok|okay|equivalent|consistent|a match"
    r"|the same)|(?P<wrong>wrong|incorrect|inaccurate|false|untrue|mistaken|unacceptable|invalid|a mismatch"
    r"|inconsistent|(?P<part>(?:only |just )?(?:(?:partially|partly|half|almost|nearly)(?: correct| right| true)?"
    r"|incomplete|partial)\b)))(?=$|[\s.,;:!)*\"'])(?!\s+(?!(?:about|in|on|for|with|to|as|by|at|because|since|and|but"
    r"|though|although|here|now|overall|regarding)\b)\w)"
)
_MATCHED = re.compile(
    r"\b(?:it|answer|response|reply|they|this|that|he|she|everything|all)\s+(?:(?:does|did|do|will|would)(?P<not>\s?n't"
    r"|\s+not)?\s+)?(?:clearly |fully |indeed )*(?P<verb>match(?:es|ed)?|pass(?:es|ed)?|agrees?|agreed|qualif(?:y"
    r"|ies)|suffices?|fits?|fails?|failed|contradicts?|mismatch(?:es)?|miss(?:es|ed)?|omits?|omitted|lacks?)\b"
)
_BARE_DOES = re.compile(
    r"[, ]+(?:it|that|this|he|she|they|the answer)\s+(?:does|is|did|has|was|are|do)(?P<not>n't| not)?$"
)
_CONDITION = re.compile(r"yes[, ]+(?:but )?(?:only )?(?:if|unless|except|provided|assuming|or not)\b")


def parse_strict(reply: str) -> bool | None:
    """Return the verdict of a reply, or ``None`` if it is neither yes nor no.

    Emphasis, quotes, brackets and final punctuation around the reply are ignored. A bare ``yes`` or ``no`` is a
    verdict, and so is a reply that begins with one of them, does not contain the other as a whole word, and is not
    reversed by what follows: "No problem", "Yes, it is wrong".
    """
    text = _bare(reply.replace("’", "'")).lower()
    lead = _LEAD.match(text)
    if lead is None or _OPPOSITE[lead["verdict"]].search(text):
        return None
    says_yes = lead["verdict"] == "yes"
    if _NO_NOUN.match(text) or _CONDITION.match(text):
        return None
    rest = text[lead.end() :]
    return None if any(said is not says_yes for said in _said(rest)) else says_yes


def _said(rest: str) -> Iterator[bool]:
    """Yield whether each judgement after the verdict says that the answer is right."""
    for found in _JUDGED.finditer(rest):
        if found["part"] is None:
            yield bool(found["right"]) is not bool(found["not"])
        else:
            yield False
    for found in _MATCHED.finditer(rest):
        fails = found["verb"].startswith(("fail", "contradict", "mis", "omit", "lack"))
        yield fails is bool(found["not"])
    if bare := _BARE_DOES.fullmatch(rest):
        yield not bare["not"]


def parse_substring(reply: str) -> bool:
    """Return the verdict by DeepMemEval's rule (``evaluate.py``): whether ``yes`` occurs anywhere, in any case."""
    return "yes" in reply.lower()


def _bare(reply: str) -> str:
    """Return the reply without emphasis, quotes, brackets and final punctuation around it."""
    return _AFTER.sub("", _BEFORE.sub("", reply))
