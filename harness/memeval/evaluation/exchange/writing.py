"""What writers of formats share: a run's rows with their words, and JSON as the official programs write it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.evaluation.decoding import decoded_run
from memeval.evaluation.grades import last_attempts
from memeval.evaluation.plan import BenchmarkSession
from memeval.records.errors import BadInput
from memeval.records.response import Response, RetrievedItem

_SHORT = {"gpt-4o-2024-08-06": "gpt-4o", "gpt-4o-mini-2024-07-18": "gpt-4o-mini"}
"""Short names of judges: LongMemEval's ``evaluate_qa.py`` and DeepMemEval's ``evaluate.py`` have the same two."""


def exam_needed(run: RunFolder, benchmark_session: BenchmarkSession | None) -> BenchmarkSession:
    """Return the exam where the format cannot do without.

    Raises:
        BadInput: the benchmark's data is not at hand.
    """
    if benchmark_session is None:
        raise BadInput(
            f"this format needs the data of {run.run.track.benchmark}, and it is not here.",
            where=run.path,
            remedy=f"Name it with --data. {find(run.run.track.benchmark).remedy()}",
        )
    return benchmark_session


def answered(run: RunFolder, benchmark_session: BenchmarkSession) -> dict[str, Response]:
    """Return the response that counts for each question, with the words that the run itself may not hold."""
    return last_attempts(decoded_run(run, benchmark_session).responses())


def write_json(path: Path, value: Any, *, indent: int | None = None) -> Path:
    """Write one JSON value."""
    path.write_text(json.dumps(value, indent=indent, allow_nan=False), encoding="utf-8")
    return path


def write_lines(path: Path, values: Iterable[Any]) -> Path:
    """Write JSON values, one a line."""
    with path.open("w", encoding="utf-8") as stream:
        for value in values:
            stream.write(json.dumps(value, allow_nan=False) + "\n")
    return path


def sources_of(items: Iterable[RetrievedItem]) -> list[str]:
    """Return the ordinals that retrieved items name, best first."""
    return [source for item in items for source in (item.source_ids or ([item.turn_id] if item.turn_id else []))]


def judge_model(judge: str) -> str:
    """Return the judge of a track as official files name it: the bare model, without memeval's prefix and version.

    Args:
        judge: the judge with its version, such as ``openai:gpt-4o-2024-08-06@1``.
    """
    name = judge.rpartition("@")[0] or judge
    return name.partition(":")[2] or name


def file_name(model: str) -> str:
    """Return what the official programs put into a file's name for a judge: their own short name where they have one.

    Args:
        model: the model, as :func:`judge_model` gives it.
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", _SHORT.get(model, model))
