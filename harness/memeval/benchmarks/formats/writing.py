"""Shared helpers of export formats: a run's decoded responses, and JSON as the official programs write it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.records.errors import BadInput
from memeval.records.response import RetrievedItem

_SHORT = {"gpt-4o-2024-08-06": "gpt-4o", "gpt-4o-mini-2024-07-18": "gpt-4o-mini"}
"""Short names of judges, from LongMemEval's ``evaluate_qa.py`` and DeepMemEval's ``evaluate.py``."""


def require_session(run: RunFolder, benchmark_session: BenchmarkSession | None) -> BenchmarkSession:
    """Return the benchmark session, for formats that need the data.

    Raises ``BadInput``: the benchmark's data is not available.
    """
    if benchmark_session is None:
        raise BadInput(
            f"this format needs the data of {run.run.track.benchmark}, which is not available.",
            where=run.path,
            remedy=f"Name it with --data. {find(run.run.track.benchmark).remedy()}",
        )
    return benchmark_session


def write_json(path: Path, value: Any, *, indent: int | None = None) -> Path:
    path.write_text(json.dumps(value, indent=indent, allow_nan=False), encoding="utf-8")
    return path


def write_lines(path: Path, values: Iterable[Any]) -> Path:
    """Write JSON values, one per line."""
    with path.open("w", encoding="utf-8") as stream:
        for value in values:
            stream.write(json.dumps(value, allow_nan=False) + "\n")
    return path


def sources_of(items: Iterable[RetrievedItem]) -> list[str]:
    """Return the ordinals of retrieved items, best first."""
    return [source for item in items for source in (item.source_ids or ([item.turn_id] if item.turn_id else []))]


def judge_model(judge: str) -> str:
    """Return a judge's model name as in official files: without memeval's prefix and version.

    ``judge``: the judge with its version, such as ``openai:gpt-4o-2024-08-06@1``.
    """
    name = judge.rpartition("@")[0] or judge
    return name.partition(":")[2] or name


def file_name(model: str) -> str:
    """Return a judge's name for official file names: the short name, if there is one.

    ``model``: the model, as :func:`judge_model` gives it.
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", _SHORT.get(model, model))
