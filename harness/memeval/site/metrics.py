"""The table of columns: what every published row shows. Tables, downloads and charts know no metric by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from memeval.grading.scoring import task_average
from memeval.leaderboard.board import Row, Standing, Table
from memeval.records.benchmark import MetricInfo
from memeval.records.run import Isolation, SystemKind
from memeval.records.scores import CategoryScore, Interval
from memeval.records.track import CategoryPlan, Track
from memeval.site import text
from memeval.site.columns import Column, Direction, Group, Reading
from memeval.site.commands import run_command
from memeval.site.flags import Mark
from memeval.site.measures import overall
from memeval.site.model import BenchmarkView
from memeval.site.spending import SPENDING
from memeval.site.urls import run_url, system_url, track_url

_UNIT = (0.0, 1.0)

Marks = Callable[[Row], tuple[Mark, ...]]
"""Gives what should make a reader doubt a row."""


def columns(table: Table, benchmark: BenchmarkView, marks: Marks) -> tuple[Column, ...]:
    """Return the columns of a track's table, in order.

    Args:
        table: the track and its rows.
        benchmark: its benchmark.
        marks: what should make a reader doubt a row.
    """
    alternates = sorted({name for row in table.rows for name in row.run.scores.alternates})
    described = benchmark.info.alternates if benchmark.info else {}
    return (
        RANK,
        _system_column(marks),
        COMPOSITE,
        GAP,
        *(_alternate(name, described.get(name)) for name in alternates),
        *((TASK_AVERAGE,) if any(plan.shared for plan in table.track.categories) else ()),
        GRADED,
        *(_measure(metric) for metric in benchmark.shown_metrics(table.track)),
        *(_category(plan, benchmark, table.track) for plan in table.track.categories),
        *REST,
    )


# -- standing ----------------------------------------------------------------------------------------------------


def _rank(row: Row) -> Reading:
    if row.rank is None:
        return Reading(None)
    best, worst = row.rank.best, row.rank.worst
    return Reading(float(best), text=str(best) if best == worst else f"{best}–{worst}")


def _system(marks: Marks, row: Row) -> Reading:
    system = row.run.system
    badges: list[tuple[str, str]] = []
    if system.kind is SystemKind.CONTROL:
        badges.append(("control", "control"))
    if row.standing not in (Standing.RANKED, Standing.CONTROL):
        badges.append(("warning", row.standing.value))
    if row.run.imported is not None and row.standing is not Standing.IMPORTED:
        badges.append(("imported", "imported"))
    badges += [("warning", mark.name) for mark in marks(row)]
    if system.label is not None:
        badges.append(("warning", system.label))
    if row.doubtful:
        badges.append(("warning", "no better than no memory"))
    if row.replies:
        badges.append(("note", "the vendor replies"))
    if system.view.value != "all":
        badges.append(("note", f"view: {system.view.value}"))
    return Reading(system.name, badges=tuple(badges), url=system_url(system.slug), note=system.slug)


RANK = Column(
    name="rank",
    title="Rank",
    group=Group.PLACE,
    help="Every rank the data allow: systems whose paired difference is not significant share ranks. "
    "Controls and runs that are partial or over the error gate have none.",
    read=_rank,
    write=text.count,
    direction=Direction.LOWER,
)


def _system_column(marks: Marks) -> Column:
    return Column(
        name="system",
        title="System",
        group=Group.PLACE,
        help="The memory system under test. Controls ship with memeval and calibrate the track. Over-ceiling: a "
        "category scores more than can be earned. Full-context: nearly the whole history is sent with each question. "
        "Adapter suspect: a category scores less than keeping nothing does.",
        read=partial(_system, marks),
    )


# -- scores ------------------------------------------------------------------------------------------------------


def _composite(row: Row) -> Reading:
    composite = row.run.scores.composite
    return Reading(composite.value, note=_range(composite.interval) or composite.reason, interval=composite.interval)


def _alternate_reading(name: str, row: Row) -> Reading:
    composite = row.run.scores.alternates.get(name)
    if composite is None:
        return Reading(None, note="not scored so")
    return Reading(composite.value, note=_range(composite.interval) or composite.reason)


def _alternate(name: str, described: str | None) -> Column:
    return Column(
        name=f"composite_{name}",
        title=name.capitalize(),
        group=Group.SCORE,
        help=described or f"The composite of the same answers under the rule “{name}”.",
        read=partial(_alternate_reading, name),
        write=text.percent,
        direction=Direction.HIGHER,
        range=_UNIT,
        unit="%",
    )


def _graded(row: Row) -> Reading:
    tally = row.run.scores.overall
    return Reading(tally.graded_accuracy, note=f"of {tally.done - tally.errors}")


def _range(interval: Interval | None) -> str | None:
    return f"{text.percent(interval.low)}–{text.percent(interval.high)}" if interval else None


COMPOSITE = Column(
    name="composite",
    title="Composite",
    group=Group.SCORE,
    help="Weighted mean over the categories of what their items earn, over all planned items, with its 95 % interval. "
    "Where categories share the weight, every item counts the same.",
    read=_composite,
    write=text.percent,
    direction=Direction.HIGHER,
    range=_UNIT,
    unit="%",
)
GAP = Column(
    name="gap",
    title="Over blind",
    group=Group.SCORE,
    help="Composite minus that of the best control that knows nothing of the history, in percentage points.",
    read=lambda row: Reading(row.gap, note=None if row.gap is not None else "no blind control"),
    write=text.signed_percent,
    direction=Direction.HIGHER,
    unit="points",
)
GRADED = Column(
    name="graded_accuracy",
    title="Of graded",
    group=Group.SCORE,
    help="Unweighted, over the items that were graded. Errors are left out here, and count as wrong in the composite.",
    read=_graded,
    write=text.percent,
    direction=Direction.HIGHER,
    range=_UNIT,
    unit="%",
)
TASK_AVERAGE = Column(
    name="task_average",
    title="Task average",
    group=Group.SCORE,
    help="Unweighted mean over the categories that count, so that a small one weighs as much as a large one.",
    read=lambda row: Reading(task_average(row.run.scores)),
    write=text.percent,
    direction=Direction.HIGHER,
    range=_UNIT,
    unit="%",
)


def _measure(metric: MetricInfo) -> Column:
    """Return the column of a metric that the benchmark tells in its own unit, whichever way it is better."""
    bounded = metric.low is not None and metric.high is not None and not metric.root
    return Column(
        name=f"metric_{metric.name}",
        title=metric.title,
        group=Group.SCORE,
        help=f"{metric.meaning} Mean over the items that have it; {metric.direction.value} is better.",
        read=lambda row: Reading(overall(row, metric)),
        write=partial(text.number, digits=3),
        direction=Direction(metric.direction.value),
        range=(metric.low or 0.0, metric.high or 0.0) if bounded else None,
    )


def _category_reading(name: str, row: Row) -> Reading:
    found: CategoryScore | None = next((c for c in row.run.scores.categories if c.name == name), None)
    if found is None:
        return Reading(None, note="absent")
    return Reading(found.tally.accuracy, note=text.fraction(found.tally), interval=found.tally.interval)


def _category(plan: CategoryPlan, benchmark: BenchmarkView, track: Track) -> Column:
    title = benchmark.category_title(plan.name)
    weight = f"{text.percent(plan.weight, 0)} % of the composite" if plan.weight else "no part of the composite"
    return Column(
        name=f"category_{plan.name}",
        title=title,
        group=Group.CATEGORIES,
        help=f"{benchmark.headline(track)} in “{title}”: {plan.items} items, {weight}, graded by {plan.grader}.",
        read=partial(_category_reading, plan.name),
        write=text.percent,
        direction=Direction.HIGHER,
        range=_UNIT,
        unit="%",
        shaded=True,
    )


# -- the rest ----------------------------------------------------------------------------------------------------


def _coverage(row: Row) -> Reading:
    coverage = row.run.coverage
    share = coverage.done / coverage.planned if coverage.planned else 0.0
    return Reading(share, text=f"{coverage.done}/{coverage.planned}", note=f"tier {row.run.track.tier}")


def _errors(row: Row) -> Reading:
    return Reading(row.error_rate, note=f"{row.run.scores.overall.errors} items")


def _answers(row: Row) -> Reading:
    answers = row.trust.answers.value
    mark = () if row.accepted else (("warning", "not accepted"),)
    return Reading(answers, badges=((answers, answers), *mark))


def _isolation(row: Row) -> Reading:
    isolation, network = row.run.isolation, row.run.network
    kind = "good" if isolation is Isolation.SANDBOXED else "warning"
    return Reading(isolation.value, badges=((kind, isolation.value),), note=f"network: {network.value}")


REST = (
    Column(
        name="coverage",
        title="Items",
        group=Group.WHOLE,
        help="Items with a grade over items planned in the tier. Below full coverage a run is partial and has no rank.",
        read=_coverage,
        direction=Direction.HIGHER,
    ),
    Column(
        name="context_source",
        title="Context from",
        group=Group.WHOLE,
        help="What answers were drawn from: the evidence sessions alone, the whole history, what the system retrieved "
        "and the track’s reader read, whatever the system drew on by itself, or nothing.",
        read=lambda row: Reading(row.run.context_source.value),
    ),
    Column(
        name="error_rate",
        title="Errors",
        group=Group.WHOLE,
        help="Share of planned items without a grade because the system, its reader or the judge failed. They count "
        "as wrong; above 2 % a run is not ranked.",
        read=_errors,
        write=text.percent,
        direction=Direction.LOWER,
        unit="%",
    ),
    Column(
        name="false_hedge_rate",
        title="False hedges",
        group=Group.WHOLE,
        help="Share of graded answers to plainly answerable questions that hedge: what doubting everything costs.",
        read=lambda row: Reading(row.run.scores.false_hedge_rate),
        write=text.percent,
        direction=Direction.LOWER,
        unit="%",
    ),
    Column(
        name="trust_grades",
        title="Grades",
        group=Group.TRUST,
        help="Claimed: as the run says. Recomputed: graded again here from the stored answers, with the same result.",
        read=lambda row: Reading(row.trust.grades.value, badges=((row.trust.grades.value, row.trust.grades.value),)),
        write=lambda _value: "",
    ),
    Column(
        name="trust_answers",
        title="Answers",
        group=Group.TRUST,
        help="Who made the answers: imported, the submitter, a maintainer, or two independent runs. Controls stand "
        "apart. Not accepted: no maintainer has accepted the run.",
        read=_answers,
        write=lambda _value: "",
    ),
    Column(
        name="isolation",
        title="Isolation",
        group=Group.TRUST,
        help="What the system could reach while it ran. Sandboxed: nothing of the machine but the programs it needs. "
        "Files reachable: no sandbox held it, and such a run cannot become repeated. Below: what of the network.",
        read=_isolation,
        write=lambda _value: "",
    ),
    *SPENDING,
    Column(
        name="version",
        title="Version",
        group=Group.ORIGIN,
        help="The system's version, as it states it.",
        read=lambda row: Reading(row.run.system.version),
    ),
    Column(
        name="date",
        title="Date",
        group=Group.ORIGIN,
        help="Day the run started, UTC.",
        read=lambda row: Reading(row.run.timing.started, text=text.day(row.run.timing.started)),
    ),
    Column(
        name="track",
        title="Track",
        group=Group.ORIGIN,
        help="Hash of everything that must be equal before two numbers may be compared.",
        read=lambda row: Reading(row.run.track_id, url=track_url(row.run.track_id)),
        code=True,
    ),
    Column(
        name="run",
        title="Run",
        group=Group.ORIGIN,
        help="The run behind the row: every answer, grade, digest and setting.",
        read=lambda row: Reading(row.run.run_id, url=run_url(row.run.run_id)),
        code=True,
    ),
    Column(
        name="command",
        title="Repeat it",
        group=Group.ORIGIN,
        help="The command that makes such a run.",
        read=lambda row: Reading(run_command(row.run)),
        code=True,
    ),
)
