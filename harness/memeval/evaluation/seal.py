"""Sealing a run: rows in plan order, digests, scores; the folder becomes a run at one stroke, or not at all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from memeval.archive.rows import pack
from memeval.archive.runs import RunFolder
from memeval.evaluation import summary
from memeval.evaluation.grades import grade_items
from memeval.evaluation.plan import Exam
from memeval.execution.journal import Journal, utc_now
from memeval.grading.scoring import score
from memeval.judging.base import Judge
from memeval.keys import ItemKey
from memeval.records.base import Stored
from memeval.records.grade import Grade
from memeval.records.journal import Plan
from memeval.records.response import Context, Response
from memeval.records.run import Cost, Coverage, FileDigest, Run, SystemKind, Timing
from memeval.storage import write_whole


def seal(
    folder: Path, journal: Journal, plan: Plan, exam: Exam, items: Sequence[ItemKey], judge: Judge, concurrency: int
) -> RunFolder:
    """Grade what is in the journal and write the sealed run.

    The head, ``run.json``, is written last: until it is there the run is unfinished and its journal is whole.

    Args:
        folder: the run's folder.
        journal: its journal, with every planned item in it.
        plan: what the run set out to do.
        exam: the benchmark with its data.
        items: the planned items, in plan order.
        judge: who is asked for verdicts.
        concurrency: scenarios that were in flight.

    Raises:
        BadInput: the folder cannot be written.
    """
    responses = in_plan_order(items, journal.responses.values())
    contexts = _used(responses, journal.contexts)
    grades = grade_items(exam, items, responses, judge)
    files: dict[str, FileDigest] = {}
    rows: dict[str, Iterable[Stored]] = {
        "responses.jsonl": responses,
        "contexts.jsonl": contexts,
        "grades.jsonl": grades,
        "log.jsonl": journal.log_lines,
    }
    for name, records in rows.items():
        data, files[name] = pack(records)
        write_whole(folder / f"{name}.gz", data)
    run = head(plan, responses, grades, files, concurrency)
    write_whole(folder / "run.json", _pretty(run))
    shutil.rmtree(folder / "journal", ignore_errors=True)
    return RunFolder(folder)


def head(
    plan: Plan,
    responses: Sequence[Response],
    grades: Sequence[Grade],
    files: dict[str, FileDigest],
    concurrency: int,
) -> Run:
    """Return the head of a run: everything that follows from its plan and its rows."""
    track = plan.inputs.track
    return Run(
        run_id=plan.run_id,
        fingerprint=plan.inputs.fingerprint,
        track_id=track.id,
        track=track,
        system=plan.system,
        redistribution=plan.redistribution,
        isolation=plan.isolation,
        harness=plan.harness,
        seeds=plan.seeds,
        timing=Timing(started=plan.started, ended=utc_now(), concurrency=concurrency, phases=summary.phases(responses)),
        tokens=summary.tokens(responses),
        cost=_cost(plan),
        coverage=coverage(plan.inputs.limit, track.planned, responses, grades),
        scores=score(track.categories, grades),
        files=files,
    )


def coverage(limit: int | None, planned: int, responses: Iterable[Response], grades: Sequence[Grade]) -> Coverage:
    """Return how much of the plan was done."""
    retried = {row.item_id for row in responses if row.attempt > 1}
    return Coverage(planned=planned, done=len(grades), limit=limit, retried=len(retried))


def in_plan_order(items: Iterable[ItemKey], responses: Iterable[Response]) -> list[Response]:
    """Return the responses to the planned items: by item, question, attempt."""
    by_question: dict[str, list[Response]] = {}
    for response in responses:
        by_question.setdefault(response.question_id, []).append(response)
    return [
        response
        for item in items
        for question_id in item.question_ids
        for response in sorted(by_question.get(question_id, ()), key=lambda row: row.attempt)
    ]


def _used(responses: Iterable[Response], contexts: dict[str, Context]) -> list[Context]:
    """Return the contexts that responses name, in order of first use."""
    digests = dict.fromkeys(row.context_digest for row in responses if row.context_digest is not None)
    return [contexts[digest] for digest in digests]


def _cost(plan: Plan) -> Cost:
    """Return the dollars of a run: none for what memeval ships, unknown where a system may call models itself."""
    if plan.system.kind is SystemKind.CONTROL:
        return Cost(usd=0.0, reason=None)
    if plan.inputs.declared_models:
        return Cost(usd=None, reason="the system calls models whose use memeval does not see")
    return Cost(usd=None, reason="memeval does not see whether the system calls models")


def _pretty(run: Run) -> bytes:
    """Return the head as text that a reviewer can read and compare line by line."""
    return (json.dumps(run.data(), sort_keys=True, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()
