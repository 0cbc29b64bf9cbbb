"""The type of import and export formats, and the parts of a run that a format can contain."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum


class RunPart(StrEnum):
    ANSWERS = "the answers"
    FAILURES = "failed questions and their errors"
    ABSENT = "planned questions without answers"
    ITEMS = "retrieved items"
    CONTEXT = "the context"
    CONTEXT_TOKENS = "tokens of context"
    USAGE = "tokens and cost of model calls"
    TIMINGS = "latency of each question"
    GRADES = "grades by question"
    METRICS = "other metrics by question"
    JUDGMENTS = "judge requests and replies"
    SCORES = "scores with intervals"
    TRACK = "the track: data, protocol, judge, limits"
    SYSTEM = "the system and its digests"


WHOLE = "yes"
"""Marks a part that a format contains completely."""


class QuestionData(Enum):
    INSIDE = "in the file"
    BESIDE = "in files in its folder"


@dataclass(frozen=True)
class ExchangeFormat:
    name: str
    title: str
    """Origin and shape of the format, in one sentence."""
    benchmarks: tuple[str, ...] = ()
    """Ids of the supported benchmarks, the default one first; empty if all are supported."""
    reader: str | None = None
    """``module:function`` that reads it, a :data:`memeval.exchange.formats.Reader`, where a mapping cannot."""
    mapping: str | None = None
    """``package:name`` of the mapping that reads it; see :func:`memeval.benchmarks.formats.mapped.mapping_of`. An
    import format has a mapping, or a reader that may use it."""
    writer: str | None = None
    """``module:function`` that writes it, a :data:`memeval.exchange.formats.Writer`; ``None`` if it is import only."""
    holds: Mapping[RunPart, str] = field(default_factory=dict)
    """Contained parts of a run: :data:`WHOLE`, or how much of the part. An export loses all other parts."""
    own_ids: bool = False
    """Whether a retrieved id can be memeval's own, such as ``s001:t03``. Elsewhere it is an id of another counting."""
    parameters: Mapping[str, str | int] = field(default_factory=dict)
    data: QuestionData | None = None
    """Location of questions and references in the files; ``None`` if the files contain answers only."""
