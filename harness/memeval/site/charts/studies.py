"""Further results of a benchmark: size of errors, search latency by bank size, score and latency by length of history,
the order by answers and by retrieval, and what its catalogue declares.

There is a study if the runs hold the data for it; none depends on the name of a benchmark.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy

from memeval.leaderboard.answer_order import compared_orders
from memeval.leaderboard.board import BoardRow, BoardTable
from memeval.leaderboard.pairing import TrackPair, apart_and_shared, old_and_fresh
from memeval.records.benchmark import ChartInfo, ChartKind, MetricInfo
from memeval.records.call import Phase
from memeval.site.charts.charts import Chart
from memeval.site.charts.study_charts import DeclaredMark, declared
from memeval.site.model import text
from memeval.site.model.content import BenchmarkView, SiteModel, judge_label
from memeval.site.model.labels import reader_label, slice_label
from memeval.site.table.columns import overall
from memeval.statistics.flips import TOLERANCE

PUBLISHED = "published"
"""Addition to the names of published values, so that nobody takes them for runs."""


@dataclass(frozen=True)
class DrawnChart:
    info: ChartInfo
    name: str
    """Its name in addresses."""
    title: str
    marks: tuple[DeclaredMark, ...]
    is_share: bool

    @property
    def axis(self) -> tuple[str, ...]:
        """The values of the horizontal axis; empty for bars."""
        return self.info.values

    def write(self, value: float | None) -> str:
        if value is None:
            return text.ABSENT
        return f"{text.percent(value)} %" if self.is_share else f"{value:g}"

    def table(self) -> tuple[tuple[str, ...], ...]:
        names = dict.fromkeys(mark.label for mark in self.marks)
        found = {(mark.label, mark.at): mark.value for mark in self.marks}
        return tuple((name, *(self.write(found.get((name, at))) for at in self.axis or ("",))) for name in names)


def declared_charts(benchmark: BenchmarkView) -> Iterator[DrawnChart]:
    """Yield the charts of a catalogue: one for each track with runs, or one of published values alone."""
    info = benchmark.info
    for chart in info.charts if info is not None else ():
        metric = benchmark.metric(chart.metric) if chart.metric else None
        tables = [table for table in benchmark.tables if chart.protocol in (None, table.track.protocol)]
        drawn = 0
        for table in tables:
            marks = [mark for row in table.rows for mark in _marks(row, chart, metric)]
            if not marks:
                continue
            drawn += 1
            if table.track.tier == "full":
                marks += _published(chart)
            name, title = f"{chart.name}-{table.track.id}", f"{chart.title}: {benchmark.track_title(table.track)}"
            yield DrawnChart(chart, name, title, tuple(_sorted(marks, chart, metric)), _is_share(metric))
        if not drawn and chart.published:
            name, marks = f"{chart.name}-published", _published(chart)
            yield DrawnChart(chart, name, chart.title, tuple(_sorted(marks, chart, metric)), _is_share(metric))


def _is_share(metric: MetricInfo | None) -> bool:
    return metric is None or (metric.low, metric.high) == (0, 1)


def _sorted(marks: Sequence[DeclaredMark], chart: ChartInfo, metric: MetricInfo | None) -> list[DeclaredMark]:
    """Return the marks, the best bar first; lines in the order of the board."""
    if chart.kind is ChartKind.LINE:
        return list(marks)
    up = metric is not None and metric.direction == "lower"
    return sorted(marks, key=lambda mark: mark.value if up else -mark.value)


def _published(chart: ChartInfo) -> list[DeclaredMark]:
    return [
        DeclaredMark(f"{each.name} ({PUBLISHED})", each.at or "", each.value, PUBLISHED) for each in chart.published
    ]


def _marks(row: BoardRow, chart: ChartInfo, metric: MetricInfo | None) -> Iterator[DeclaredMark]:
    """Yield the values of a run; none that the run lacks."""
    kind = "control" if row.is_control else "system"
    if chart.kind is ChartKind.BARS:
        value = row.score if metric is None else overall(row, metric)
        if value is not None:
            yield DeclaredMark(row.run.system.name, "", value, kind)
        return
    for at in chart.values:
        tallies = [
            found.tally
            for found in row.run.scores.slices
            if found.slice == chart.slice and found.value == at and chart.category in (None, found.category)
        ]
        planned = sum(tally.planned for tally in tallies)
        if planned:
            right = sum(tally.correct if tally.points is None else tally.points for tally in tallies)
            yield DeclaredMark(row.run.system.name, at, right / planned, kind)


BANK_SIZE, IN_FLIGHT = "bank size", "in flight"
"""Slices by which search latency is grouped."""

BANDS = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
"""Upper ends of the groups of errors, as shares of the largest possible error."""

NO_ANSWER = "no readable answer"
"""Group of the items whose answer could not be read, or that failed."""


@dataclass(frozen=True)
class Study:
    title: str
    says: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figure: Chart | None = None
    """The chart that a catalogue declares."""


def studies(site: SiteModel, benchmark: BenchmarkView) -> tuple[Study, ...]:
    return tuple(study for make in STUDIES for study in make(site, benchmark))


def _errors(site: SiteModel, benchmark: BenchmarkView) -> Iterator[Study]:
    """Yield the size of errors, for each track whose protocol names such a metric."""
    for table in benchmark.tables:
        protocol = benchmark.protocol(table.track)
        metric = benchmark.metric(protocol.spread) if protocol and protocol.spread else None
        if metric is None or metric.high is None:
            continue
        ends = [share * metric.high for share in BANDS]
        names = [*(f"up to {end:g}" for end in ends), f"more than {ends[-1]:g}", NO_ANSWER]
        measured = [(row, _bands(row, metric.name, ends)) for row in table.rows if row.folder.has_rows]
        if not measured:
            continue
        yield Study(
            f"{metric.title} by size: {benchmark.track_title(table.track)}",
            "Size of the errors of each system, as shares of all planned items. Items without a readable answer have a "
            "group of their own.",
            ("System", *names),
            tuple((row.run.system.name, *(text.percent(share) for share in found)) for row, found in measured),
        )


def _bands(row: BoardRow, metric: str, ends: Sequence[float]) -> list[float]:
    """Return the share of planned items in each group of errors; the last is that of items without an error."""
    planned = row.run.track.planned
    counts = [0] * (len(ends) + 2)
    for grade in row.folder.grades():
        error = grade.metrics.get(metric)
        if error is not None and not grade.state.is_error:
            counts[bisect_left(ends, error)] += 1
    counts[-1] = planned - sum(counts)
    return [count / planned if planned else 0.0 for count in counts]


def _latency(site: SiteModel, benchmark: BenchmarkView) -> Iterator[Study]:
    """Yield the search latency by bank size, for each track that records it."""
    for table in benchmark.tables:
        timed = [(row, found) for row in table.rows if row.folder.has_rows and (found := _timed(row))]
        if not timed:
            continue
        rows = []
        for row, found in timed:
            slopes = _slopes(found)
            for (size, flight), seconds in sorted(found.items()):
                median, tail = (float(each) for each in numpy.percentile(seconds, (50, 95)))
                counts = str(size), str(flight), str(len(seconds))
                slope = slopes.get(flight, text.ABSENT)
                rows.append((row.run.system.name, *counts, text.seconds(median), text.seconds(tail), slope))
        yield Study(
            f"Median search latency by bank size, {table.track.protocol}",
            "Time from sending a search to its reply, including waiting for other searches. Compare only systems that "
            "ran on the same machine.",
            (
                *("System", "Texts in the bank", "Concurrency", "Searches"),
                *("Median", "95th percentile", "Change per doubling"),
            ),
            tuple(rows),
        )


def _slopes(found: dict[tuple[int, int], list[float]]) -> dict[int, str]:
    """Return, by concurrency, the change of the median when the bank doubles (least-squares line)."""
    slopes = {}
    for flight in {flight for _, flight in found}:
        points = sorted(
            (size, float(numpy.median(seconds))) for (size, each), seconds in found.items() if each == flight
        )
        if len(points) > 1:
            sizes, medians = numpy.log2([size for size, _ in points]), [median for _, median in points]
            slope = float(numpy.polyfit(sizes, medians, 1)[0])
            slopes[flight] = ("−" if slope < 0 else "+") + text.seconds(abs(slope))
    return slopes


def _timed(row: BoardRow) -> dict[tuple[int, int], list[float]]:
    """Return the seconds of the searches of a run, by bank size and concurrency."""
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
    """Yield the score and the answer latency by length of history, if tiers differ in it."""
    tokens = {tier.name: tier.tokens for tier in benchmark.info.tiers if tier.tokens} if benchmark.info else {}
    alike: dict[tuple[object, ...], dict[int, BoardTable]] = defaultdict(dict)
    for table in benchmark.tables:
        if (size := tokens.get(table.track.tier)) is not None:
            track = table.track
            key = track.protocol, track.reader, track.judge, track.judge_endpoint, str(dict(track.parameters))
            alike[key][size] = table
    for tables in alike.values():
        if rows := _of_several_lengths(tables):
            yield _scores_by_length(rows)
            yield from _latencies_by_length(rows)


def _of_several_lengths(tables: Mapping[int, BoardTable]) -> list[tuple[int, BoardRow]]:
    """Return the rows of systems that ran at several lengths, each with its tokens of history, the shortest first."""
    rows = [(size, row) for size in sorted(tables) for row in tables[size].rows if row.score is not None]
    lengths = Counter(row.run.system.slug for _, row in rows)
    return [(size, row) for size, row in rows if lengths[row.run.system.slug] > 1]


def _scores_by_length(found: Sequence[tuple[int, BoardRow]]) -> Study:
    rows = []
    for size, row in found:
        composite = row.run.scores.composite
        interval = composite.interval
        within = f"{text.percent(interval.low)}–{text.percent(interval.high)}" if interval else text.ABSENT
        rows.append((row.run.system.name, text.count(size), text.percent(composite.value), within))
    return Study(
        f"Score by length of history: {_settings(found[0][1])}",
        "The questions are the same at every length; only the unrelated talk grows. Each length is its own track: "
        "compare a system with itself, not with others.",
        ("System", "Tokens of history", "Composite %", "95 % interval"),
        tuple(rows),
    )


def _latencies_by_length(found: Sequence[tuple[int, BoardRow]]) -> Iterator[Study]:
    rows = []
    for size, row in found:
        phases = row.run.timing.phases
        answer = phases.get(Phase.ASK) or phases.get(Phase.SEARCH)
        ingest = phases.get(Phase.INGEST)
        if answer is None or answer.p50 is None:
            continue
        took = text.ABSENT if ingest is None else text.seconds(ingest.total)
        answered = text.seconds(answer.p50), text.seconds(answer.p95)
        rows.append((row.run.system.name, text.count(size), *answered, took, str(row.run.timing.concurrency)))
    if len({size for _name, size, *_others in rows}) < 2:
        return
    yield Study(
        f"Answer latency by length of history: {_settings(found[0][1])}",
        "Median time from a question to the end of its reply. With a fixed reader: time of the search. Compare only "
        "runs of one machine, at the same concurrency.",
        ("System", "Tokens of history", "Median", "95th percentile", "Ingest time, summed", "Concurrency"),
        tuple(rows),
    )


def _settings(row: BoardRow) -> str:
    return f"{reader_label(row.run.track.reader)}, {judge_label(row.run.track)}"


def _seeds(site: SiteModel, benchmark: BenchmarkView) -> Iterator[Study]:
    """Yield the scores on the public seed beside those on each fresh edition of the benchmark."""
    for other in site.benchmarks.values():
        known = other.info.seed_of if other.info is not None else None
        if known is not None and benchmark.id in (known, other.id):
            says = (
                "Score with the public seed, and with a seed that was drawn after the edition was announced. A drop "
                "larger than the intervals suggests that the system was tuned to the public questions."
            )
            found = old_and_fresh(site.board, known, other.id)
            yield from _looks("Public seed against fresh seed", says, found, ("public", "fresh"))


def _memories(site: SiteModel, benchmark: BenchmarkView) -> Iterator[Study]:
    """Yield the scores with separate memories beside those with one shared memory, if the benchmark has both."""
    says = (
        "The same questions with a separate memory for each item, and with one shared memory. Both scores cover the "
        "same categories."
    )
    found = apart_and_shared(site.board, benchmark.id)
    yield from _looks("Separate memories against one shared memory", says, found, ("separate", "shared"))


def _looks(title: str, says: str, pairs: Sequence[TrackPair], names: tuple[str, str]) -> Iterator[Study]:
    if not pairs:
        return
    labels = [f"{pair.second.run.system.name}: {reader_label(pair.second.run.track.reader)}" for pair in pairs]
    rows = (
        (
            label if pair.same_version else f"{label} (two versions)",
            text.percent(pair.first_value),
            text.percent(pair.second_value),
            text.signed_percent(pair.difference),
        )
        for label, pair in zip(labels, pairs, strict=True)
    )
    columns = ("System", f"{names[0].capitalize()} %", f"{names[1].capitalize()} %", "Difference")
    yield Study(title, says, columns, tuple(rows))


def _orders(site: SiteModel, benchmark: BenchmarkView) -> Iterator[Study]:
    """Yield the scores of answers beside those of retrieval, for each reader whose systems have both."""
    for found in compared_orders(benchmark.tables):
        agreement = found.agreement
        if agreement is None:
            tau = "Kendall’s τ is undefined: all systems have the same score in one of them."
        else:
            tau = f"Kendall’s τ of the two orders is {text.number(agreement.tau)}"
            if agreement.low is not None and agreement.high is not None:
                tau += f" (95 % interval {text.number(agreement.low)} to {text.number(agreement.high)})"
            tau += "; 1 is the same order, 0 no relation."
        answers, retrieval = ([getattr(each, name) for each in found.systems] for name in ("answers", "retrieval"))
        yield Study(
            f"Answers and retrieval: {benchmark.track_title(found.answers.track)}",
            f"Are systems that find more evidence also those whose answers are better? Both scores are over the same "
            f"{found.items} items. Retrieval: {benchmark.track_title(found.retrieval.track)}. {tau} "
            "Systems that found no evidence at all are left out.",
            ("System", "Answers %", "Place by answers", "Retrieval %", "Place by retrieval"),
            tuple(
                (
                    *(each.row.run.system.name, text.percent(each.answers), _place(each.answers, answers)),
                    *(text.percent(each.retrieval), _place(each.retrieval, retrieval)),
                )
                for each in found.systems
            ),
        )


def _place(score: float, scores: Sequence[float]) -> str:
    """Return the place of a score, the highest first; equal scores share a place."""
    return str(1 + sum(other > score + TOLERANCE for other in scores))


def _declared(site: SiteModel, benchmark: BenchmarkView) -> Iterator[Study]:
    for drawn in declared_charts(benchmark):
        info = drawn.info
        metric = benchmark.metric(info.metric) if info.metric else None
        heading = slice_label(info.slice).title if info.slice else metric.title if metric else "Composite score"
        chart = declared(drawn.name, drawn.title, info.meaning, drawn.marks, (heading, drawn.axis), drawn.is_share)
        says = f"{info.meaning} Published values: {info.origin}" if info.published else info.meaning
        yield Study(drawn.title, says, ("System", *(drawn.axis or (heading,))), drawn.table(), chart)


STUDIES: tuple[Callable[[SiteModel, BenchmarkView], Iterable[Study]], ...] = (
    *(_declared, _errors, _latency, _sizes, _memories, _seeds, _orders),
)
