"""All columns of the leaderboard. Tables, downloads and charts use this list and know no metric by name."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from memeval.grading.scoring import task_average
from memeval.leaderboard.board import BoardRow, BoardTable, RankStatus
from memeval.records.benchmark import MetricInfo
from memeval.records.ledger import LedgerEvent
from memeval.records.run import Isolation, SystemKind
from memeval.records.scores import CategoryScore, Composite, Interval
from memeval.records.track import CategoryPlan, Track
from memeval.site.model import text
from memeval.site.model.commands import run_command
from memeval.site.model.content import BenchmarkView
from memeval.site.model.labels import label
from memeval.site.model.urls import run_url, system_url, track_url
from memeval.site.table.columns import BetterEnd, Column, ColumnGroup, ColumnReader, overall
from memeval.site.table.flags import BY_SUBMITTER, RowFlag, observer, sample_note
from memeval.site.table.spending import SPENDING
from memeval.site.table.standings import BASELINE, RANK

_UNIT = (0.0, 1.0)

Marks = Callable[[BoardRow], tuple[RowFlag, ...]]


OwnScore = Callable[[BoardRow], Composite | None]


def columns(table: BoardTable, benchmark: BenchmarkView, marks: Marks, own: Column | None = None) -> tuple[Column, ...]:
    """Return the columns of a track's table, in order.

    ``own``: the column of the board's own score; ``None`` if the board has no own weights.
    """
    alternates = sorted({name for row in table.rows for name in row.run.scores.alternates})
    return (
        RANK,
        _system_column(marks),
        replace(COMPOSITE, title=benchmark.score_name(table.track)),
        *((own,) if own else ()),
        BASELINE,
        GAP,
        *(_alternate(name, benchmark.rule_meaning(name)) for name in alternates),
        *((TASK_AVERAGE,) if any(plan.shared for plan in table.track.categories) else ()),
        GRADED,
        *(_measure(metric) for metric in benchmark.shown_metrics(table.track)),
        *(_category(plan, benchmark, table.track) for plan in table.track.categories),
        *REST,
    )


# -- standing ----------------------------------------------------------------------------------------------------


def _system(marks: Marks, row: BoardRow) -> ColumnReader:
    system = row.run.system
    badges: list[tuple[str, str]] = []
    if system.kind is SystemKind.CONTROL:
        badges.append(("control", "control"))
    if row.standing not in (RankStatus.RANKED, RankStatus.CONTROL):
        badges.append(("warning", label(row.standing)))
    if row.run.imported is not None and row.standing is not RankStatus.IMPORTED:
        badges.append(("imported", "imported"))
    badges += [("warning", mark.name) for mark in marks(row)]
    if system.mock and row.standing is not RankStatus.MOCK:
        badges.append(("warning", "mock"))
    if (configured := system.configured) is not None:
        badges.append(("note", configured))
    if row.replies:
        badges.append(("note", "vendor replied"))
    if system.view.value != "all":
        badges.append(("note", label(system.view)))
    return ColumnReader(system.name, badges=tuple(badges), url=system_url(system.slug), note=system.slug)


def _system_column(marks: Marks) -> Column:
    return Column(
        name="system",
        title="System",
        group=ColumnGroup.PLACE,
        help="The memory system under test. A control is a built-in baseline. Warnings: “above possible score”: a "
        "category scores more than its correct answers allow. “Sends whole history”: little is retrieved selectively. "
        "“Below no-memory”: a category scores less than the no-memory control; check the adapter. “Below file search”: "
        "text files searched with grep score more than the whole interval of the score.",
        read=partial(_system, marks),
        first=True,
    )


# -- scores ------------------------------------------------------------------------------------------------------


_share = partial(Column, write=text.percent, direction=BetterEnd.HIGHER, range=_UNIT, unit="%")


def _composite(composite: Composite) -> ColumnReader:
    note = _range(composite.interval) or composite.reason
    return ColumnReader(composite.value, note=note, interval=composite.interval)


def own_column(weights: str, own: OwnScore) -> Column:
    def read(row: BoardRow) -> ColumnReader:
        score = own(row)
        return ColumnReader(None) if score is None else _composite(score)

    return _share(
        name="own_score",
        title="Score, own weights",
        group=ColumnGroup.SCORE,
        help=f"Composite score with the weights of this board: {weights}. Ranks and all other scores use the weights "
        "of the benchmark.",
        read=read,
    )


def _alternate_reading(name: str, row: BoardRow) -> ColumnReader:
    composite = row.run.scores.alternates.get(name)
    if composite is None:
        return ColumnReader(None, note="not scored by this rule")
    return ColumnReader(composite.value, note=_range(composite.interval) or composite.reason)


def _alternate(name: str, meaning: str) -> Column:
    return _share(
        name=f"composite_{name}",
        title=f"{name.capitalize()} rule",
        group=ColumnGroup.SCORE,
        help=meaning,
        read=partial(_alternate_reading, name),
    )


def _graded(row: BoardRow) -> ColumnReader:
    tally = row.run.scores.overall
    return ColumnReader(tally.graded_accuracy, note=f"of {tally.done - tally.errors} graded")


def _range(interval: Interval | None) -> str | None:
    return f"{text.percent(interval.low)}–{text.percent(interval.high)}" if interval else None


COMPOSITE = _share(
    name="composite",
    title="Composite score",
    group=ColumnGroup.SCORE,
    help="Weighted mean of the category scores, the composite, with its 95 % confidence interval. All planned "
    "questions of categories with a weight count; failed answers count as wrong. It leads to the run, with every "
    "answer and grade.",
    read=lambda row: replace(_composite(row.run.scores.composite), url=run_url(row.run.run_id)),
    first=True,
)
GAP = Column(
    name="gap",
    title="vs best control without history",
    group=ColumnGroup.SCORE,
    help="Composite score minus the best score of a control that never sees the history, in percentage points. "
    "At 0 or less, the memory adds nothing.",
    read=lambda row: ColumnReader(row.gap, note=None if row.gap is not None else "no such control"),
    write=text.signed_percent,
    direction=BetterEnd.HIGHER,
    unit="points",
)
GRADED = _share(
    name="graded_accuracy",
    title="Accuracy, errors excluded",
    group=ColumnGroup.SCORE,
    help="Unweighted accuracy over the graded items. Errors are excluded here; in the composite score they count as "
    "wrong.",
    read=_graded,
)
TASK_AVERAGE = _share(
    name="task_average",
    title="Task average",
    group=ColumnGroup.SCORE,
    help="Unweighted mean of the category scores: a small category counts as much as a large one.",
    read=lambda row: ColumnReader(task_average(row.run.scores)),
)


def _measure(metric: MetricInfo) -> Column:
    bounded = metric.low is not None and metric.high is not None and not metric.root
    return Column(
        name=f"metric_{metric.name}",
        title=metric.title,
        group=ColumnGroup.SCORE,
        help=f"{metric.meaning} Mean over the items that have it. {metric.direction.value.capitalize()} is better.",
        read=lambda row: ColumnReader(overall(row, metric)),
        write=partial(text.number, digits=3),
        direction=BetterEnd(metric.direction.value),
        range=(metric.low or 0.0, metric.high or 0.0) if bounded else None,
    )


def _category_reading(name: str, row: BoardRow) -> ColumnReader:
    found: CategoryScore | None = next((c for c in row.run.scores.categories if c.name == name), None)
    if found is None:
        return ColumnReader(None, note="absent")
    return ColumnReader(found.tally.accuracy, note=text.fraction(found.tally), interval=found.tally.interval)


def _category(plan: CategoryPlan, benchmark: BenchmarkView, track: Track) -> Column:
    title = benchmark.category_title(plan.name)
    weight = f"{text.percent(plan.weight, 0)} % of the composite" if plan.weight else "not in the composite"
    return _share(
        name=f"category_{plan.name}",
        title=title,
        group=ColumnGroup.CATEGORIES,
        help=f"{benchmark.headline(track)} in “{title}”: {plan.items} items, {weight}, grader {plan.grader}.",
        read=partial(_category_reading, plan.name),
        shaded=True,
    )


# -- the rest ----------------------------------------------------------------------------------------------------


def _coverage(row: BoardRow) -> ColumnReader:
    coverage, tier = row.run.coverage, row.run.track.tier
    share = coverage.done / coverage.planned if coverage.planned else 0.0
    return ColumnReader(
        share, text=f"{coverage.done}/{coverage.planned}", note=None if tier == "full" else f"tier {tier}"
    )


def _errors(row: BoardRow) -> ColumnReader:
    crashes = row.run.crashes
    crashed = f", process crashed {text.counted(crashes, 'time')}" if crashes else ""
    return ColumnReader(row.error_rate, note=f"{row.run.scores.overall.errors} items{crashed}")


def _answers(row: BoardRow) -> ColumnReader:
    answers = row.trust.answers.value
    mark = () if row.accepted else (("warning", "not accepted"),)
    return ColumnReader(answers, badges=((answers, answers), *mark), note=sample_note(row, LedgerEvent.RERUN))


def _isolation(row: BoardRow) -> ColumnReader:
    isolation, network = row.run.isolation, row.run.network
    kind = "good" if isolation is Isolation.SANDBOXED else "warning"
    said = f", {BY_SUBMITTER[1]}" if observer(row) == BY_SUBMITTER else ""
    return ColumnReader(isolation.value, badges=((kind, label(isolation)),), note=f"network: {label(network)}{said}")


_whole = partial(Column, group=ColumnGroup.WHOLE)
_rate = partial(_whole, write=text.percent, direction=BetterEnd.LOWER, unit="%")
_trust = partial(Column, group=ColumnGroup.TRUST, write=lambda _value: "")
_origin = partial(Column, group=ColumnGroup.ORIGIN)

REST = (
    _whole(
        name="coverage",
        title="Items done",
        help="Completed items of all planned items. An item is one question, or a group of questions graded together. "
        "A run with missing items is partial and has no rank.",
        read=_coverage,
        direction=BetterEnd.HIGHER,
    ),
    _whole(
        name="context_source",
        title="Context",
        help="What the answers are based on: text chosen or retrieved by the system, the whole history, only the "
        "sessions with the evidence, or nothing.",
        read=lambda row: ColumnReader(row.run.context_source.value, text=label(row.run.context_source)),
    ),
    _rate(
        name="error_rate",
        title="Errors",
        help="Share of planned items that failed in the system, its reader or the judge. They count as wrong. "
        "A run with more than 2 % errors is not ranked.",
        read=_errors,
    ),
    _rate(
        name="false_hedge_rate",
        title="False hedges",
        help="Share of answers that express doubt although the history gives a clear answer.",
        read=lambda row: ColumnReader(row.run.scores.false_hedge_rate),
    ),
    _trust(
        name="trust_grades",
        title="Scores checked",
        help="Claimed: not checked. Replayed: graded again with equal grades, from model replies that the submitter "
        "recorded. Recomputed: graded again with equal grades, and no model is behind them. Re-asked: a maintainer "
        "asked the judge again about a drawn sample; the second line is the share of equal verdicts.",
        read=lambda row: ColumnReader(
            row.trust.grades.value,
            badges=((row.trust.grades.value, row.trust.grades.value),),
            note=sample_note(row, LedgerEvent.RE_ASKED),
        ),
        first=True,
    ),
    _trust(
        name="trust_answers",
        title="Run by",
        help="Self-run: by the submitter. Maintainer-run: by a maintainer. Repeated: twice, independently. Imported: "
        "produced outside memeval. Control: ships with memeval; anyone can run it. Not accepted: no maintainer has "
        "accepted the run. If a maintainer ran drawn items again, the second line is the share of equal answers.",
        read=_answers,
        first=True,
    ),
    _trust(
        name="isolation",
        title="Isolation",
        help="Sandboxed: the system could reach only its own files and programs. Not sandboxed: it could read the "
        "user’s files; such a run never counts as repeated. The second line is its network access. In a self-run, the "
        "submitter says so, and also its times and environment: nobody else can know them.",
        read=_isolation,
    ),
    *SPENDING,
    _origin(
        name="version",
        title="Version",
        help="Version of the system, as declared.",
        read=lambda row: ColumnReader(row.run.system.version),
    ),
    _origin(
        name="date",
        title="Date",
        help="Start day of the run, in UTC.",
        read=lambda row: ColumnReader(row.run.timing.started, text=text.day(row.run.timing.started)),
    ),
    _origin(
        name="track",
        title="Track",
        help="Id of the track: a hash of everything that must be equal before two scores can be compared.",
        read=lambda row: ColumnReader(row.run.track_id, url=track_url(row.run.track_id)),
        code=True,
    ),
    _origin(
        name="run",
        title="Run",
        help="Link to the run: every answer, grade, digest and setting.",
        read=lambda row: ColumnReader(row.run.run_id, url=run_url(row.run.run_id)),
        code=True,
    ),
    _origin(
        name="command",
        title="Command",
        help="The command that reproduces the run.",
        read=lambda row: ColumnReader(run_command(row.run)),
        code=True,
    ),
)
