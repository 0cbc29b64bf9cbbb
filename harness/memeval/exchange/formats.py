"""All import and export formats: those of single benchmarks, and those for every benchmark."""

import contextlib
from collections.abc import Callable
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import cast

from memeval.archive.runs import RunFolder
from memeval.benchmarks import all_benchmarks
from memeval.benchmarks.exchange_format import WHOLE, ExchangeFormat, RunPart
from memeval.benchmarks.formats.reading import AnswerFile, ImportedAnswers
from memeval.benchmarks.registry import Extension, extensions
from memeval.benchmarks.session import BenchmarkSession
from memeval.records.errors import BadInput, did_you_mean
from memeval.systems.channel import visible

GROUP = "memeval.formats"
"""The group of the entry points of other packages' formats: the name, and a module-level :class:`ExchangeFormat`."""

ParseAnswers = Callable[[AnswerFile, BenchmarkSession], ImportedAnswers]
"""Reads a file of answers to a benchmark; raises ``BadInput`` if the file is invalid."""

Writer = Callable[[RunFolder, BenchmarkSession | None, Path], list[Path]]
"""Writes a run with its full text to a path and returns the new files: at that path, next to it or under it.

The session is ``None`` if the benchmark's data is not available. Writers write to a temporary folder. The caller moves
the complete files, so a writer need not handle existing files or interruptions.
"""


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

SHARED: tuple[ExchangeFormat, ...] = (
    ExchangeFormat(
        name="simple",
        own_ids=True,
        title="Question ids with answers, or with ranked session or turn ids: JSON, JSON lines or CSV.",
        reader="memeval.benchmarks.formats.simple:read",
    ),
    ExchangeFormat(
        name="inspect",
        title="An Inspect AI log (.eval), which 'inspect view' opens.",
        writer=f"{__package__}.inspect_log:write",
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
        writer=f"{__package__}.eee:write",
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
        writer=f"{__package__}.table:write_csv",
        holds=_TABLE,
    ),
    ExchangeFormat(
        name="parquet",
        title="The same table with typed columns; needs pyarrow.",
        writer=f"{__package__}.table:write_parquet",
        holds=_TABLE,
    ),
)


def all_formats() -> tuple[ExchangeFormat, ...]:
    """Return every format once: those of benchmarks in the order of boards, then those for every benchmark.

    Last are those of other packages that can be used. If several have one name, the format for every benchmark is used,
    else that of the first benchmark.
    """
    found: dict[str, ExchangeFormat] = {}
    shared = {form.name: form for form in SHARED}
    for form in chain.from_iterable(benchmark.formats for benchmark in all_benchmarks()):
        found.setdefault(form.name, shared.get(form.name, form))
    found |= shared
    for extension in extensions(GROUP, "file format"):
        with contextlib.suppress(BadInput):  # :func:`find_format` says why
            found.setdefault(extension.name, _brought(extension))
    return tuple(found.values())


def _brought(extension: Extension) -> ExchangeFormat:
    """Return the format of another package. Raises ``BadInput`` if it cannot be used."""
    form = extension.load()
    if not isinstance(form, ExchangeFormat) or form.name != extension.name:
        fault = f"{extension.entry.value} is no ExchangeFormat of this name."
        raise extension.unusable(BadInput(fault))
    return form


def find_format(name: str) -> ExchangeFormat:
    """Return a format by its name. Raises ``BadInput`` if the name is unknown."""
    found = {each.name: each for each in all_formats()}
    if name not in found:
        for extension in extensions(GROUP, "file format"):
            if extension.name == name:
                _brought(extension)
        remedy = did_you_mean(name.lower(), found, f"Known formats: {', '.join(found)}.")
        raise BadInput(f"unknown format '{visible(name)}'.", remedy=remedy)
    return found[name]


def find_import_format(name: str) -> ExchangeFormat:
    """Return an import format by its name. Raises ``BadInput`` if the name is unknown, or the format is export only."""
    return _with(find_format(name), readable(), "export only", "Import formats")


def find_export_format(name: str) -> ExchangeFormat:
    """Return an export format by its name. Raises ``BadInput`` if the name is unknown, or the format is import only."""
    return _with(find_format(name), writable(), "import only", "Export formats")


def readable() -> tuple[str, ...]:
    return tuple(each.name for each in all_formats() if each.reader is not None or each.mapping is not None)


def writable() -> tuple[str, ...]:
    return tuple(each.name for each in all_formats() if each.writer is not None)


def _with(form: ExchangeFormat, names: tuple[str, ...], limit: str, offered: str) -> ExchangeFormat:
    if form.name not in names:
        raise BadInput(f"format '{form.name}' is {limit}.", remedy=f"{offered}: {', '.join(names)}.")
    return form


def read_answers(form: ExchangeFormat, file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    """Read a file of answers in an import format. Raises ``BadInput`` if the file is invalid."""
    from memeval.benchmarks.formats.mapped import mapping_of, read_mapped

    if form.reader is None and form.mapping is not None:
        return read_mapped(file, mapping_of(form.mapping), form.name)
    return cast(ParseAnswers, _load(form.reader))(file, benchmark_session)


def write_run(form: ExchangeFormat, run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
    """Write a run in an export format and return the files; see :data:`Writer`.

    Raises ``BadInput`` if the format does not support this run.
    """
    return cast(Writer, _load(form.writer))(run, benchmark_session, to)


def _load(target: str | None) -> object:
    """Import the function named by ``module:function``; on demand, because some formats import large modules."""
    module, _, name = (target or "").partition(":")
    return getattr(import_module(module), name)
