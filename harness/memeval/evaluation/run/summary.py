"""Sums over a run's rows: time by phase, tokens, usage. They are pure functions, so ``verify`` can recompute them."""

from collections.abc import Iterable, Sequence
from math import ceil, fsum

from memeval.records.call import Call, Caller, Phase, PhaseUsage, Seconds, UsageSource
from memeval.records.journal import CRASHED, LogLine
from memeval.records.response import ReportedUsage, Response
from memeval.records.run import Percentiles, Tokens, TokenSource


def phases(responses: Iterable[Response], judgments: Iterable[Call] = ()) -> dict[Phase, Percentiles]:
    """Return the time by phase; a phase that did not occur is left out."""
    spent: dict[Phase, list[float]] = {phase: [] for phase in Phase}
    for response in responses:
        times = response.timings
        for phase, seconds in (
            (Phase.INGEST, times.take_in_seconds),
            (Phase.SETTLE, times.settle_seconds),
            (Phase.SEARCH, times.search_seconds),
            (Phase.ASK, times.ask_seconds),
            (Phase.READ, times.read_seconds),
        ):
            if seconds is not None:
                spent[phase].append(seconds)
    spent[Phase.JUDGE] += (call.seconds for call in judgments if call.seconds is not None)
    return {
        phase: Percentiles(
            calls=len(seconds),
            p50=round(percentile(seconds, 0.50), 6),
            p95=round(percentile(seconds, 0.95), 6),
            total=round(fsum(seconds), 6),
        )
        for phase, seconds in spent.items()
        if seconds
    }


def crashes(log: Iterable[LogLine]) -> int:
    """Return how often a process of the system ended by itself, by the log of the run."""
    return sum(line.event == CRASHED for line in log)


def usage(
    run_id: str, responses: Iterable[Response], calls: Iterable[Call], judgments: Iterable[Call]
) -> dict[Phase, PhaseUsage]:
    """Return the usage of model calls by phase; a phase without calls is left out.

    A system's self-reported usage counts only if none of its calls came through the gateway. ``run_id``: the run; calls
    of other runs were answered from the record.
    """
    every = [*calls, *judgments]
    by_phase = {phase: [call for call in every if call.phase is phase] for phase in Phase}
    found = {phase: _measured(run_id, made) for phase, made in by_phase.items() if made}
    rows = [] if any(call.caller is Caller.SYSTEM for call in every) else list(responses)
    reported = [row.usage for row in rows if row.usage is not None]
    if reported:
        searched = any(row.timings.search_seconds is not None for row in rows)
        found[Phase.SEARCH if searched else Phase.ASK] = _reported(reported)
    return {phase: found[phase] for phase in Phase if phase in found}


def _measured(run_id: str, calls: Sequence[Call]) -> PhaseUsage:
    """Sum up the calls of one phase; calls that another run paid for are counted separately."""
    fresh = [call for call in calls if call.run_id == run_id]
    cached = [call for call in calls if call.run_id != run_id]
    unpriced = sum(call.is_unpriced for call in fresh)
    return PhaseUsage(
        source=UsageSource.MEASURED,
        calls=len(fresh),
        failed=sum(call.error is not None for call in fresh),
        cached=len(cached),
        prompt_tokens=_count(call.prompt_tokens for call in fresh),
        completion_tokens=_count(call.completion_tokens for call in fresh),
        usd=None if unpriced else _dollars(fresh),
        unpriced=unpriced,
        models=tuple(sorted({call.model for call in calls if call.model is not None})),
        cached_usd=_dollars(cached) if cached and not any(call.is_unpriced for call in cached) else None,
        service=_seconds(call.seconds for call in fresh),
        queue=_seconds(call.queued_seconds for call in fresh),
    )


def _reported(reports: Sequence[ReportedUsage]) -> PhaseUsage:
    """Sum up self-reported usage, which does not include the number of calls."""
    dollars = [report.cost_usd for report in reports if report.cost_usd is not None]
    return PhaseUsage(
        source=UsageSource.SELF_REPORTED,
        calls=0,
        prompt_tokens=_count(report.prompt_tokens for report in reports),
        completion_tokens=_count(report.completion_tokens for report in reports),
        usd=round(fsum(dollars), 9) if len(dollars) == len(reports) else None,
    )


def _dollars(calls: Iterable[Call]) -> float:
    return round(fsum(call.cost_usd for call in calls if call.cost_usd is not None), 9)


def _count(counts: Iterable[int | None]) -> int | None:
    """Return the sum of the known counts; ``None`` if none is known."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _seconds(durations: Iterable[float | None]) -> Seconds | None:
    known = [seconds for seconds in durations if seconds is not None]
    if not known:
        return None
    return Seconds(p50=round(percentile(known, 0.50), 6), p95=round(percentile(known, 0.95), 6))


def percentile(values: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile: the smallest value that at least ``share`` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def tokens(responses: Iterable[Response]) -> Tokens:
    """Return the context tokens of a run: measured if any context was returned, else self-reported."""
    rows = list(responses)
    measured = [float(row.context_tokens) for row in rows if row.context_tokens is not None]
    reported = [row.reported_tokens for row in rows if row.reported_tokens is not None]
    for source, counts in ((TokenSource.MEASURED, measured), (TokenSource.SELF_REPORTED, reported)):
        if counts:
            return Tokens(source=source, per_question=sum(counts) / len(counts), total=sum(counts))
    return Tokens(source=TokenSource.NONE, per_question=None, total=None)
