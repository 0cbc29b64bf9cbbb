"""The rows of a run, before they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memeval.records.base import Stored
from memeval.records.call import Call
from memeval.records.grade import Grade
from memeval.records.prompt import Prompt
from memeval.records.response import Context, Response
from memeval.records.traffic import Traffic


@dataclass(frozen=True)
class Rows:
    """The rows of a run, in the order they are sealed in."""

    responses: list[Response]
    contexts: list[Context]
    grades: list[Grade]
    judgments: list[Call] = field(default_factory=list)
    """The judge's calls, by key: those that decided, and those that failed."""
    calls: list[Call] = field(default_factory=list)
    """The reader's and the system's calls."""
    prompts: list[Prompt] = field(default_factory=list)
    """The prompts in use."""
    traffic: list[Traffic] = field(default_factory=list)
    """The exchanges with hosts, as they ended."""

    def files(self) -> dict[str, Sequence[Stored]]:
        """Return the rows by file; what calls over the network left has a file only where there is any."""
        always: dict[str, Sequence[Stored]] = {
            "responses.jsonl": self.responses,
            "contexts.jsonl": self.contexts,
            "grades.jsonl": self.grades,
        }
        sometimes: dict[str, Sequence[Stored]] = {
            "judgments.jsonl": self.judgments,
            "calls.jsonl": self.calls,
            "prompts.jsonl": self.prompts,
            "traffic.jsonl": self.traffic,
        }
        return {**always, **{name: rows for name, rows in sometimes.items() if rows}}
