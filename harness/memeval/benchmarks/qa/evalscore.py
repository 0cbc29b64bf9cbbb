"""EvalScore files: results of jeffs-brain's cross-SDK runner for one daemon and one question set.

Fields and their order: jeffs-brain/memory, ``eval/runner.py``. The mapping reads the rows. Code reads the citations:
each names a document by one of two fields, as a path, an ordinal or an id, and only the data tells which.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import Field

from memeval.archive.runs import RunFolder
from memeval.benchmarks.formats.mapped import mapping_of, read_mapped
from memeval.benchmarks.formats.reading import AnswerFile, ForeignRecord, ImportedAnswers, Name, fitted, placed
from memeval.benchmarks.formats.writing import require_session, write_json
from memeval.benchmarks.session import BenchmarkSession
from memeval.grading.base import last_attempts
from memeval.grading.scoring import headline
from memeval.keys import ItemKey
from memeval.records.grade import Grade
from memeval.records.response import Response
from memeval.records.scenario import Retain

FORMAT = "evalscore"

PASSED = 0.5
"""Lowest score of a passed question."""

ERROR_CHARACTERS = 512
"""Length at which the runner truncates errors."""

_JUDGED = "-judged"


class _Citation(ForeignRecord):
    path: Name | None = None
    chunk_id: Name | None = Field(default=None, alias="chunkId")


class _CitingQuestion(ForeignRecord):
    citations: list[_Citation] | None = Field(default=None, max_length=1000)


def read(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    answers = read_mapped(file, mapping_of(f"{__package__}:{FORMAT}"), FORMAT)
    texts = _texts(benchmark_session)
    questions = zip(answers.answers, placed(file.json()["questions"], f"{file.path}: questions"), strict=True)
    return replace(
        answers,
        answers=tuple(
            replace(answer, sources=_cited(fitted(_CitingQuestion, value, where), texts))
            for answer, (where, value) in questions
        ),
    )


def _texts(benchmark_session: BenchmarkSession) -> dict[str, str]:
    """Return the source ids of prepared texts, by ordinal and by source id."""
    steps = (step for scenario in benchmark_session.dataset.scenarios() for step in scenario.steps)
    source_ids = {step.text_id: step.source_id for step in steps if isinstance(step, Retain)}
    return source_ids | {source: source for source in source_ids.values()}


def _cited(question: _CitingQuestion, texts: Mapping[str, str]) -> tuple[str, ...]:
    cited = [each.path or each.chunk_id or "" for each in question.citations or ()]
    return tuple(texts.get(PurePosixPath(path).stem, path) for path in cited if path)


def write(run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
    """Write ``<to>/<date>/<sdk>.json``: the local start date of the run, and the system's slug.

    Raises ``BadInput``: the benchmark's data is not available.
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
    return [write_json(path, value)]


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
