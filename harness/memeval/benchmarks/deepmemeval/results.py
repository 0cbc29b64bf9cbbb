"""DeepMemEval results: a JSON list with one object per scenario; evaluated ones have one JSON object per line.

Field names and order: nambok/DeepMemEval, ``run_deepmemeval.py`` and ``evaluate.py``. Code reads them, because a row
answers all questions of a scenario, and the claimed score weights the categories.
"""

import json
from collections.abc import Iterator, Sequence
from math import fsum
from pathlib import Path
from typing import Any

from pydantic import Field

from memeval.archive.runs import RunFolder
from memeval.benchmarks.formats.reading import (
    NO_ANSWER,
    Amount,
    Answer,
    AnswerFile,
    ForeignRecord,
    Id,
    ImportedAnswer,
    ImportedAnswers,
    Name,
    fitted,
    imported_answers,
    once,
)
from memeval.benchmarks.formats.writing import file_name, judge_model, require_session, write_json, write_lines
from memeval.benchmarks.session import BenchmarkSession
from memeval.grading.base import last_attempts
from memeval.grading.delta import token_series
from memeval.keys import DeltaKey, ItemKey
from memeval.records.imported import Claim, ClaimMetric
from memeval.records.response import Response

FORMAT = "deepmemeval"


class _ScenarioRow(ForeignRecord):
    scenario_id: Id
    scenario_type: Name
    response: Answer
    token_counts: list[Amount] | None = Field(default=None, max_length=1000)
    error: bool = False
    eval_label: bool | None = None
    eval_model: Name | None = None


def read(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    rows = [(where, fitted(_ScenarioRow, value, where)) for where, value in file.rows()]
    once((where, row.scenario_id) for where, row in rows)
    keys = {key.scenario_id: key for key in benchmark_session.dataset.answer_keys()}
    return imported_answers(
        file,
        FORMAT,
        file.system or file.path.stem,
        (answer for _where, row in rows for answer in _answers(row, keys.get(row.scenario_id))),
        made_by="DeepMemEval's runner",
        claims=_claims([row for _where, row in rows], benchmark_session),
    )


def _answers(row: _ScenarioRow, key: ItemKey | None) -> Iterator[ImportedAnswer]:
    """Yield the answers to a scenario's questions; for delta-efficiency the file has token counts only."""
    if key is None:
        yield ImportedAnswer(row.scenario_id, row.response or "")
        return
    counts: Sequence[float | None] = [None] * len(key.question_ids)
    error = None if row.response is not None or isinstance(key.key, DeltaKey) else NO_ANSWER
    if row.error:
        error = (row.response or "").removeprefix("ERROR: ").strip() or "failed without an error message"
    if isinstance(key.key, DeltaKey) and not row.error:
        counts = row.token_counts or []
        if len(counts) != len(key.question_ids):
            error = f"{len(counts)} token counts for {len(key.question_ids)} questions"
            counts = [None] * len(key.question_ids)
    for question_id, count in zip(key.question_ids, counts, strict=True):
        yield ImportedAnswer(question_id, "" if error else row.response or "", error=error, reported_tokens=count)


def _claims(rows: Sequence[_ScenarioRow], benchmark_session: BenchmarkSession) -> tuple[Claim, ...]:
    """Return the claimed score of an evaluated file; none if a row has no label.

    If every category has rows, the score is the composite that the official program prints. Otherwise it is the
    accuracy, because a composite without all categories is not comparable.
    """
    labels: dict[str, list[bool]] = {}
    for row in rows:
        if row.eval_label is None:
            return ()
        labels.setdefault(row.scenario_type, []).append(row.eval_label)
    models = {row.eval_model for row in rows}
    judge = models.pop() if len(models) == 1 else None
    weights = {category.name: category.weight or 0.0 for category in benchmark_session.benchmark.categories}
    if labels.keys() != weights.keys():
        return (Claim(score=sum(map(sum, labels.values())) / len(rows), items=len(rows), judge=judge),)
    composite = fsum(weights[name] * sum(of_category) / len(of_category) for name, of_category in labels.items())
    return (Claim(score=min(1.0, composite), metric=ClaimMetric.COMPOSITE, items=len(rows), judge=judge),)


def write(run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
    """Write the results, and a second file with the evaluated results, named after the judge.

    Raises ``BadInput``: the benchmark's data is not available.
    """
    benchmark_session = require_session(run, benchmark_session)
    rows = last_attempts(run.responses())
    grades = {grade.item_id: grade for grade in run.grades()}
    judge = judge_model(run.run.track.judge)
    plain, evaluated = [], []
    for key in benchmark_session.keys:
        if any(question not in rows for question in key.question_ids):
            continue
        row = _row(key, [rows[question] for question in key.question_ids])
        plain.append(row)
        right = grades[key.item_id].verdict is True
        evaluated.append({**row, "eval_label": right, "eval_model": judge})
    return [write_json(to, plain), write_lines(to.with_name(f"{to.name}.eval-{file_name(judge)}"), evaluated)]


def _row(key: ItemKey, responses: Sequence[Response]) -> dict[str, Any]:
    head = {"scenario_id": key.scenario_id, "scenario_type": key.category}
    failed = next((row for row in responses if row.outcome.is_error), None)
    if failed is not None:
        return {**head, "response": f"ERROR: {failed.error}", "error": True}
    if not isinstance(key.key, DeltaKey):
        return {**head, "response": responses[0].answer}
    series, _flags = token_series(responses)
    if series is None:
        return {**head, "response": "ERROR: not every question has a token count", "error": True}
    counts = [int(count) if count.is_integer() else count for count in series]
    summary = f"Token counts of {len(counts)} questions: {json.dumps(counts)}"
    return {**head, "token_counts": counts, "response": summary}
