"""What a benchmark shows beside its scores: how wrong ratings are, how searches slow down, what length does to a score.

A study is drawn where a benchmark's runs have what it is made of, and nowhere else: none is of a benchmark by name.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy

from memeval.benchmarks.beliefs.fresh.editions import editions
from memeval.leaderboard.board import Row, Table
from memeval.leaderboard.pairing import Pair, apart_and_shared, old_and_fresh
from memeval.records.run import SystemKind
from memeval.site import text
from memeval.site.figures import Figure, figure
from memeval.site.model import BenchmarkView, SiteModel
from memeval.site.study_charts import Ends, Knot, Slice, curves, parts, two_looks
from memeval.site.urls import segment

BANK_SIZE, IN_FLIGHT = "bank size", "in flight"
"""Slices by which searches are timed."""

KNOWN = "beliefs@1"
"""The benchmark that fresh editions are of: its seed is known to everyone."""

BANDS = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
"""Ends of the errors that are told together, as shares of the largest there can be."""

NO_ANSWER = "none"
"""What is told of items without an error: nothing could be read, or the system failed."""


@dataclass(frozen=True)
class Study:
    """A chart, what it says, and the same as a table."""

    figure: Figure
    says: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def studies(site: SiteModel, benchmark: BenchmarkView) -> tuple[Study, ...]:
    """Return what a benchmark's runs show beside their scores."""
    return tuple(study for make in STUDIES for study in make(site, benchmark))


def _errors(site: SiteModel, benchmark: BenchmarkView) -> Iterator[Study]:
    """Yield, per track whose protocol names such a metric, how large the errors are."""
    for table in benchmark.tables:
        protocol = benchmark.protocol(table.track)
        metric = benchmark.metric(protocol.spread) if protocol and protocol.spread else None
        if metric is None or metric.high is None:
            continue
        ends = [share * metric.high for share in BANDS]
        names = [*(f"up to {end:g}" for end in ends), f"more than {ends[-1]:g}", NO_ANSWER]
        told = [(row, _bands(row, metric.name, ends)) for row in table.rows if row.folder.has_rows]
        if not told:
            continue
        slices = [
            Slice(_name(row), name, share) for row, found in told for name, share in zip(names, found, strict=True)
        ]
        title = f"{metric.title} under {table.track.protocol} by size, reader {table.track.reader}"
        says = "Shares of the items by the size of the error, a bar a system."
        yield Study(
            figure(parts(f"errors-{table.track.id}", title, says, slices)),
            "How far off each system is, as shares of all planned items. An item without an answer that can be read "
            "has no error, and is told apart: it is not an error of any size.",
            ("System", *names),
            tuple((_name(row), *(text.percent(share) for share in found)) for row, found in told),
        )


def _bands(row: Row, metric: str, ends: Sequence[float]) -> list[float]:
    """Return the shares of the planned items by the size of their error, and last of those without one."""
    planned = row.run.track.planned
    counts = [0] * (len(ends) + 2)
    for grade in row.folder.grades():
        error = grade.metrics.get(metric)
        if error is not None and not grade.state.is_error:
            counts[bisect_left(ends, error)] += 1
    counts[-1] = planned - sum(counts)
    return [count / planned if planned else 0.0 for count in counts]


def _latency(site: SiteModel, benchmark: BenchmarkView) -> Iterator[Study]:
    """Yield, per track whose searches are told by the size of a bank, how long they take as it grows."""
    for table in benchmark.tables:
        timed = [(row, found) for row in table.rows if row.folder.has_rows and (found := _timed(row))]
        if not timed:
            continue
        knots, rows = [], []
        for row, found in timed:
            slopes = _slopes(found)
            for (size, flight), seconds in sorted(found.items()):
                median, tail = (float(each) for each in numpy.percentile(seconds, (50, 95)))
                control = row.run.system.kind is SystemKind.CONTROL
                knots.append(Knot(_name(row), size, max(1000 * median, 1e-3), control, f"{flight} in flight"))
                rows.append(
                    (
                        *(_name(row), str(size), str(flight), str(len(seconds))),
                        *(text.seconds(median), text.seconds(tail), slopes.get(flight, text.ABSENT)),
                    )
                )
        title = "Median time of a search by size of the bank"
        axes = ("texts in the bank", "milliseconds")
        yield Study(
            figure(
                curves(
                    f"latency-{table.track.id}",
                    f"{title}, {table.track.protocol}",
                    "Median milliseconds of a search against texts in a bank, a line a system, a panel for each number "
                    "of searches on their way at once.",
                    knots,
                    axes,
                    shares=False,
                )
            ),
            "Time from sending a search to its reply, waiting behind others on their way included, on the machine that "
            "made the run. Only lines of one machine can be compared.",
            (
                *("System", "Texts in the bank", "In flight", "Searches"),
                *("Median", "95th percentile", "Median, per doubling"),
            ),
            tuple(rows),
        )


def _slopes(found: dict[tuple[int, int], list[float]]) -> dict[int, str]:
    """Return, by searches in flight, what a doubling of the bank adds to their median: a least-squares line."""
    told = {}
    for flight in {flight for _, flight in found}:
        points = sorted(
            (size, float(numpy.median(seconds))) for (size, each), seconds in found.items() if each == flight
        )
        if len(points) > 1:
            sizes, medians = numpy.log2([size for size, _ in points]), [median for _, median in points]
            slope = float(numpy.polyfit(sizes, medians, 1)[0])
            told[flight] = ("−" if slope < 0 else "+") + text.seconds(abs(slope))
    return told


