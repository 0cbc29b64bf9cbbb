"""Sums over a run's rows: time by phase, tokens, coverage. Pure functions, so that ``verify`` can do them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

from memeval.records.call import Phase
from memeval.records.response import Response
from memeval.records.run import Percentiles, Tokens, TokenSource


def phases(responses: Iterable[Response]) -> dict[Phase, Percentiles]:
    """Return the time spent by phase; a phase that did not occur is left out."""
    spent: dict[Phase, list[float]] = {phase: [] for phase in Phase}
    for response in responses:
        times = response.timings
        for phase, seconds in (
            (Phase.TAKE_IN, times.take_in_seconds),
            (Phase.SETTLE, times.settle_seconds),
            (Phase.ASK, times.ask_seconds),
            (Phase.READ, times.read_seconds),
        ):
            if seconds is not None:
                spent[phase].append(seconds)
    return {
        phase: Percentiles(
            calls=len(seconds),
            p50=round(percentile(seconds, 0.50), 6),
            p95=round(percentile(seconds, 0.95), 6),
            total=round(sum(seconds), 6),
        )
        for phase, seconds in spent.items()
        if seconds
    }


def percentile(values: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile: the smallest value that at least ``share`` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def tokens(responses: Iterable[Response]) -> Tokens:
    """Return the context tokens of a run: measured where any context came back, else as the system reports."""
    rows = list(responses)
    measured = [float(row.context_tokens) for row in rows if row.context_tokens is not None]
    reported = [row.reported_tokens for row in rows if row.reported_tokens is not None]
    if measured:
        return _tokens(TokenSource.MEASURED, measured)
    if reported:
        return _tokens(TokenSource.SELF_REPORTED, reported)
    return Tokens(source=TokenSource.NONE, per_question=None, total=None)


def _tokens(source: TokenSource, counts: Sequence[float]) -> Tokens:
    return Tokens(source=source, per_question=sum(counts) / len(counts), total=sum(counts))
