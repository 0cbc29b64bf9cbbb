"""EvalScore files: results of jeffs-brain's cross-SDK runner for one daemon and one question set.

Fields and their order: jeffs-brain/memory, ``eval/runner.py``. Its example file omits some fields.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import Field

from memeval.archive.runs import RunFolder
from memeval.benchmarks.formats.answers import UNKNOWN_VERSION, ImportedAnswer, ImportedAnswers, slug_of
from memeval.benchmarks.formats.reading import Amount, AnswerFile, ForeignRecord, Id, Name, Text, fitted, once, placed
from memeval.benchmarks.formats.writing import require_session, write_json
from memeval.benchmarks.session import BenchmarkSession
from memeval.grading.rows import last_attempts
from memeval.grading.scoring import headline
from memeval.keys import ItemKey
from memeval.records.base import Share
from memeval.records.grade import Grade
from memeval.records.imported import Claim, Imported
from memeval.records.response import Response
from memeval.records.scenario import Retain

FORMAT = "evalscore"

PASSED = 0.5
"""Lowest score of a passed question."""

ERROR_CHARACTERS = 512
"""Length at which the runner truncates errors."""

_JUDGED = "-judged"
_LIMIT_FIELDS = ("dataset", "scorer", "scenario", "mode", "brain")


class _Citation(ForeignRecord):
    """A document that an answer cites."""

    path: Name | None = None
    chunk_id: Name | None = Field(default=None, alias="chunkId")


class _EvalScoreQuestion(ForeignRecord):
    """The result of one question."""

    id: Id
    answer: Text = ""
    latency_ms: Amount | None = None
    citations: list[_Citation] | None = Field(default=None, max_length=1000)
    error: Text | None = None


class _Score(ForeignRecord):
    """The file."""

    sdk: Name
    questions: list[Any] = Field(min_length=1, max_length=100_000)
    pass_rate: Share | None = None
    total: int | None = Field(default=None, ge=0)
    started_at: Name | None = None
    dataset: Name | None = None
    scorer: Name | None = None
    scenario: Name | None = None
    mode: Name | None = None
    brain: Name | None = None


def read(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    """Read an EvalScore file; see :data:`memeval.benchmarks.exchange_format.Reader`."""
    score = fitted(_Score, file.json(), file.path)
    rows = [
        (where, fitted(_EvalScoreQuestion, value, where))
        for where, value in placed(score.questions, f"{file.path}: questions")
    ]
    once((where, row.id) for where, row in rows)
    texts = _texts(benchmark_session)
    name = file.system or score.sdk
    claimed = Claim(score=score.pass_rate or 0.0, items=score.total or len(rows), judge=score.scorer)
    return ImportedAnswers(
        system=name,
        version=UNKNOWN_VERSION,
        slug=slug_of(name, FORMAT),
        answers=tuple(_answer(row, texts) for _where, row in rows),
        imported=Imported(
            format=FORMAT,
            file=file.path.name,
            digest=file.digest,
            made_by="a runner of jeffs-brain's daemons",
            made_at=score.started_at,
            limits={field: value for field in _LIMIT_FIELDS if (value := getattr(score, field)) is not None},
            claims=() if score.pass_rate is None else (claimed,),
        ),
    )


def _texts(benchmark_session: BenchmarkSession) -> dict[str, str]:
    """Return the source ids of prepared texts, by ordinal and by source id."""
    steps = (step for scenario in benchmark_session.dataset.scenarios() for step in scenario.steps)
    source_ids = {step.text_id: step.source_id for step in steps if isinstance(step, Retain)}
    return source_ids | {source: source for source in source_ids.values()}


def _answer(row: _EvalScoreQuestion, texts: Mapping[str, str]) -> ImportedAnswer:
    cited = [each.path or each.chunk_id or "" for each in row.citations or ()]
    return ImportedAnswer(
        row.id,
        "" if row.error else row.answer,
        sources=tuple(texts.get(PurePosixPath(path).stem, path) for path in cited if path),
        error=row.error or None,
        seconds=None if row.latency_ms is None else row.latency_ms / 1000,
    )


def write(run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
    """Write ``<to>/<date>/<sdk>.json``: the local start date of the run, and the system's slug.

    Raises:
        BadInput: the benchmark's data is not available.
    """
    benchmark_session = require_session(run, benchmark_session)
    head = run.run
    rows = last_attempts(run.responses())
    grades = {grade.item_id: grade for grade in run.grades()}
    asked = {
        ask.question_id: ask.question
        for scenario in benchmark_session.dataset.scenarios()
        for ask in scenario.questions()
    }
    questions = [
        _question(key, asked[key.item_id], rows[key.item_id], grades[key.item_id])
        for key in benchmark_session.keys
        if key.item_id in rows
    ]
    scores = [question["score"] for question in questions]
    passed = sum(score >= PASSED for score in scores)
    protocol = head.track.protocol
    value = {
        "sdk": head.system.slug,
        "dataset": head.track.parameters.get("file", head.track.benchmark.partition("@")[0]),
        "scorer": "judge" if protocol.endswith(_JUDGED) else "exact-wb",
        "total": len(questions),
        "passed": passed,
        "pass_rate": passed / len(questions) if questions else 0.0,
        "mean_score": math.fsum(scores) / len(questions) if questions else 0.0,
        "started_at": head.timing.started,
        "finished_at": head.timing.ended,
        "scenario": protocol.removesuffix(_JUDGED),
        "mode": str(head.system.parameters.get("mode", "auto")),
        "brain": head.run_id,
        "questions": questions,
    }
    day = datetime.fromisoformat(head.timing.started).astimezone().date()
    path = to / day.isoformat() / f"{head.system.slug}.json"
    path.parent.mkdir(parents=True)
    return [write_json(path, value, indent=2)]


def _question(key: ItemKey, question: str, row: Response, grade: Grade) -> dict[str, Any]:
    score = headline(grade) or 0.0
    timings = row.timings
    seconds = (timings.ask_seconds, timings.search_seconds, timings.read_seconds)
    known = [each for each in seconds if each is not None]
    return {
        "id": key.item_id,
        "question": question,
        "answer": row.answer,
        "score": score,
        "passed": score >= PASSED,
        "latency_ms": round(1000 * math.fsum(known), 3) if known else None,
        "citations": [
            {"chunkId": source, "path": f"smoke/{source.partition(':')[0]}.md", "title": "", "score": item.score}
            for item in row.items or ()
            for source in item.source_ids
        ],
        "error": f"{row.outcome.value}: {row.error}"[:ERROR_CHARACTERS] if row.outcome.is_error else None,
    }