def _timed(row: Row) -> dict[tuple[int, int], list[float]]:
    """Return the seconds of a run's searches by the size of the bank and by how many were on their way."""
    if not any(found.slice == BANK_SIZE for found in row.run.scores.slices):
        return {}
    places = {
        grade.item_id: (int(grade.slices[BANK_SIZE]), int(grade.slices.get(IN_FLIGHT, "1")))
        for grade in row.folder.grades()
        if grade.slices.get(BANK_SIZE, "").isdecimal() and grade.slices.get(IN_FLIGHT, "1").isdecimal()
    }
    found: dict[tuple[int, int], list[float]] = defaultdict(list)
    for response in row.folder.responses():
        if response.item_id in places and response.timings.search_seconds is not None:
            found[places[response.item_id]].append(response.timings.search_seconds)
    return dict(found)


def _sizes(site: SiteModel, benchmark: BenchmarkView) -> Iterator[Study]:
    """Yield, where tiers differ in the length of their histories, what length does to each system's score."""
    tokens = {tier.name: tier.tokens for tier in benchmark.info.tiers if tier.tokens} if benchmark.info else {}
    alike: dict[tuple[object, ...], list[Table]] = defaultdict(list)
    for table in benchmark.tables:
        if table.track.tier in tokens:
            track = table.track
            alike[track.protocol, track.reader, track.judge, track.judge_endpoint, str(dict(track.parameters))].append(
                table
            )
    for number, tables in enumerate(alike.values(), start=1):
        knots, rows = [], []
        for table in sorted(tables, key=lambda each: tokens[each.track.tier] or 0):
            size = tokens[table.track.tier] or 0
            for row in table.rows:
                composite = row.run.scores.composite
                if composite.value is None:
                    continue
                control = row.run.system.kind is SystemKind.CONTROL
                knots.append(Knot(_name(row), size, composite.value, control))
                interval = composite.interval
                within = f"{text.percent(interval.low)}–{text.percent(interval.high)}" if interval else text.ABSENT
                rows.append((_name(row), text.count(size), text.percent(composite.value), within))
        if len({knot.x for knot in knots}) < 2:
            continue
        track = tables[0].track
        title = f"Score against length of history, reader {track.reader}, judge {track.judge}"
        yield Study(
            figure(
                curves(
                    f"sizes-{segment(benchmark.id)}-{number}",
                    title,
                    "Composite against tokens of history, a line a system.",
                    knots,
                    ("tokens of history", "composite"),
                    shares=True,
                )
            ),
            "The same questions at every length: only what lies between the facts grows. Each length is a track of its "
            "own, so a line shows one system against itself, and the lines are no ranking.",
            ("System", "Tokens of history", "Composite %", "95 % interval"),
            tuple(rows),
        )


def _seeds(site: SiteModel, benchmark: BenchmarkView) -> Iterator[Study]:
    """Yield each edition of a fresh seed that the benchmark is, or has, beside the known one."""
    for edition in editions().editions:
        if benchmark.id in (KNOWN, edition.id):
            says = (
                "What a system has of the seed that everyone knows, and of one that nobody could know when the edition "
                "was announced. A fall beyond the intervals means that it was tuned to the known questions."
            )
            found = old_and_fresh(site.board, KNOWN, edition.id)
            yield from _looks(
                f"fresh-{segment(edition.id)}", "Known seed against fresh", says, found, ("known", "fresh")
            )


def _memories(site: SiteModel, benchmark: BenchmarkView) -> Iterator[Study]:
    """Yield memories apart beside one memory for all, where the benchmark has both."""
    says = (
        "The same questions with a memory for each, and with one live memory for everyone. The first is over the "
        "categories of the second."
    )
    found = apart_and_shared(site.board, benchmark.id)
    yield from _looks(f"shared-{segment(benchmark.id)}", "Memories apart against one", says, found, ("apart", "shared"))


def _looks(name: str, title: str, says: str, pairs: Sequence[Pair], names: tuple[str, str]) -> Iterator[Study]:
    if not pairs:
        return
    labels = [f"{_name(pair.second)}, {pair.second.run.track.reader}" for pair in pairs]
    ends = [Ends(label, p.first_value, p.second_value) for label, p in zip(labels, pairs, strict=True)]
    chart = two_looks(name, title, f"Composite {names[0]} and {names[1]}, a line a system.", ends, names)
    rows = (
        (
            label if pair.same_version else f"{label} (of two versions)",
            text.percent(pair.first_value),
            text.percent(pair.second_value),
            text.signed_percent(pair.difference),
        )
        for label, pair in zip(labels, pairs, strict=True)
    )
    columns = ("System, reader", f"{names[0].capitalize()} %", f"{names[1].capitalize()} %", "Difference")
    yield Study(figure(chart), says, columns, tuple(rows))


def _name(row: Row) -> str:
    return row.run.system.name


STUDIES: tuple[Callable[[SiteModel, BenchmarkView], Iterable[Study]], ...] = (
    *(_errors, _latency, _sizes, _memories, _seeds),
)
"""All studies, in the order they stand on a page."""
