"""Results of jeffs-brain's LongMemEval runner: one object with questions, references, answers and verdicts.

Fields: jeffs-brain/memory, ``go/eval/lme``.
"""

from __future__ import annotations

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

FORMAT = "lme-result"

_LIMITS = {
    "actor_endpoint_style": "endpoint",
    "actor_retrieval_mode": "mode",
    "actor_topk": "top_k",
    "actor_candidatek": "candidate_k",
    "actor_rerank_topn": "rerank_top_n",
    "benchmark_mode": "benchmark_mode",
    "context_source": "context_source",
    "ingest_mode": "ingest_mode",
    "sample_size": "sample_size",
    "run_seed": "seed",
}
"""Limits in a manifest, and their names in a run."""


class _LmeResultQuestion(ForeignRecord):
    id: Id
    agent_answer: Text
    latency_ms: Amount | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    error: Text | None = None


class _Costs(ForeignRecord):
    """Costs in dollars."""

    ingest_usd: Amount | None = None
    agent_usd: Amount | None = None


class _LmeResultFile(ForeignRecord):
    questions: list[Any] = Field(max_length=100_000)
    ingest_mode: Name | None = None
    run_seed: int | None = None
    judge_model: Name | None = None
    questions_run: Count | None = None
    overall_score: Share | None = None
    cost_accounting: _Costs | None = None


def read(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    """Read a result and its manifest, if there is one; see :data:`memeval.benchmarks.exchange_format.Reader`."""
    result = fitted(_LmeResultFile, file.json(), file.path)
    if not result.questions:
        refuse("the file contains no answers.", file.path)
    rows = [
        (where, fitted(_LmeResultQuestion, value, where))
        for where, value in placed(result.questions, f"{file.path}: questions")
    ]
    once((where, row.id) for where, row in rows)
    manifest = _manifest(file)
    name = file.system or file.path.stem
    return ImportedAnswers(
        system=name,
        version=UNKNOWN_VERSION,
        slug=slug_of(name, FORMAT),
        answers=tuple(_answer(row) for _where, row in rows),
        imported=Imported(
            format=FORMAT,
            file=file.path.name,
            digest=file.digest,
            made_by="jeffs-brain's LongMemEval runner",
            reader=_name(manifest.get("reader_model")),
            limits=dict(_limits({"ingest_mode": result.ingest_mode, "run_seed": result.run_seed} | manifest)),
            claims=tuple(_claims(result, [row for _where, row in rows])),
            cost_usd=_cost(result.cost_accounting),
        ),
    )


def _answer(row: _LmeResultQuestion) -> ImportedAnswer:
    return ImportedAnswer(
        row.id,
        "" if row.error else row.agent_answer,
        error=row.error or None,
        seconds=None if row.latency_ms is None else row.latency_ms / 1000,
        prompt_tokens=row.input_tokens,
        completion_tokens=row.output_tokens,
    )


def _manifest(file: AnswerFile) -> dict[str, Any]:
    """Return the manifest, whose file name has ``manifest`` in place of ``result``; empty if there is none."""
    name = file.path.name.replace("result", "manifest")
    manifest = file.beside(name) if name != file.path.name else None
    if manifest is None:
        return {}
    if not isinstance(manifest, dict):
        refuse("expected a JSON object with the manifest of a run.", file.path.with_name(name))
    return manifest


def _name(value: Any) -> str | None:
    return value[:200] if isinstance(value, str) and value else None


def _limits(fields: dict[str, Any]) -> Iterator[tuple[str, str | int | float | bool]]:
    for field, name in _LIMITS.items():
        value = fields.get(field)
        if isinstance(value, str | int | float | bool) and value != "":
            yield name, value[:200] if isinstance(value, str) else value


def _claims(result: _LmeResultFile, rows: Sequence[_LmeResultQuestion]) -> Iterator[Claim]:
    if result.overall_score is not None:
        run = len(rows) if result.questions_run is None else result.questions_run
        yield Claim(score=result.overall_score, items=run, judge=result.judge_model)


def _cost(accounting: _Costs | None) -> float | None:
    """Return the cost of ingestion and answers, without the judge's; ``None`` if unknown."""
    costs = (
        [] if accounting is None else [usd for usd in (accounting.ingest_usd, accounting.agent_usd) if usd is not None]
    )
    return sum(costs) if costs else None
