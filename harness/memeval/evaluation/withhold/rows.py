"""All rows of a run, before sealing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memeval.records.base import Stored
from memeval.records.call import Call, Prompt, Traffic
from memeval.records.grade import Grade
from memeval.records.response import Context, Response


@dataclass(frozen=True)
class Rows:
    """The rows of a run, in sealed order."""

    responses: list[Response]
    contexts: list[Context]
    grades: list[Grade]
    judgments: list[Call] = field(default_factory=list)
    """The judge's calls by key, with failed calls."""
    calls: list[Call] = field(default_factory=list)
    """The reader's and the system's calls."""
    prompts: list[Prompt] = field(default_factory=list)
    """The prompts of judge and reader."""
    traffic: list[Traffic] = field(default_factory=list)
    """The exchanges with hosts, by scenario, in order of completion."""

    def files(self) -> dict[str, Sequence[Stored]]:
        """Return the rows by file name; files for network calls are left out if empty."""
        required: dict[str, Sequence[Stored]] = {
            "responses.jsonl": self.responses,
            "contexts.jsonl": self.contexts,
            "grades.jsonl": self.grades,
        }
        optional: dict[str, Sequence[Stored]] = {
            "judgments.jsonl": self.judgments,
            "calls.jsonl": self.calls,
            "prompts.jsonl": self.prompts,
            "traffic.jsonl": self.traffic,
        }
        return {**required, **{name: rows for name, rows in optional.items() if rows}}
