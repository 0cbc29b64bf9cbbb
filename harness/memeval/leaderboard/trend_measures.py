"""What a trend shows, read from the head of a run: scores, tokens, dollars, and times as ratios to a control.

An absolute time is no measure of a trend: it says more about the machine than about the version.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memeval.records.benchmark import Direction
from memeval.records.beside import PairedSeconds
from memeval.records.errors import BadInput
from memeval.records.run import Run
from memeval.records.scores import Interval
from memeval.statistics.time_ratios import time_ratio

COMPOSITE = "composite"
CATEGORY = "category_"
SEARCH_RATIO, INGEST_RATIO = "search_ratio", "ingest_ratio"


class Unit(StrEnum):
    SHARE = "share"
    """In [0, 1]."""
    TOKENS = "tokens"
    DOLLARS = "dollars"
    SECONDS = "seconds"
    TIMES = "times"
    """A ratio: how many times as much as the control took."""


@dataclass(frozen=True)
class MeasuredValue:
    value: float | None
    low: float | None = None
    """Lower end of its 95 % interval; ``None`` without one."""
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


def _times_beside(part: str) -> Callable[[Run], MeasuredValue]:
    def read(run: Run) -> MeasuredValue:
        if run.beside is None:
            return MeasuredValue(None, note="no times beside a control")
        pairs: Sequence[PairedSeconds] = getattr(run.beside, part) or run.beside.search
        found = time_ratio([(pair.system, pair.control) for pair in pairs])
        return MeasuredValue(found.value, finite(found.low), finite(found.high))

    return read


def search_changes(before: Run, after: Run) -> tuple[str, ...]:
    if before.beside is None or after.beside is None:
        return ()
    old, new = (
        f"that of {'each question, the shortest' if beside.fastest else 'all questions'}"
        for beside in (before.beside, after.beside)
    )
    return _changed("The time that counts", old, new)


def price_changes(before: Run, after: Run) -> tuple[str, ...]:
    if before.prices is None or after.prices is None:
        return ()
    return _changed("Price list", before.prices, after.prices)


def token_changes(before: Run, after: Run) -> tuple[str, ...]:
    return _changed("Token counts", before.tokens.source.value, after.tokens.source.value)


def _changed(name: str, old: object, new: object) -> tuple[str, ...]:
    return () if old == new else (f"{name} changed from {old} to {new}.",)


_COMPOSITE = TrendMeasure(COMPOSITE, "Composite score", Unit.SHARE, Direction.HIGHER, _composite)
_COSTS = (
    TrendMeasure(
        "tokens_per_question", "Tokens per question", Unit.TOKENS, Direction.LOWER, _tokens, changes=token_changes
    ),
    TrendMeasure("cost_usd", "Total cost", Unit.DOLLARS, Direction.LOWER, _dollars, changes=price_changes),
    TrendMeasure(
        SEARCH_RATIO,
        "Search time against BM25",
        Unit.TIMES,
        Direction.LOWER,
        _times_beside("fastest"),
        changes=search_changes,
    ),
    TrendMeasure(INGEST_RATIO, "Ingest time against BM25", Unit.TIMES, Direction.LOWER, _times_beside("ingest")),
)
