"""What a trend shows: the composite, the categories, tokens, dollars and latencies, read from the head of a run."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memeval.records.benchmark import Direction
from memeval.records.call import Phase
from memeval.records.errors import BadInput
from memeval.records.run import Isolation, Run
from memeval.records.scores import Interval

COMPOSITE = "composite"
CATEGORY = "category_"
RANK = "rank"

_QUESTION = (Phase.ASK, Phase.SEARCH)


class Unit(StrEnum):
    SHARE = "share"
    """In [0, 1]."""
    TOKENS = "tokens"
    DOLLARS = "dollars"
    SECONDS = "seconds"
    PLACE = "place"


@dataclass(frozen=True)
class MeasuredValue:
    value: float | None
    low: float | None = None
    """Lower end of its 95 % interval, or of its range; ``None`` without one."""
    high: float | None = None
    note: str | None = None


@dataclass(frozen=True)
class TrendMeasure:
    name: str
    """Its name in files and on the command line; the name of the column in the downloads of a table."""
    title: str
    unit: Unit
    better: Direction
    read: Callable[[Run], MeasuredValue]
    changes: Callable[[Run, Run], tuple[str, ...]] = lambda _before, _after: ()
    """Returns what keeps the values of two runs of one track from being compared, as sentences."""


def run_measures(runs: Iterable[Run]) -> tuple[TrendMeasure, ...]:
    """Return the measures of some runs; the categories in the order of the latest run."""
    names = dict.fromkeys(score.name for run in reversed(list(runs)) for score in run.scores.categories)
    return (_COMPOSITE, *(_category(name) for name in names), *_COSTS)


def named_measure(name: str, measures: Sequence[TrendMeasure]) -> TrendMeasure:
    """Return a measure by its name. A category may stand without its prefix.

    Raises BadInput: there is no such measure.
    """
    for measure in measures:
        if name in (measure.name, measure.name.removeprefix(CATEGORY)):
            return measure
    raise BadInput(
        f"there is no measure {name!r}.", remedy=f"Use one of: {', '.join(measure.name for measure in measures)}."
    )


def finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _with_interval(value: float | None, interval: Interval | None, note: str | None) -> MeasuredValue:
    found = finite(value)
    if found is None:
        return MeasuredValue(None, note=note or "no score")
    return (
        MeasuredValue(found) if interval is None else MeasuredValue(found, finite(interval.low), finite(interval.high))
    )


def _composite(run: Run) -> MeasuredValue:
    composite = run.scores.composite
    return _with_interval(composite.value, composite.interval, composite.reason)


def _category(name: str) -> TrendMeasure:
    def read(run: Run) -> MeasuredValue:
        tally = next((score.tally for score in run.scores.categories if score.name == name), None)
        if tally is None:
            return MeasuredValue(None, note="The run has no such category.")
        return _with_interval(tally.accuracy, tally.interval, None)

    title = name.replace("-", " ").replace("_", " ").capitalize()
    return TrendMeasure(f"{CATEGORY}{name}", title, Unit.SHARE, Direction.HIGHER, read)


def _tokens(run: Run) -> MeasuredValue:
    found = finite(run.tokens.per_question)
    return MeasuredValue(found, note="not counted" if found is None else None)


def _dollars(run: Run) -> MeasuredValue:
    found = finite(run.cost.usd)
    return MeasuredValue(found, note=(run.cost.reason or "unknown") if found is None else None)


def _latency(part: str) -> Callable[[Run], MeasuredValue]:
    def read(run: Run) -> MeasuredValue:
        phases = run.timing.phases
        phase = next((phases[phase] for phase in _QUESTION if phase in phases), None)
        found = finite(getattr(phase, part)) if phase else None
        return MeasuredValue(found, note="not measured" if found is None else None)

    return read


_ISOLATION = {
    Isolation.FILES_REACHABLE: "not sandboxed",
    Isolation.SANDBOXED: "sandboxed",
    Isolation.ELSEWHERE: "unknown (imported)",
}


def price_changes(before: Run, after: Run) -> tuple[str, ...]:
    if before.prices is None or after.prices is None:
        return ()
    return _changed("Price list", before.prices, after.prices)


def token_changes(before: Run, after: Run) -> tuple[str, ...]:
    return _changed("Token counts", before.tokens.source.value, after.tokens.source.value)


def machine_changes(before: Run, after: Run) -> tuple[str, ...]:
    return (
        *_changed("Platform", before.harness.platform, after.harness.platform),
        *_changed("Concurrency", before.timing.concurrency, after.timing.concurrency),
        *_changed("Isolation", _ISOLATION[before.isolation], _ISOLATION[after.isolation]),
    )


def _changed(name: str, old: object, new: object) -> tuple[str, ...]:
    return () if old == new else (f"{name} changed from {old} to {new}.",)


_COMPOSITE = TrendMeasure(COMPOSITE, "Composite score", Unit.SHARE, Direction.HIGHER, _composite)
_COSTS = (
    TrendMeasure(
        "tokens_per_question", "Tokens per question", Unit.TOKENS, Direction.LOWER, _tokens, changes=token_changes
    ),
    TrendMeasure("cost_usd", "Total cost", Unit.DOLLARS, Direction.LOWER, _dollars, changes=price_changes),
    TrendMeasure(
        "ask_p50_seconds",
        "Answer latency (median)",
        Unit.SECONDS,
        Direction.LOWER,
        _latency("p50"),
        changes=machine_changes,
    ),
    TrendMeasure(
        "ask_p95_seconds",
        "Answer latency (p95)",
        Unit.SECONDS,
        Direction.LOWER,
        _latency("p95"),
        changes=machine_changes,
    ),
)
RANK_MEASURE = TrendMeasure(RANK, "Rank in each release", Unit.PLACE, Direction.LOWER, lambda _run: MeasuredValue(None))
