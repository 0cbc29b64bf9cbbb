"""Reads the released file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from memeval.benchmarks.catalogue import load
from memeval.benchmarks.data import released_bytes
from memeval.records.base import Digest, digest_bytes

FULL = load(__package__).sources[0]

SAMPLE_DIGEST = "sha256:22c32330f89913edfb1da7d1ec24b0badccd533a51f1835fc800ceec7c71ff65"
"""Digest of the released sample: ten scenarios of the full set."""


class _Part(BaseModel):
    """A part of the file. Fields that memeval does not use are ignored."""

    model_config = ConfigDict(frozen=True, strict=True)


class DeepMemEvalTurn(_Part):
    role: Literal["user", "assistant"]
    content: str


class DeepMemEvalSession(_Part):
    session_id: str
    date: str
    turns: tuple[DeepMemEvalTurn, ...]


class Link(_Part):
    valid_until: str | None
    source_session: str


class BeliefOracle(_Part):
    stale_answers: tuple[str, ...]
    belief_timeline: tuple[Link, ...]
    difficulty: str


class CascadeOracle(_Part):
    root_change: str
    old_dependent: str


class NoiseOracle(_Part):
    signal_sessions: tuple[str, ...]
    sub_category: str


class TemporalOracle(_Part):
    query_timestamp: str
    current_belief: str
    difficulty: Literal["explicit-timestamp", "relative-reference"]


class DeltaOracle(_Part):
    established_facts_by_turn_5: tuple[str, ...]


class UncertaintyOracle(_Part):
    uncertainty_reason: str


class DeepMemEvalQuestion(_Part):
    question: str


class _Scenario(_Part):
    scenario_id: str
    conversation_history: tuple[DeepMemEvalSession, ...]
    question: str
    expected_answer: str

    @property
    def persona(self) -> str:
        """The person of the scenario, such as ``p025``. Scenarios of one person share facts."""
        return self.scenario_id.split("-")[1]


class RawBelief(_Scenario):
    scenario_type: Literal["belief-update"]
    metadata: BeliefOracle


class RawCascade(_Scenario):
    scenario_type: Literal["cascade-propagation"]
    metadata: CascadeOracle


class RawNoise(_Scenario):
    scenario_type: Literal["noise-resistance"]
    metadata: NoiseOracle


class RawTemporal(_Scenario):
    scenario_type: Literal["temporal-belief"]
    metadata: TemporalOracle


class RawDelta(_Scenario):
    scenario_type: Literal["delta-efficiency"]
    evaluation_turns: tuple[DeepMemEvalQuestion, ...]
    metadata: DeltaOracle


class RawUncertainty(_Scenario):
    scenario_type: Literal["uncertainty-abstention"]
    metadata: UncertaintyOracle


RawScenario = Annotated[
    RawBelief | RawCascade | RawNoise | RawTemporal | RawDelta | RawUncertainty, Field(discriminator="scenario_type")
]


@dataclass(frozen=True)
class DeepMemEvalFile:
    digest: Digest
    scenarios: tuple[RawScenario, ...]


def read(path: Path) -> DeepMemEvalFile:
    """Read the full set or the sample. Raises ``BadInput``: the file is missing, unreadable or another one."""
    data = released_bytes(path, "deepmemeval", FULL, SAMPLE_DIGEST)
    return DeepMemEvalFile(digest_bytes(data), parse(data))


def parse(data: bytes) -> tuple[RawScenario, ...]:
    return TypeAdapter(tuple[RawScenario, ...]).validate_json(data)
