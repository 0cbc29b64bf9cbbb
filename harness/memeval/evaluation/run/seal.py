"""Seals a run: writes rows in plan order, digests and scores, and the head last."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from memeval.analysis.failures import FAILURES, failures_of
from memeval.archive.rows import indented, pack
from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run import summary
from memeval.evaluation.withhold.encoding import withheld
from memeval.evaluation.withhold.rows import Rows
from memeval.execution.contexts import Contexts
from memeval.execution.journal import utc_now
from memeval.gateway.budget import price_list
from memeval.grading.scoring import score
from memeval.keys import ItemKey
from memeval.records.base import comparable_digest
from memeval.records.beside import BesideTimes
from memeval.records.call import Phase, PhaseUsage, UsageSource
from memeval.records.grade import Grade
from memeval.records.journal import LogLine, Plan
from memeval.records.response import Context, Response
from memeval.records.run import Cost, Coverage, FileDigest, Run, SystemIdentity, SystemKind, Timing
from memeval.records.track import Redistribution
from memeval.storage import write_whole


def seal(
    folder: Path,
    plan: Plan,
    rows: Rows,
    log: Sequence[LogLine],
    concurrency: int,
    benchmark_session: BenchmarkSession,
    beside: BesideTimes | None = None,
) -> RunFolder:
    """Write the sealed run with its failure analysis, and withhold the benchmark's text if its licence requires that.

    The head, ``run.json``, is written last: without it the run is unfinished, and its journal is complete.
    ``concurrency``: number of scenarios that ran at the same time. ``beside``: its times beside a control, if they were
    measured. Raises ``BadInput`` if the folder cannot be written.
    """
    stored, lines = rows, log
    if plan.redistribution is Redistribution.IDS:
        stored, lines = withheld(rows, log, benchmark_session, plan.inputs.track)
    files: dict[str, FileDigest] = {}
    failures = failures_of(
        benchmark_session, benchmark_session.keys, rows.responses, rows.contexts, rows.grades, plan.inputs.track
    )
    for name, records in {**stored.files(), FAILURES: failures, "log.jsonl": lines}.items():
        data, files[name] = pack(records)
        write_whole(folder / f"{name}.gz", data)
    found = head(plan, stored, files, concurrency, summary.crashes(lines)).model_copy(update={"beside": beside})
    write_whole(folder / "run.json", indented(found.data()))
    shutil.rmtree(folder / "journal", ignore_errors=True)
    return RunFolder(folder)


def head(plan: Plan, rows: Rows, files: dict[str, FileDigest], concurrency: int, crashes: int = 0) -> Run:
    track = plan.inputs.track
    usage = summary.usage(plan.run_id, rows.responses, rows.calls, rows.judgments)
    return Run(
        **{name: getattr(plan, name) for name in Plan.model_fields.keys() & Run.model_fields.keys()},
        fingerprint=plan.inputs.fingerprint,
        track_id=track.id,
        track=track,
        timing=Timing(
            started=plan.started,
            ended=utc_now(),
            concurrency=concurrency,
            phases=summary.phases(rows.responses, rows.judgments),
        ),
        tokens=summary.tokens(rows.responses),
        cost=cost(plan.system, usage),
        usage=usage,
        prices=price_list() if rows.calls or rows.judgments else None,
        coverage=coverage(plan.inputs.limit, track.planned, rows.responses, rows.grades),
        crashes=crashes,
        scores=score(track.categories, rows.grades),
        files=files,
        responses_digest=comparable_digest(rows.responses),
    )


def coverage(limit: int | None, planned: int, responses: Iterable[Response], grades: Sequence[Grade]) -> Coverage:
    retried = {row.item_id for row in responses if row.attempt > 1}
    return Coverage(planned=planned, done=len(grades), limit=limit, retried=len(retried))


def cost(system: SystemIdentity, usage: Mapping[Phase, PhaseUsage]) -> Cost:
    """Return the cost of a run's model calls; unknown, with a reason, if memeval cannot observe all calls.

    ``system``: the system; shipped controls call no model themselves.
    """
    unpriced = sum(phase.unpriced for phase in usage.values())
    if unpriced:
        return Cost(usd=None, reason=f"{unpriced} calls to models without a known price")
    if system.kind is SystemKind.IMPORTED:
        return Cost(usd=None, reason="the answers were made elsewhere; their cost is known by their own account")
    if system.hosts:
        return Cost(usd=None, reason="which models its hosts use, and at what price, cannot be observed")
    if system.kind is not SystemKind.CONTROL and not system.declared_models:
        return Cost(usd=None, reason="memeval does not see whether the system calls models")
    if any(phase.source is UsageSource.SELF_REPORTED for phase in usage.values()):
        return Cost(usd=None, reason="the system's own calls are known by its own account only")
    observed = sum(phase.usd or 0.0 for phase in usage.values())
    return Cost(usd=observed, reason="calls past memeval's gateway are not seen" if system.declared_models else None)


def in_plan_order(items: Iterable[ItemKey], responses: Iterable[Response]) -> list[Response]:
    """Return the responses to the planned items, sorted by item, question and attempt."""
    by_question: dict[str, list[Response]] = {}
    for response in responses:
        by_question.setdefault(response.question_id, []).append(response)
    return [
        response
        for item in items
        for question_id in item.question_ids
        for response in sorted(by_question.get(question_id, ()), key=lambda row: row.attempt)
    ]


def used_contexts(responses: Iterable[Response], contexts: Contexts) -> list[Context]:
    """Return the contexts that responses name, each once in a scenario, in order of first use."""
    used = (contexts.of(row) for row in responses)
    return list({(one.scenario_id, one.digest): one for one in used if one is not None}.values())
