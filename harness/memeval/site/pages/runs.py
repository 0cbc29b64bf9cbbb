"""A page for each run: scores, settings, files, and the commands that reproduce it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial

from memeval.archive.published import FILES
from memeval.archive.rows import read_rows
from memeval.leaderboard.board import BoardRow, RankStatus
from memeval.leaderboard.samples import GRADES
from memeval.records.base import Digest, digest_of
from memeval.records.call import Phase
from memeval.records.errors import MemevalError
from memeval.records.failure import FailureSummary
from memeval.records.grade import Flag, GradeState
from memeval.records.journal import LogLine
from memeval.records.ledger import AnswerTrust, GradeTrust
from memeval.records.run import Run
from memeval.records.track import Redistribution
from memeval.site.items.failure_tables import MEANINGS, RunFailures, run_failures
from memeval.site.model.commands import repeat_commands
from memeval.site.model.content import BenchmarkView, SiteModel
from memeval.site.model.file_digests import digest_file
from memeval.site.model.files import Asset, GeneratedFile, Heading, KeptPage, Page, encode, shared
from memeval.site.model.labels import FLAG_MEANINGS, INTERFACES, SliceLabel, label, slice_label
from memeval.site.model.products import ProductGroup
from memeval.site.model.urls import run_url, segment, shared_link
from memeval.site.pages.kept_files import kept_files, row_inputs
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render, templates_digest
from memeval.site.table import columns
from memeval.site.table.flags import RowFlag, marks, observer, sample_note
from memeval.site.table.judges import JudgeNote, judge_note
from memeval.site.table.spending import total_cost

FAILURES = "failures.jsonl"

LOG = "log.jsonl"

LOG_TAIL = 20
"""Lines of a run's log shown on its page; the whole log is among its files."""

UNRANKED = {
    "plumbing": "This was a smoke test: its judge or data only checks that the parts work. The score means nothing.",
    "unlabelled judge": "The judge ran at another endpoint than its vendor’s, without a label that names the provider.",
    "mock": "A mock replaced a part of the product, so the score says nothing about the product.",
    "never run against the vendor": "This is a hosted product, but the run did not use the vendor’s service.",
    "awaiting the vendor": "The vendor had neither agreed to a rank nor had 14 days’ notice when the run was accepted.",
    "over the error gate": "More than 2 % of its items failed.",
    "no composite": "At least one category has no score.",
    "nothing found": "It ingested histories, and no question brought up anything of them.",
    "not the released data": "Its data differs from what the authors of the benchmark released.",
    "unverified data": "The authors of the benchmark publish no digest, so the data cannot be verified.",
    "imported": "Its answers were produced outside memeval. Reader and limits are what their file says.",
    "not accepted": "It is newer than an accepted run of this system, and no maintainer has accepted it.",
    "source not stored": "The files of its system are neither stored here nor shipped with memeval.",
    "run of its answers missing": "It grades the answers of another run, which is not stored here.",
    "track not rebuilt": "Benchmark not installed, other data than the catalogue’s, or not reproduced by a maintainer.",
    "waiting for review": "It has a warning that honest runs do not get, and no maintainer has reviewed it yet.",
    "rows in the archive": "Its grades are not stored here, so it cannot be compared item by item.",
}
"""Why a run has no rank, by its standing. Partial, invalidated and superseded runs have texts of their own."""


@dataclass(frozen=True)
class VerifiedFiles:
    files: str
    number: int
    size: int
    unchecked: tuple[str, ...]
    """What nobody checked, as sentences."""


