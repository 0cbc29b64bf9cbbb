"""What should make a reader doubt a row, seen in the stored figures alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memeval.leaderboard.board import NO_MEMORY, Row, Table
from memeval.records.run import Run, SystemKind, TokenSource, View
from memeval.site.model import BenchmarkView, SiteModel

MOST = 0.8
"""A system that hands over at least this share of the history's tokens retrieves nothing to speak of."""

FULL_CONTEXT = "full-context"
"""The control whose context is the history."""


@dataclass(frozen=True)
class Mark:
    """A reason for doubt."""

    name: str
    """What stands beside the system's name."""
    sentence: str
    """What was seen."""


def marks(site: SiteModel, table: Table, row: Row) -> tuple[Mark, ...]:
    """Return what should make a reader doubt a run.

    Args:
        site: all runs; the history's tokens are those of the full-context control on the same items.
        table: the run's track.
        row: the run.
    """
    benchmark = site.benchmark_of(row.run.track)
    found = [*_over_ceiling(benchmark, row.run), *_full_context(site, row.run)]
    if row.run.system.kind is not SystemKind.CONTROL and row.run.coverage.full:
        found += _under_no_memory(benchmark, table, row.run)
    return tuple(found)


def _over_ceiling(benchmark: BenchmarkView, run: Run) -> Iterator[Mark]:
    """Yield a mark where a category scores higher than its published answers are right: they may have leaked.

    A sample may hold none of the answers that are wrong, and what was retrieved is not measured by them.
    """
    protocol = benchmark.protocol(run.track)
    if run.track.sample is not None or (protocol is not None and protocol.reader is not None):
        return
    over = [
        benchmark.category_title(category.name)
        for category in run.scores.categories
        if (most := benchmark.ceiling(category.name)) is not None and (category.tally.accuracy or 0.0) > most
    ]
    if over:
        yield Mark(
            "over-ceiling",
            f"It scores more than can be earned in {_listed(over)}, where some published answers are known to be "
            "wrong: they may have leaked.",
        )


def _full_context(site: SiteModel, run: Run) -> Iterator[Mark]:
    """Yield a mark where a system that is not the control sends nearly all there is."""
    sent = run.tokens.per_question
    if sent is None or run.tokens.source is not TokenSource.MEASURED or _is_control(run, FULL_CONTEXT):
        return
    wholes = [
        other.run.tokens.per_question
        for other in site.board.runs
        if _is_control(other.run, FULL_CONTEXT)
        and other.run.system.view is View.ALL
        and other.run.coverage.full
        and _items(other.run) == _items(run)
        and other.run.tokens.per_question
    ]
    whole = max((each for each in wholes if each), default=None)
    if whole is not None and sent >= MOST * whole:
        yield Mark(
            FULL_CONTEXT,
            f"It sends {100 * sent / whole:.0f} % of the history's tokens with each question: little is chosen.",
        )


def _under_no_memory(benchmark: BenchmarkView, table: Table, run: Run) -> Iterator[Mark]:
    """Yield a mark where a category is below what the control that keeps nothing scores on the same track."""
    nothing = next((other.run for other in table.rows if _is_control(other.run, NO_MEMORY)), None)
    floor = {} if nothing is None else {c.name: c.tally.accuracy for c in nothing.scores.categories}
    under = [
        benchmark.category_title(category.name)
        for category in run.scores.categories
        if category.tally.accuracy is not None and category.tally.accuracy < (floor.get(category.name) or 0.0)
    ]
    if under:
        yield Mark(
            "adapter suspect",
            f"It scores less than the control that keeps nothing in {_listed(under)}: the adapter may be broken.",
        )


def _is_control(run: Run, slug: str) -> bool:
    return run.system.kind is SystemKind.CONTROL and run.system.slug == slug


def _items(run: Run) -> tuple[object, ...]:
    track = run.track
    return track.benchmark, track.data_digest, track.tier, track.sample, track.planned


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
