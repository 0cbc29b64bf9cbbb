"""Imported answers: the published score beside the score computed here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memeval.leaderboard.board import BoardRow, RankStatus
from memeval.records.imported import Claim, ClaimMetric, Imported
from memeval.records.run import Run
from memeval.records.scores import Interval
from memeval.site.files import GeneratedFile, Page
from memeval.site.judges import JudgeNote, judge_note
from memeval.site.model import BenchmarkView, SiteModel
from memeval.site.publisher import Publisher
from memeval.site.rendering import render
from memeval.statistics import wilson


@dataclass(frozen=True)
class Score:
    """A share of points, and what it is over."""

    share: float
    interval: Interval
    points: float
    items: int


@dataclass(frozen=True)
class ImportedLine:
    """A run of answers that were made elsewhere."""

    row: BoardRow
    origin: Imported
    benchmark: BenchmarkView
    judge: JudgeNote
    planned: Score | None
    """Our value of the claimed metric over all planned questions; those without an answer count as wrong. Where nothing
    is claimed, the composite of benchmarks that weigh their categories, and else the accuracy."""
    metric: ClaimMetric
    """Which of the two that is."""
    answered: Score | None
    """What they are worth over the questions that have an answer."""
    answers: int
    """Planned items that have one."""
    errors: int
    """How many of those have no verdict."""

    @property
    def claimed(self) -> Claim | None:
        """What is claimed for the answers where they were published."""
        return self.origin.claims[0] if self.origin.claims else None

    @property
    def others(self) -> tuple[Claim, ...]:
        """What other judges are reported to have said."""
        return self.origin.claims[1:]

    @property
    def cost(self) -> float | None:
        """Dollars by the file's own account."""
        return self.origin.cost_usd


class ImportedPage(Publisher):
    """One table over all answers that were made elsewhere."""

    name = "imported"
    order = 45

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        gone = (RankStatus.INVALIDATED, RankStatus.SUPERSEDED)
        lines = [
            _line(site, row, row.run.imported)
            for row in site.board.runs
            if row.run.imported is not None and row.standing not in gone
        ]
        lines.sort(key=lambda line: (line.benchmark.title, line.row.run.system.name.lower(), line.row.run.run_id))
        yield Page(
            url="imported/",
            title="Imported answers",
            description="Answers produced outside memeval and graded here, with the published score beside ours.",
            body=render("pages/imported.html", "imported/", lines=lines),
            wide=True,
        )


def _line(site: SiteModel, row: BoardRow, origin: Imported) -> ImportedLine:
    run = row.run
    # What stands apart from the composite stands apart from the claim as well.
    tallies = [category.tally for category in run.scores.categories if category.weight]
    points = sum(tally.correct if tally.points is None else tally.points for tally in tallies)
    done = sum(tally.done for tally in tallies)
    planned, metric = _over_planned(run, origin, points, sum(tally.planned for tally in tallies))
    return ImportedLine(
        row=row,
        origin=origin,
        benchmark=site.benchmark_of(run.track),
        judge=judge_note(site, run.track),
        planned=planned,
        metric=metric,
        answered=_share(points, done),
        answers=done,
        errors=sum(tally.errors for tally in tallies),
    )


def _over_planned(run: Run, origin: Imported, points: float, planned: int) -> tuple[Score | None, ClaimMetric]:
    """Return our value of what is claimed, with the metric's name; see :class:`ImportedLine`."""
    composite = run.scores.composite
    weighted = any(plan.weight and not plan.shared for plan in run.track.categories)
    claimed = origin.claims[0].metric if origin.claims else None
    if not weighted or claimed is ClaimMetric.ACCURACY:
        return _share(points, planned), ClaimMetric.ACCURACY
    if composite.value is not None and composite.interval is not None:
        return Score(composite.value, composite.interval, points, planned), ClaimMetric.COMPOSITE
    if claimed is ClaimMetric.COMPOSITE:
        return None, ClaimMetric.COMPOSITE
    return _share(points, planned), ClaimMetric.ACCURACY


def _share(points: float, items: int) -> Score | None:
    if not items:
        return None
    low, high = wilson(min(points, items), items)
    return Score(points / items, Interval(low=low, high=high), points, items)