class RunPages(Publisher):
    name = "runs"
    order = 30

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        known = frozenset(row.run.run_id for row in site.board.runs)
        judges = {table.track.id: judge_note(site, table.track) for table in site.board.tables}
        for row in site.board.runs:
            yield from self._run(site, row, judges[row.run.track_id], row.run.answers_from in known)

    def _run(self, site: SiteModel, row: BoardRow, judge: JudgeNote, has_origin: bool) -> Iterator[GeneratedFile]:
        run, url = row.run, run_url(row.run.run_id)
        words = site.text_allowed(row)
        failures = run_failures(site, row)
        if failures is not None and not failures.summary.says_something:
            failures = None
        # If a benchmark's text may not be published, its rows contain references instead.
        offered = words or run.redistribution is Redistribution.IDS
        yield Asset(f"{url}files/run.json", row.folder.head_bytes)
        files: dict[str, Asset] = {}
        for name, asset in _row_files(row) if offered else ():
            yield asset
            files[name] = asset
        if files:
            links = {name: shared_link(f"{url}files/", asset.path, site.version) for name, asset in files.items()}
            yield Asset(f"{url}{FILES}", encode({"files": links}))
        page = RunPage(
            row=row,
            product=site.products.by_slug[run.system.slug],
            benchmark=site.benchmark_of(run.track),
            version=site.version,
            words=words,
            offered=offered,
            verified=_verified(row, files),
            files={name: asset.path for name, asset in files.items()},
            judge=judge,
            marks=_marks(site, row),
            has_origin=has_origin,
            failures=failures,
            log=_log_digest(row),
        )
        inputs = digest_of([page.inputs(), templates_digest()])
        yield KeptPage(url, inputs, partial(kept_files, url, inputs, page.made))


@dataclass(frozen=True)
class RunPage:
    row: BoardRow
    product: ProductGroup
    benchmark: BenchmarkView
    version: str | None
    words: bool
    """Whether the page may hold the benchmark's words."""
    offered: bool
    verified: VerifiedFiles | None
    files: Mapping[str, str]
    judge: JudgeNote
    marks: tuple[RowFlag, ...]
    has_origin: bool
    """Whether the run of which it has the answers is on the board."""
    failures: RunFailures | None
    log: Digest | None

    def inputs(self) -> list[object]:
        """Return all that the page depends on, as plain data: each field, with the run by its digest."""
        known = {
            "row": row_inputs(self.row),
            "benchmark": self.benchmark.described,
            "failures": self.failures and self.failures.digest,
        }
        shown = {each.name: getattr(self, each.name) for each in fields(self)}
        return [[name, known[name] if name in known else repr(value)] for name, value in shown.items()]

    def made(self) -> Iterator[Page]:
        row, run, benchmark, url = self.row, self.row.run, self.benchmark, run_url(self.row.run.run_id)
        counts = _in_order(run, self.failures.summary) if self.failures else None
        shown = {
            "imported": run.imported is not None,
            "measured": bool(_measured(run)),
            "slices": bool(run.scores.slices),
            "failures": counts is not None,
        }
        yield Page(
            url=url,
            title=f"{run.system.name} · {run.run_id}",
            description=f"Run {run.run_id} of {run.system.name} on {run.track.benchmark}: scores, provenance, files.",
            body=render(
                "pages/run.html",
                url,
                row=row,
                product=self.product,
                run=run,
                words=self.words,
                offered=self.offered,
                verified=self.verified,
                benchmark=benchmark,
                headline=benchmark.headline(run.track),
                cost=total_cost(row),
                marks=self.marks,
                samples=[sample_note(row, event) for event in row.samples],
                measured=_measured(run),
                metric_value=columns.shown,
                failures=counts,
                failures_file=FAILURES,
                cause_meanings=MEANINGS,
                interfaces=INTERFACES,
                state_label=lambda state: label(GradeState(state)) if state in set(GradeState) else state,
                files={name: shared_link(url, path, self.version) for name, path in self.files.items()},
                judge=self.judge,
                properties=_properties(run),
                rules=[(name, benchmark.rule_meaning(name)) for name in sorted(run.scores.alternates)],
                flags=_flags(run),
                observed=observer(row),
                has_origin=self.has_origin,
                sentences=UNRANKED,
                phases=[
                    (p, run.timing.phases.get(p), run.usage.get(p))
                    for p in Phase
                    if p in {*run.timing.phases, *run.usage}
                ],
                log=_log_tail(row, self.offered),
                commands=repeat_commands(run),
            ),
            headings=tuple(
                Heading(name, title)
                for name, title in (
                    ("imported", "Origin of the answers"),
                    ("categories", "Score by category"),
                    ("measured", "Measurements"),
                    ("slices", "By difficulty and type"),
                    ("failures", "Wrong answers by cause"),
                    ("outcomes", "Outcomes"),
                    ("spent", "Cost and time"),
                    ("repeat", "Reproduce this run"),
                    ("provenance", "Full settings"),
                    ("history", "Ledger entries"),
                    ("files", "Files"),
                    ("log", "Log"),
                )
                if shown.get(name, True)
            ),
            searchable=False,
        )


