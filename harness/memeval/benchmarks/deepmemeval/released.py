"""Reads the released file and reports what is wrong with a copy."""

import json
from codecs import BOM_UTF8
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from memeval.benchmarks.catalogue import load
from memeval.benchmarks.data import file_bytes, refuse_repeats
from memeval.records.base import Digest, Record, digest_bytes
from memeval.records.errors import BadInput

FULL = load(__package__).sources[0]

SAMPLE_DIGEST = "sha256:22c32330f89913edfb1da7d1ec24b0badccd533a51f1835fc800ceec7c71ff65"
"""Digest of the released sample: ten scenarios of the full set."""

LARGEST = 256_000_000
"""Largest accepted file, in bytes."""

_PULL = "Download it with `memeval data pull deepmemeval`, or pass your copy with --data PATH."
_REPLACE = "Use the released file: `memeval data pull deepmemeval` downloads it."

Text = Annotated[str, Field(min_length=1)]
FactText = Annotated[str, Field(pattern=r"^\S+\s+\S")]


class DeepMemEvalTurn(Record):
    role: Literal["user", "assistant"]
    content: str


class DeepMemEvalSession(Record):
    session_id: Text
    date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    turns: Annotated[tuple[DeepMemEvalTurn, ...], Field(min_length=1)]


class Link(Record):
    fact: FactText
    valid_from: str
    valid_until: str | None
    source_session: str


class BeliefOracle(Record):
    stale_answers: tuple[FactText, ...]
    belief_timeline: Annotated[tuple[Link, ...], Field(min_length=1)]
    update_count: int
    difficulty: str


class Dependency(Record):
    fact: FactText
    depends_on: str


class CascadeOracle(Record):
    root_change: Text
    old_dependent: FactText
    dependency_chain: tuple[Dependency, ...]
    chain_depth: int
    root_change_session: str | None = None


class NoiseOracle(Record):
    total_sessions: int
    signal_sessions: tuple[str, ...]
    noise_sessions: int
    signal_to_noise_ratio: float
    sub_category: str


class TemporalOracle(Record):
    query_timestamp: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    belief_at_timestamp: FactText
    current_belief: FactText
    difficulty: Literal["explicit-timestamp", "relative-reference"]
    belief_timeline: tuple[Link, ...] = ()


class LateFact(Record):
    """A fact that is stated after the fifth question. In the documentation, but in no row."""

    turn: int
    fact: FactText


class DeltaOracle(Record):
    total_turns: int
    established_facts_by_turn_5: tuple[FactText, ...]
    new_facts_after_turn_5: tuple[LateFact, ...] = ()


class UncertaintyOracle(Record):
    uncertainty_reason: Annotated[str, Field(pattern=r"dependent belief '\S+\s.+' was never explicitly updated")]
    sub_category: str
    conflicting_facts: tuple[str, ...] = ()


class DeepMemEvalQuestion(Record):
    question: Text
    turn: int


class _Scenario(Record):
    scenario_id: Annotated[str, Field(pattern=r"^[a-z]+-p\d{3}(-\w+)*$")]
    conversation_history: Annotated[tuple[DeepMemEvalSession, ...], Field(min_length=1)]
    question: Text
    expected_answer: Text

    @property
    def persona(self) -> str:
        """The person of the scenario, such as ``p025``. Scenarios of one person share facts."""
        return self.scenario_id.split("-")[1]


class RawBelief(_Scenario):
    scenario_type: Literal["belief-update"]
    expected_answer: FactText
    metadata: BeliefOracle


class RawCascade(_Scenario):
    scenario_type: Literal["cascade-propagation"]
    metadata: CascadeOracle


class RawNoise(_Scenario):
    scenario_type: Literal["noise-resistance"]
    expected_answer: FactText
    metadata: NoiseOracle


class RawTemporal(_Scenario):
    scenario_type: Literal["temporal-belief"]
    expected_answer: FactText
    metadata: TemporalOracle


class RawDelta(_Scenario):
    scenario_type: Literal["delta-efficiency"]
    evaluation_turns: Annotated[tuple[DeepMemEvalQuestion, ...], Field(min_length=2)]
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
    """Read the full set or the sample.

    Raises ``BadInput``: the file is missing, unreadable, truncated, of another format, repeats an id, or is not the
    released file.
    """
    data = file_bytes(path, LARGEST, _PULL)
    scenarios = _parsed(data, path)
    refuse_repeats((each.scenario_id for each in scenarios), "the scenario id", path, _REPLACE)
    digest = digest_bytes(data)
    if digest not in (FULL.digest, SAMPLE_DIGEST):
        raise BadInput(
            f"the format is valid, but this is not the released file: its digest is {digest}, expected"
            f" {FULL.digest} (or {SAMPLE_DIGEST} for the sample).",
            where=path,
            remedy=_REPLACE,
        )
    return DeepMemEvalFile(digest, scenarios)


def _parsed(data: bytes, path: Path) -> tuple[RawScenario, ...]:
    try:
        return TypeAdapter(tuple[RawScenario, ...]).validate_json(data.removeprefix(BOM_UTF8))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        raise BadInput(_broken(data, str(first["ctx"]["error"])), where=path, remedy=_REPLACE)
    if not first["loc"]:
        raise BadInput("expected a list of scenarios.", where=path, remedy=_REPLACE)
    raise BadInput(_misfit(data, first["loc"], first["type"], first["msg"]), where=path, remedy=_REPLACE)


def _broken(data: bytes, problem: str) -> str:
    if not data.strip():
        return "the file is empty."
    if len(data) < FULL.bytes and "EOF" in problem:
        return f"the file is truncated: it has {len(data):,} bytes, expected {FULL.bytes:,}."
    return f"not valid JSON ({problem})."


def _misfit(data: bytes, loc: tuple[int | str, ...], kind: str, message: str) -> str:
    number = int(loc[0])
    raw: Any = json.loads(data.removeprefix(BOM_UTF8))[number]
    name = raw.get("scenario_id") if isinstance(raw, dict) else None
    # The location has the scenario type after the number, if pydantic could determine it.
    path = ".".join(str(part) for part in loc[1:] if part != (isinstance(raw, dict) and raw.get("scenario_type")))
    where = f"scenario {number + 1}" + (f" ({name!r})" if isinstance(name, str) else "")
    if kind == "missing":
        return f"{where}: '{path}' is missing."
    if kind == "extra_forbidden":
        return f"{where}: unknown key '{path}'."
    return f"{where}: {f'{path!r}: ' if path else ''}{message}."
