"""The interface of judges."""

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
