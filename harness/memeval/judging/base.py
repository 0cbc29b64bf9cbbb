"""What a judge is: it gives a verdict on one answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from memeval.keys import AnswerKey
from memeval.records.base import Digest
from memeval.records.grade import Flag, GradeState, Judgment
from memeval.records.scenario import Scenario


@dataclass(frozen=True)
class Case:
    """One answer brought before a judge."""

    item_id: str
    question: str
    answer: str
    key: AnswerKey
    scenario: Scenario


@dataclass(frozen=True)
class Ruling:
    """What a judge said of a case."""

    state: GradeState
    """``graded``, ``unparsed`` or ``judge_error``."""
    verdict: bool | None
    """The verdict; ``None`` unless graded."""
    reason: str | None = None
    """Why, in one sentence."""
    flags: tuple[Flag, ...] = ()
    """What was noticed about the answer."""
    judgments: tuple[Judgment, ...] = field(default=())
    """The recorded requests behind the ruling, the deciding one last; none for the rule set."""

    @property
    def judgment_key(self) -> Digest | None:
        """The judgment that decided."""
        return self.judgments[-1].key if self.judgments else None


class Judge(Protocol):
    """Gives verdicts."""

    @property
    def name(self) -> str:
        """Name and version, such as ``rules@1``; part of the track."""

    def rule(self, case: Case) -> Ruling:
        """Give a ruling on one answer."""
