"""Published scores: what others state, what their published answers show when counted and graded again here."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from urllib.parse import quote

from memeval.archive.rows import indented
from memeval.claims.embargo import NOTICE_DAYS, same_files
from memeval.claims.findings import WITHOUT_JUDGE
from memeval.claims.store import file_name
from memeval.leaderboard.board import BoardRow, RankStatus
from memeval.records.finding import (
    ClaimUnit,
    ClaimVerdict,
    CountedValue,
    Evidence,
    JudgeTrials,
    PublishedClaim,
    RecountedClaim,
)
from memeval.records.imported import Claim, ClaimMetric, Imported
from memeval.records.regraded import RegradedFile
from memeval.records.run import Run, SystemKind
from memeval.records.scores import Interval
from memeval.records.source import SCALES, Scale
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Heading, Page
from memeval.site.model.text import ABSENT, percent
from memeval.site.model.urls import run_url, system_url
from memeval.site.pages.graders import labelled_tests, rules_do_not_rank
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.table.judges import JudgeNote, judge_note
from memeval.statistics.intervals import wilson

URL = "published/"

BADGES = {
    ClaimVerdict.HOLDS: "good",
    ClaimVerdict.DIFFERS: "warning",
    ClaimVerdict.FILE_ABSENT: "note",
    ClaimVerdict.NOT_ATTRIBUTABLE: "note",
}

NO_NUMBER = "no published number listed"
"""The evidence of answers without a published score."""

UNJUDGED = frozenset(SCALES[scale] for scale in WITHOUT_JUDGE)
"""Scales without a judge, in words."""

NO_VERDICT = "no claim to check"
"""In place of a verdict: answers without a published score, and imported runs."""

LABELS = {
    "f1": "token F1",
    "exact": "exactly the expected texts",
    "passed": "by the authors’ rule",
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

_AFTER_NAME = re.compile(r"(,| \().*|\s+v?\d+\.\S*$")
"""What follows the name of a product: who ran it and how, or its version."""

_RECALL = re.compile(r"recall of evidence (session|turn)s at (\d+)")

_IN_PAPER = re.compile(r"\b(paper|arxiv)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Score:
    share: float
    interval: Interval
    points: float
    items: int


@dataclass(frozen=True)
class ImportedRun:
    """A run of ``memeval import``: the published scores of its answers, and ours."""

    row: BoardRow
    origin: Imported
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


@dataclass(frozen=True)
class PublishedLine:
    """A published score, or published answers without one; at least one of the last three fields is given."""

    system: str
    benchmark: str
    measured: str
    """What the score measures, and over what."""
    waits: str | None = None
    """Why it is not published yet, such as ``notice not sent``."""
    finding: RecountedClaim | None = None
    files: tuple[RegradedFile, ...] = ()
    run: ImportedRun | None = None

    @property
    def product(self) -> str:
        return _AFTER_NAME.sub("", self.system)

    @property
    def url(self) -> str | None:
        """The page of its answers; ``None`` if no published file is known."""
        if self.run:
            return run_url(self.run.row.run.run_id)
        return file_url(self.files[0]) if self.files else None

    @property
    def verdict(self) -> str:
        return self.finding.verdict.value if self.finding else NO_VERDICT

    @property
    def flags(self) -> int:
        return sum(sign.flagged for file in self.files for sign in file.signs)

    @property
    def claimed(self) -> str:
        if self.run:
            return f"{percent(self.run.claimed.score)} %" if self.run.claimed else ABSENT
        return claimed_text(self.finding.claim) if self.finding else ABSENT

    @property
    def counted(self) -> str:
        """The score counted from the verdicts in the file."""
        if self.finding:
            return counted_text(self.finding)
        for file in self.files:
            figures = file.figures
            judges = [figures.majority, *figures.judges.values()]
            known = [*(judge.share for judge in judges if judge), *filter(None, [figures.scores.get("accuracy")])]
            known += [] if file.is_graded else figures.scores.values()
            if known:
                return f"{percent(known[0])} %"
        return ABSENT

    @cached_property
    def graded(self) -> tuple[str, float, Interval | None] | None:
        """Our score of the answers: its name, value and interval; ``None`` without a score of the claimed kind."""
        if self.run:
            score = self.run.planned
            return (self.run.metric.value, score.share, score.interval) if score else None
        if len(self.files) != 1 or self.verdict == ClaimVerdict.NOT_ATTRIBUTABLE:
            return None
        figures = self.files[0].figures
        recall = _RECALL.search(self.finding.claim.metric) if self.finding else None
        if figures.rules and not recall:
            return "by rules", figures.rules.share, figures.rules.interval
        known = [f"{recall[1]}_recall@{recall[2]}"] if recall else [] if self.finding else sorted(figures.metrics)
        found = [name for name in known if name in figures.metrics and name not in ("exact", "f1")]
        return (metric_label(found[0]), figures.metrics[found[0]], None) if found else None


@dataclass(frozen=True)
class ClaimFacts:
    """Who claims a score, on which scale, from how many questions, and what stands behind it."""

    line: PublishedLine
    stated_by: str
    benchmark: str
    scale: str
    questions: str
    judges: str
    rule: str
    evidence: str


def claim_facts(line: PublishedLine) -> ClaimFacts:
    """Return the facts of a line; what is not known is said in words."""
    finding, run = line.finding, line.run
    if finding:
        return ClaimFacts(
            line,
            finding.claim.repository,
            finding.claim.benchmark,
            finding.scale,
            _of(finding.questions, finding.of, finding.other_rows),
            ", ".join(finding.judges) or _no_judge(finding),
            finding.rule or "not counted",
            finding.evidence.value,
        )
    if run:
        claim = run.claimed
        return ClaimFacts(
            line,
            run.origin.source or run.origin.file,
            line.benchmark,
            run.metric.value,
            _of(claim.items if claim else run.answers, run.row.run.track.planned),
            (claim and claim.judge) or "not stated",
            "not counted",
            Evidence.GRADED.value,
        )
    file = line.files[0]
    scale = file.scale or (Scale.YES_NO if file.figures.judges else None)
    planned = file.planned or (file.counts.matched + len(file.counts.missing) if len(file.parts) == 1 else None)
    return ClaimFacts(
        line,
        file.repository,
        f"{line.benchmark}, {file.tier}" if file.tier and not file.is_graded else line.benchmark,
        SCALES[scale] if scale else f"protocol {file.protocol}",
        _of(file.counts.matched, planned),
        ", ".join(file.judges.values()) or "not stated",
        "share of rows with a right verdict" if file.figures.judges else "not counted",
        f"{NO_NUMBER}; {'answers graded here' if file.is_graded else 'counted from the values in its file'}",
    )


def _no_judge(finding: RecountedClaim) -> str:
    recipe = finding.claim.recount
    return "none" if recipe and (recipe.value is CountedValue.RECALL or finding.scale in UNJUDGED) else "not stated"


def _of(questions: int | None, planned: int | None, others: int = 0) -> str:
    if questions is None:
        return "not stated"
    words = f"{questions:,} of {planned:,}" if planned is not None else f"{questions:,}"
    return f"{words}, and {others:,} other rows" if others else words


def claimed_text(claim: PublishedClaim) -> str:
    margin = f" ± {claim.margin}" if claim.margin else ""
    return f"{claim.claimed}{margin}" + (" %" if claim.unit is ClaimUnit.PERCENT else "")


def counted_text(finding: RecountedClaim) -> str:
    """Return a counted value with one digit more than the claim; a dash if absent."""
    if finding.recount is None:
        return ABSENT
    in_percent = finding.claim.unit is ClaimUnit.PERCENT
    digits = 1 - int(Decimal(finding.claim.claimed).as_tuple().exponent)
    return f"{finding.recount.value * (100 if in_percent else 1):.{digits}f}" + (" %" if in_percent else "")


def file_url(file: RegradedFile) -> str:
    return f"{URL}{file_name(file)}/"


def part_address(file: RegradedFile, path: str) -> str:
    """Return the address of the folder of a published file at its commit: the page that also shows its neighbours."""
    folder, _slash, _name = path.rpartition("/")
    return f"https://github.com/{quote(file.repository)}/tree/{file.commit or 'HEAD'}/{quote(folder)}".rstrip("/")


def metric_label(name: str) -> str:
    measure, _at, depth = name.partition("@")
    return LABELS.get(measure, measure.replace("_", " ")) + (f", first {depth}" if depth else "")


def published_lines(site: SiteModel) -> list[PublishedLine]:
    """Return all lines, sorted by product and benchmark."""
    lines = [*_claims(site), *_imported_runs(site)]
    return sorted(lines, key=lambda line: (_key(line.product), line.benchmark, line.finding is None, line.system))


def _claims(site: SiteModel) -> Iterator[PublishedLine]:
    """Yield a line for each claim, then one for each file whose answers no claim names."""
    left = {file_name(file): file for file in site.regraded}
    findings = site.findings.findings if site.findings else ()
    named = {name for finding in findings if finding.claim.recount for name in finding.claim.recount.files}
    for finding in findings:
        claim = finding.claim
        recipe = claim.recount.files if claim.recount else ()
        files = tuple(left[name] for name in recipe if name in left)
        benchmark, _comma, over = claim.benchmark.partition(", ")
        title = site.benchmarks[files[0].benchmark].title if files and files[0].benchmark in site.benchmarks else None
        measured = ", ".join(filter(None, [benchmark if title and title != benchmark else "", over, claim.metric]))
        yield PublishedLine(claim.system, title or benchmark, measured, site.waits.claims.get(claim.id), finding, files)
    for name, file in left.items():
        if name not in named:
            known = site.benchmarks.get(file.benchmark)
            yield PublishedLine(
                f"{file.system} {file.version or ''}".strip(),
                known.title if known else file.benchmark,
                f"from {file.title}",
                site.waits.files.get(name),
                files=(file,),
            )


def _imported_runs(site: SiteModel) -> Iterator[PublishedLine]:
    for row in site.board.runs:
        run = row.run
        if run.imported is not None and row.standing not in (RankStatus.INVALIDATED, RankStatus.SUPERSEDED):
            title = site.benchmark_of(run.track).title
            yield PublishedLine(
                run.system.name, title, f"protocol {run.track.protocol}", run=_imported(site, row, run.imported)
            )


def _key(product: str) -> str:
    return product.casefold().replace("-", " ")


@dataclass(frozen=True)
class Summary:
    """How many lines have each class of evidence."""

    stated: int
    papers: int
    verdicts: tuple[tuple[ClaimVerdict, int], ...]
    counted: int
    graded: int
    here: tuple[tuple[str, str], ...]
    """The products that also ran here on a benchmark of these lines: name and address."""


def _summary(site: SiteModel, lines: Iterable[PublishedLine]) -> Summary:
    lines = list(lines)
    findings = [line.finding for line in lines if line.finding]
    verdicts = Counter(finding.verdict for finding in findings)
    measured = {(_key(line.product), line.benchmark) for line in lines}
    here = {}
    for row in site.board.runs:
        system = row.run.system
        name = system.product.name if system.product else system.name
        if system.kind is SystemKind.SUBMISSION and (_key(name), site.benchmark_of(row.run.track).title) in measured:
            here[_key(name)] = name, site.products.address(system_url(system.slug))
    return Summary(
        stated=sum(line.claimed != ABSENT for line in lines),
        papers=sum(bool(_IN_PAPER.search(finding.claim.stated)) for finding in findings),
        verdicts=tuple((verdict, verdicts[verdict]) for verdict in ClaimVerdict),
        counted=sum(finding.recount is not None for finding in findings),
        graded=sum(line.graded is not None for line in lines),
        here=tuple(here[key] for key in sorted(here)),
    )


class PublishedPages(Publisher):
    name = "published"
    order = 45

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        report, lines = site.findings, published_lines(site)
        products: dict[str, str] = {}
        for line in lines:
            key = _key(line.product)
            products[key] = min(line.product, products.get(key, line.product))
        yield Page(
            url=URL,
            title="Published scores",
            description="Scores that others published for memory systems, counted and graded again from their answers.",
            body=render(
                "pages/published.html",
                URL,
                report=report,
                claims=[claim_facts(line) for line in lines],
                labels={file_name(file): file.label for file in site.regraded},
                lines=[(line, products[_key(line.product)]) for line in lines],
                products=list(products.values()),
                benchmarks=sorted({line.benchmark for line in lines}),
                summary=_summary(site, lines),
                badges=BADGES,
                days=NOTICE_DAYS,
                labelled=bool(site.labels),
                unranked=rules_do_not_rank(site.labels),
            ),
            headings=(
                Heading("who", "Who claims what"),
                Heading("verdicts", "What the verdicts mean"),
                Heading("corrections", "Our own corrections"),
            )
            if report
            else (),
            words=" ".join(products.values()),
            wide=True,
        )
        same = same_files(site.regraded)
        files = {file_name(file): file for file in site.regraded}
        for name, file in files.items():
            yield self._file(site, file, [files[other] for other in same.get(name, ())])
        yield Page(
            url="judges/",
            title="Judges on trial",
            description="What published verdicts show about the LLM judges of memory benchmarks.",
            body=render(
                "pages/judges.html",
                "judges/",
                trials=report.trials if report and report.trials != JudgeTrials() else None,
                vague=labelled_tests(report, site.labels) if report else [],
            ),
            headings=()
            if report is None
            else (
                Heading("test-answers", "Wrong and vague answers"),
                Heading("three-verdicts", "Three verdicts on each answer"),
                Heading("three-judges", "Three judges on the same answers"),
                Heading("overlap", "Verdict and token F1"),
            ),
            wide=True,
        )
        if report:
            yield Asset("findings.json", indented(report.data()))

    def _file(self, site: SiteModel, file: RegradedFile, same: Sequence[RegradedFile]) -> Page:
        url, name = file_url(file), file_name(file)
        findings = site.findings.findings if site.findings else ()
        return Page(
            url=url,
            title=f"{file.label}: published answers",
            description="Answers that were published elsewhere, "
            + ("graded again here." if file.is_graded else "counted again here."),
            body=render(
                "pages/published_file.html",
                url,
                file=file,
                same=same,
                scale=SCALES[file.scale] if file.scale else None,
                file_url=file_url,
                waits=site.waits.files.get(name),
                findings=[one for one in findings if one.claim.recount and name in one.claim.recount.files],
                ranks=site.regraded_ranks.get(name),
                badges=BADGES,
                claimed_text=claimed_text,
                metric_label=metric_label,
                address=part_address,
                signs=SIGNS,
            ),
            searchable=False,
        )


def _imported(site: SiteModel, row: BoardRow, origin: Imported) -> ImportedRun:
    run = row.run
    # Categories outside the composite are also outside the claimed score.
    tallies = [category.tally for category in run.scores.categories if category.weight]
    points = sum(tally.correct if tally.points is None else tally.points for tally in tallies)
    done = sum(tally.done for tally in tallies)
    planned, metric = _over_planned(run, origin, points, sum(tally.planned for tally in tallies))
    return ImportedRun(
        row=row,
        origin=origin,
        judge=judge_note(site, run.track),
        planned=planned,
        metric=metric,
        answered=_share(points, done),
        answers=done,
        errors=sum(tally.errors for tally in tallies),
    )


def _over_planned(run: Run, origin: Imported, points: float, planned: int) -> tuple[Score | None, ClaimMetric]:
    """Return our value of the claimed metric, with its name; see :class:`ImportedRun`."""
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
