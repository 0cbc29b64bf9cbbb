"""Graders of the trials of use. They read the observation that memeval wrote, and need no judge."""

import math
import statistics
from collections.abc import Callable, Sequence

from memeval.benchmarks.operations.grading import Judged, Metrics, TrialGrader
from memeval.records.trials_of_use import ApartObservation, FreshnessObservation, GrowthObservation, Point


def _fresh(seen: FreshnessObservation) -> Judged:
    """Pass a trial in which the first search shows every change."""
    count = seen.acknowledged
    if not seen.opened:
        return False, f"A second process was refused: {seen.error}", {"refused": 1.0}
    if not count:
        return False, f"No change was acknowledged: {seen.error}", {"refused": 0.0}
    lags = [*[0.0] * seen.at_once, *seen.lags]
    metrics: Metrics = {
        "at_once": seen.at_once / count,
        "lag_p50": _quantile(lags, count, 0.5),
        "lag_p95": _quantile(lags, count, 0.95),
        "never": seen.never / count,
        "refused": 0.0,
    }
    reason = f"{seen.at_once} of {count} changes showed at once, {len(seen.lags)} later, {seen.never} never."
    return seen.is_fresh, reason if seen.error is None else f"{reason} {seen.error}", metrics


def _users_apart(seen: ApartObservation) -> Judged:
    """Pass a trial in which every text is there once, and nobody finds a text of another user."""
    if not seen.opened:
        return False, f"A second process was refused: {seen.error}", {"refused": 1.0}
    way = "with a bank for each user" if seen.banks else "with the name of the user before each text"
    metrics: Metrics = {
        "lost": seen.lost / max(seen.acknowledged, 1),
        "doubled": seen.doubled / max(seen.acknowledged, 1),
        "foreign": seen.foreign_searches / max(seen.searches, 1),
        "foreign_first": seen.foreign_first / max(seen.searches, 1),
        "failed_calls": seen.errors / max(seen.written, 1),
        "calls_in_flight": float(seen.in_flight),
        "separates": float(seen.banks),
        "refused": 0.0,
    }
    reason = (
        f"{seen.acknowledged} of {seen.written} texts were acknowledged, {way}; {seen.lost} lost, {seen.doubled} "
        f"doubled. {seen.foreign_searches} of {seen.searches} searches returned texts of others. "
        f"Errors: {seen.errors}."
    )
    return seen.is_apart, reason if seen.error is None else f"{reason} {seen.error}", metrics


def _grown(seen: GrowthObservation) -> Judged:
    """Pass a trial in which the store grows to the largest size. Its times are not part of the score."""
    if not seen.points or not seen.control:
        return False, f"Nothing was measured: {seen.stopped}", {}
    ours, theirs = seen.points[-1], seen.control[-1]
    metrics: Metrics = {
        "size": float(ours.size),
        "search_ratio": ours.search_seconds / theirs.search_seconds,
        "write_ratio": ours.write_seconds / theirs.write_seconds,
        "start_ratio": ours.start_seconds / theirs.start_seconds,
        "memory_ratio": _ratio(ours.memory_bytes, theirs.memory_bytes),
        "disk_ratio": _ratio(ours.disk_bytes, theirs.disk_bytes),
        "disk_each": ours.disk_bytes / ours.size,
        "memory_each": _each(seen.points),
        "search_exponent": exponent(seen.points, lambda point: point.search_seconds),
        "write_exponent": exponent(seen.points, lambda point: point.write_seconds),
    }
    reason = f"It grew to {ours.size:,} texts." if seen.stopped is None else f"It stopped {seen.stopped}"
    return seen.is_complete, reason, metrics


def exponent(points: Sequence[Point], seconds: Callable[[Point], float]) -> float | None:
    """Return the exponent b of the least squares fit of ``seconds = a * size ** b``; ``None`` for fewer than two sizes.

    0 is a time that does not grow, and 1 one that grows like the number of texts.
    """
    if len({point.size for point in points}) < 2:
        return None
    sizes = [math.log(point.size) for point in points]
    return statistics.linear_regression(sizes, [math.log(seconds(point)) for point in points]).slope


def _each(points: Sequence[Point]) -> float | None:
    """Return how many bytes of memory each further text takes; ``None`` if it was not measured twice."""
    known = [(point.size, point.memory_bytes) for point in points if point.memory_bytes is not None]
    if len(known) < 2 or known[-1][0] == known[0][0]:
        return None
    return max(0.0, (known[-1][1] - known[0][1]) / (known[-1][0] - known[0][0]))


def _ratio(ours: int | None, theirs: int | None) -> float | None:
    return ours / theirs if ours is not None and theirs else None


def _quantile(lags: Sequence[float], count: int, share: float) -> float | None:
    """Return a quantile of the lags in ascending order; ``None`` if that change never showed."""
    place = math.ceil(share * count) - 1
    return lags[place] if place < len(lags) else None


FRESH = TrialGrader("fresh@1", FreshnessObservation, _fresh)
USERS_APART = TrialGrader("users-apart@1", ApartObservation, _users_apart)
GROWN = TrialGrader("grown@1", GrowthObservation, _grown)
