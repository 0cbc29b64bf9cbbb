"""Answers made elsewhere: the published score beside the score computed here, and published answers graded again."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from memeval.claims.store import file_name
from memeval.leaderboard.board import BoardRow, RankStatus
from memeval.records.finding import ClaimVerdict, CountedValue, PublishedClaim
from memeval.records.imported import Claim, ClaimMetric, Imported
from memeval.records.regraded import RegradedFile
from memeval.records.run import Run
from memeval.records.scores import Interval
from memeval.site.model.content import BenchmarkView, SiteModel
from memeval.site.model.files import GeneratedFile, Page
from memeval.site.pages.findings import claimed_text
from memeval.site.pages.graders import rules_do_not_rank
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.table.judges import JudgeNote, judge_note
from memeval.statistics.intervals import wilson
from memeval.statistics.ranks import RankRange

LABELS = {
    "f1": "token F1",
    "exact": "exactly the expected texts",
    "passed": "right by the rule of the authors",
    "session_recall": "recall of sessions",
    "turn_recall": "recall of turns",
}


SIGNS = {
    "collapsed conversation": "Answers in conversations with far fewer right answers than the others",
    "empty": "Empty answers",
    "error text": "Answers with an error message",
    "evidence id": "Answers that quote an id of the data",
    "late year": "Answers with a year after the conversation",
    "same answer": "Answers that several questions share",
    "cut": "Answers that end without a full stop, all at the same length",
}


@dataclass(frozen=True)
class RegradedLine:
    file: RegradedFile
    ranks: RankRange | None
    """Its rank range among the files of its group; ``None`` if it is ranked with no other."""
    claims: tuple[PublishedClaim, ...] = ()
    """Published scores that are linked to this file or hold in it, and are counted from no other."""
    is_test: bool = False
    """Whether the answers were written to test a judge."""
    waits: str | None = None
    """Why it is not published yet, such as ``notice not sent``."""

    @property
    def flags(self) -> int:
        return sum(sign.flagged for sign in self.file.signs)


@dataclass(frozen=True)
class RegradedTable:
    """The files of one benchmark: those with answers, and those with retrieved ids only."""

    benchmark: str
    answers: tuple[RegradedLine, ...]
    retrieval: tuple[RegradedLine, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(sorted({name for line in self.retrieval for name in line.file.figures.metrics}, key=_by_depth))

    @property
    def has_verdicts(self) -> bool:
        return any(line.file.figures.judges for line in self.retrieval)

    @property
    def has_evidence(self) -> bool:
        return any(line.file.figures.recall is not None for line in self.retrieval)


def regraded_url(file: RegradedFile) -> str:
    """Return the address of the page of a file."""
    return f"imported/{file.source}/{file.file}/"


def part_address(file: RegradedFile, path: str) -> str:
    """Return the address of the folder of a published file at its commit: the page that also shows its neighbours."""
    folder, _slash, _name = path.rpartition("/")
    return f"https://github.com/{quote(file.repository)}/tree/{file.commit or 'HEAD'}/{quote(folder)}".rstrip("/")


def metric_label(name: str) -> str:
    measure, _at, depth = name.partition("@")
    return LABELS.get(measure, measure.replace("_", " ")) + (f", first {depth}" if depth else "")


def regraded_tables(site: SiteModel) -> list[RegradedTable]:
    """Return the tables, by benchmark. Lines are sorted by source and group, then by score."""
    claims: dict[str, list[PublishedClaim]] = {}
    for finding in site.findings.findings if site.findings else ():
        recipe = finding.claim.recount
        attributable = finding.verdict in (ClaimVerdict.HOLDS, ClaimVerdict.DIFFERS)
        if attributable and recipe and len(recipe.files) == 1:
            claims.setdefault(recipe.files[0], []).append(finding.claim)
    known = sorted(site.regraded, key=_order)
    tables = []
    for benchmark in sorted({file.benchmark for file in known}):
        lines: tuple[list[RegradedLine], list[RegradedLine]] = ([], [])
        for file in known:
            if file.benchmark == benchmark:
                graded = file.figures.rules is not None
                stated = claims.get(file_name(file), [])
                line = RegradedLine(
                    file,
                    site.regraded_ranks.get(file_name(file)),
                    tuple(claim for claim in stated if graded == _is_share(claim)),
                    any(claim.test_set for claim in stated),
                    site.waits.files.get(file_name(file)),
                )
                lines[not graded].append(line)
        tables.append(RegradedTable(benchmark, tuple(lines[0]), tuple(lines[1])))
    return tables


def _by_depth(metric: str) -> tuple[str, int]:
    name, _at, depth = metric.partition("@")
    return name, int(depth or 0)


def _is_share(claim: PublishedClaim) -> bool:
    return claim.recount is not None and claim.recount.value in (CountedValue.JUDGE, CountedValue.JUDGES)


def _order(file: RegradedFile) -> tuple[object, ...]:
    rules = file.figures.rules
    return file.title.lower(), file.group or "", file.answer_model or "", -(rules.share if rules else 0), file.file


@dataclass(frozen=True)
class Score:
    share: float
    interval: Interval
    points: float
    items: int


@dataclass(frozen=True)
class ImportedLine:
    row: BoardRow
    origin: Imported
    benchmark: BenchmarkView
    judge: JudgeNote
    planned: Score | None
    """Our value of the claimed metric over all planned questions; missing answers count as wrong. Without a claim: the
    composite if the benchmark weighs its categories, else the accuracy."""
    metric: ClaimMetric
    answered: Score | None
    answers: int
    errors: int

    @property
    def claimed(self) -> Claim | None:
        return self.origin.claims[0] if self.origin.claims else None

    @property
    def others(self) -> tuple[Claim, ...]:
        return self.origin.claims[1:]

    @property
    def cost(self) -> float | None:
        return self.origin.cost_usd


class ImportedPage(Publisher):
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
                regraded=regraded_tables(site),
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
                    "pages/regraded.html",
                    url,
                    file=file,
                    waits=site.waits.files.get(file_name(file)),
                    metric_label=metric_label,
                    address=part_address,
                    signs=SIGNS,
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
