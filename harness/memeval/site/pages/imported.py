"""Imported answers: the published score beside the score computed here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memeval.leaderboard.board import BoardRow, RankStatus
from memeval.records.imported import Claim, ClaimMetric, Imported
from memeval.records.run import Run
from memeval.records.scores import Interval
from memeval.site.model.content import BenchmarkView, SiteModel
from memeval.site.model.files import GeneratedFile, Page
from memeval.site.pages.claims import claimed_text
from memeval.site.pages.grader_errors import rules_do_not_rank
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.regraded import SIGNS, metric_label, part_address, regraded_tables, regraded_url
from memeval.site.pages.rendering import render
from memeval.site.table.judges import JudgeNote, judge_note
from memeval.statistics.intervals import wilson


@dataclass(frozen=True)
class Score:
    """A share of points, with its denominator."""

    share: float
    interval: Interval
    points: float
    items: int


@dataclass(frozen=True)
class ImportedLine:
    """A run of imported answers."""

    row: BoardRow
    origin: Imported
    benchmark: BenchmarkView
    judge: JudgeNote
    planned: Score | None
    """Our value of the claimed metric over all planned questions; missing answers count as wrong. Without a claim: the
    composite if the benchmark weighs its categories, else the accuracy."""
    metric: ClaimMetric
    """The metric of this value."""
    answered: Score | None
    """Our value over the questions with an answer."""
    answers: int
    """Planned items with an answer."""
    errors: int
    """Number of these items without a verdict."""

    @property
    def claimed(self) -> Claim | None:
        """The published score of the answers."""
        return self.origin.claims[0] if self.origin.claims else None

    @property
    def others(self) -> tuple[Claim, ...]:
        """The reported scores of other judges."""
        return self.origin.claims[1:]

    @property
    def cost(self) -> float | None:
        """Cost in dollars, according to the file."""
        return self.origin.cost_usd


class ImportedPage(Publisher):
    """The tables of all imported answers, and a page for each regraded file."""

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
            body=render(
                "pages/imported.html",
                "imported/",
                lines=lines,
                titles={name: each.title for name, each in site.benchmarks.items()},
                regraded=regraded_tables(site.regraded, site.regraded_ranks, site.findings),
                claimed_text=claimed_text,
                regraded_url=regraded_url,
                metric_label=metric_label,
                labelled=bool(site.labels),
                unranked=rules_do_not_rank(site.labels),
            ),
            wide=True,
        )
        for file in site.regraded:
            url = regraded_url(file)
            yield Page(
                url=url,
                title=f"{file.label}: published answers",
                description="Answers that were published elsewhere, graded again here.",
                body=render(
                    "pages/regraded.html", url, file=file, metric_label=metric_label, address=part_address, signs=SIGNS
                ),
            )


def _line(site: SiteModel, row: BoardRow, origin: Imported) -> ImportedLine:
    run = row.run
    # Categories outside the composite are also outside the claimed score.
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
    """Return our value of the claimed metric, with its name; see :class:`ImportedLine`."""
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