def _measured(run: Run) -> list[str]:
    return list(dict.fromkeys(name for category in run.scores.categories for name in category.metrics))


def _in_order(run: Run, counts: FailureSummary) -> FailureSummary:
    order = {category.name: place for place, category in enumerate(run.scores.categories)}
    known = sorted(counts.categories, key=lambda one: order.get(one.category, len(order)))
    return counts.model_copy(update={"categories": tuple(known)})


def _marks(site: SiteModel, row: BoardRow) -> tuple[RowFlag, ...]:
    table = next(table for table in site.board.tables if table.track.id == row.run.track_id)
    return marks(site, table, row)


def _flags(run: Run) -> list[tuple[Flag, str]]:
    found = {count.flag for category in run.scores.categories for count in category.flags}
    return [(flag, FLAG_MEANINGS[flag]) for flag in Flag if flag in found]


def _properties(run: Run) -> list[SliceLabel]:
    found = {slice_label(score.slice).title: slice_label(score.slice) for score in run.scores.slices}
    return [found[title] for title in sorted(found) if found[title].meaning]


def _row_files(row: BoardRow) -> Iterator[tuple[str, Asset]]:
    for name in sorted(row.run.files):
        path = row.folder.file(name)
        if path.is_file() and not path.is_symlink() and segment(name) == name:
            yield name, shared(path, f"-{name}.gz")


def unchecked(row: BoardRow) -> tuple[str, ...]:
    """Return what nobody checked of a run, as sentences: what its standing and the ledger say."""
    found = []
    if row.standing is RankStatus.NOT_REBUILT:
        found.append("The track: nobody rebuilt it from the benchmark.")
    if row.trust.grades is GradeTrust.CLAIMED:
        found.append("The grades: no maintainer reproduced them.")
    if row.trust.grades is GradeTrust.REPLAYED:
        found.append("The replies of the models: whoever ran it recorded them.")
    if row.trust.answers in (AnswerTrust.SELF_RUN, AnswerTrust.IMPORTED):
        found.append("The system’s answers, clocks and isolation: they are the word of whoever ran it.")
    return tuple(found)


def _verified(row: BoardRow, files: Mapping[str, Asset]) -> VerifiedFiles | None:
    """Return what a browser needs to verify a run; ``None`` if its grades are not published."""
    if GRADES not in files:
        return None
    head, paths = f"{run_url(row.run.run_id)}files/run.json", {name: asset.path for name, asset in files.items()}
    return VerifiedFiles(
        files=json.dumps({"run": head, "digest": row.folder.digest, "files": paths, "unchecked": unchecked(row)}),
        unchecked=unchecked(row),
        number=1 + len(files),
        size=len(row.folder.head_bytes) + sum(row.folder.file(name).stat().st_size for name in files),
    )


def _log_digest(row: BoardRow) -> Digest | None:
    """Return the digest of the file of the run's log; ``None`` if it is missing."""
    path = row.folder.file(LOG)
    return digest_file(path) if path.is_file() else None


def _log_tail(row: BoardRow, details: bool) -> list[LogLine] | None:
    """Return the end of the run's log; ``None`` if the file is missing."""
    path = row.folder.file(LOG)
    if not path.is_file():
        return None
    try:
        lines = list(read_rows(path, LogLine))[-LOG_TAIL:]
    except MemevalError:
        return None
    return [line if details else line.model_copy(update={"detail": None}) for line in lines]
