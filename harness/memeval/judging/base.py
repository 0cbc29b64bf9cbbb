"""What a judge is: it gives a verdict on one answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from memeval.keys import AnswerKey
from memeval.records.base import Digest
from memeval.records.grade import Flag, GradeState
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
    judgment_key: Digest | None = None
    """The judgment that decided: a recorded call to a model, by its key; ``None`` for the rule set."""
    alternates: Mapping[str, bool] = field(default_factory=dict)
    """Verdicts under other declared readings of the same reply, by name."""


class Judge(Protocol):
    """Gives verdicts."""

    @property
    def name(self) -> str:
        """Name and version, such as ``rules@1``; part of the track."""

    def rule(self, case: Case) -> Ruling:
        """Give a ruling on one answer."""
