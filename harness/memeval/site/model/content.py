"""The content of the site, read once."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from memeval.archive.audits import AuditFolder, stored_audits
from memeval.archive.conformance import all_reports
from memeval.archive.histories import stored_histories
from memeval.archive.ledger import Ledger
from memeval.archive.matrices import MatrixFolder, stored_matrices
from memeval.archive.run_cache import KeptRun
from memeval.archive.runs import RunFolder, history_runs, sealed_runs
from memeval.benchmarks import all_benchmarks
from memeval.benchmarks import find as find_known
from memeval.benchmarks.base import Benchmark
from memeval.benchmarks.registry import known_ids, origin
from memeval.claims.embargo import Embargo
from memeval.claims.store import file_name, stored_regraded
from memeval.evaluation.judge.judges import judged_graders
from memeval.execution.readers import NATIVE
from memeval.judging.rules import RulesJudge
from memeval.leaderboard.board import Board, BoardRow, BoardTable, build_board
from memeval.leaderboard.board_settings import (
    board_settings,
    headline_tracks,
    own_score,
    page_settings,
    shown_runs,
    shows,
)
from memeval.leaderboard.releases import releases as stored_releases
from memeval.leaderboard.series import LeftOut, history_of
from memeval.leaderboard.traces import Traces
from memeval.leaderboard.trends import ScoreChanges
from memeval.records.base import Digest, digest_of
from memeval.records.benchmark import BenchmarkInfo, MetricInfo, ProtocolInfo
from memeval.records.conformance import Conformance
from memeval.records.errors import MemevalError
from memeval.records.finding import FindingsReport
from memeval.records.label import LabelReport
from memeval.records.regraded import RegradedFile
from memeval.records.release import Release
from memeval.records.scores import CategoryScore, Composite
from memeval.records.settings import BoardSettings
from memeval.records.submission import Submission
from memeval.records.track import Redistribution, Track
from memeval.site.model.benchmark_data import BenchmarkData, asked_of, data_of
from memeval.site.model.files import assets_root
from memeval.site.model.labels import reader_label, reader_meaning, told_apart
from memeval.site.model.products import Products, products_of
from memeval.site.model.reports import read_reports
from memeval.site.model.text import count, lower_first
from memeval.statistics.ranks import RankRange
from memeval.systems.manifest import MANIFEST, examined_manifest

ONLY_SEARCH = "systems only search"

FindBenchmark = Callable[[str], Benchmark]
"""Returns the benchmark of an id, or raises ``BadInput``."""


def package_of(benchmark: str) -> str | None:
    """Return the package that has a benchmark, with its version; ``None`` for memeval's own and unknown ones."""
    if benchmark not in known_ids() or origin(benchmark).is_own:
        return None
    return str(origin(benchmark))


@dataclass(frozen=True)
class BenchmarkView:
    id: str
    info: BenchmarkInfo | None
    """Its description; ``None`` if this memeval does not know the benchmark."""
    missing: str | None
    data: Mapping[tuple[Digest, str], BenchmarkData]
    """The data of its tracks, by digest and :func:`asked_of`."""
    tables: tuple[BoardTable, ...]
    redistribution: Redistribution
    """Whether its text may be published: the strictest value of the benchmark and its runs."""
    benchmark: Benchmark | None = None

    @cached_property
    def described(self) -> Digest:
        """Digest of all that its words depend on: of the runs of a track only whether there are any."""
        info = None if self.info is None else self.info.data()
        return digest_of(
            [self.id, info, self.package, [[table.track.data(), bool(table.rows)] for table in self.tables]]
        )

    def data_for(self, track: Track) -> BenchmarkData:
        return self.data[track.data_digest, asked_of(track)]

    @property
    def missing_data(self) -> str | None:
        """How to get its data, as a sentence; ``None`` if the data is on this machine."""
        benchmark = self.benchmark
        return None if benchmark is None or benchmark.available() else benchmark.remedy()

    @property
    def package(self) -> str | None:
        return package_of(self.id)

    @property
    def title(self) -> str:
        return self.info.title if self.info else self.id

    @property
    def items_word(self) -> str:
        """What its items are called, in the plural: ``questions``, or the word of its tab."""
        return self.info.tab.items if self.info and self.info.tab else "questions"

    def track_title(self, track: Track) -> str:
        return f"{self.title}: {self.track_words(track)}"

    def track_words(self, track: Track) -> str:
        """Return what is run on a track, in words for a stranger: who answers what, and how long the history is.

        Of tables with equal words, all but the first say what sets them apart.
        """
        return self._words.get(track.id) or self._settings(track)

    @cached_property
    def _words(self) -> dict[str, str]:
        first: dict[str, BoardTable] = {}
        found = {}
        for table in self.tables:
            words = self._settings(table.track)
            same = first.setdefault(words, table)
            more = [] if table.track.judge == same.track.judge else [f"judge {table.track.judge}"]
            more += [] if table.track.tier == same.track.tier else [f"sample {table.track.tier}"]
            more += [] if table is same or table.rows else ["superseded"]
            found[table.track.id] = ", ".join([words, *more])
        return found

    def _settings(self, track: Track) -> str:
        protocol, who = self.protocol(track), self._who(track)
        title = lower_first(protocol.title if protocol else track.protocol)
        several = any(one.track.protocol != track.protocol for one in self.tables if self._who(one.track) == who)
        more = [who]
        if several and title.lower() not in f"{who} {self.answers(track)}":
            more = [title if who == ONLY_SEARCH else f"{who} ({title})"]
        more += [self._size(track)] if track.tier != "full" or self._has_busier_sample(track) else []
        tracks = [table.track for table in self.tables if table.track.tier == track.tier]
        more += [
            f"{name} {value}"
            for name, value in sorted(track.parameters.items())
            if any(other.parameters.get(name) != value for other in tracks)
        ]
        more += [judge_label(track)] if has_llm_judge(track) else []
        return ", ".join(more)

    def _who(self, track: Track) -> str:
        answers = self.answers(track)
        if answers == "stored memories":
            return "what systems store"
        if answers.startswith("retrieval only, no "):
            return ONLY_SEARCH
        if track.reader == NATIVE:
            return "systems answer"
        reader = "a fixed reader" if track.reader_endpoint is None else track.reader
        return f"systems search, {reader} answers"

    def _has_busier_sample(self, track: Track) -> bool:
        """Return whether a table of a sample has more systems, so that it is the first that readers see."""
        rows = {table.track.id: len(table.rows) for table in self.tables}
        return any(
            len(table.rows) > rows.get(track.id, 0)
            for table in self.tables
            if table.track.tier != "full"
            and (table.track.protocol, table.track.reader) == (track.protocol, track.reader)
        )

    def _size(self, track: Track) -> str:
        tiers = {tier.name: tier for tier in self.info.tiers} if self.info else {}
        if (tier := tiers.get(track.tier)) is not None and tier.tokens is not None:
            return f"a history of {count(tier.tokens)} tokens"
        protocol = self.protocol(track)
        own = sum(category.items for category in protocol.categories) if protocol else 0
        whole = own or (tiers["full"].items if "full" in tiers else 0)
        if whole > track.planned:
            return f"{count(track.planned)} of {count(whole)} {self.items_word}"
        if track.tier == "full":
            return f"all {count(track.planned)} {self.items_word}"
        return f"another set of {self.items_word} ({track.tier})"

    def track_summary(self, track: Track) -> str:
        protocol = self.protocol(track)
        first = self.info.protocols[0].name if self.info else track.protocol
        asked = [] if track.protocol == first else [f"protocol: {protocol.title if protocol else track.protocol}"]
        size = (
            f"all {count(track.planned)} {self.items_word}"
            if track.tier == "full"
            else f"{count(track.planned)} {self.items_word} ({track.tier})"
        )
        return " · ".join([self.answers(track), judge_label(track), *asked, size])

    def answers(self, track: Track) -> str:
        """Return what is graded on a track: the reader's answers, or what the system retrieves or stores."""
        protocol = self.protocol(track)
        needs = protocol.needs if protocol and track.reader == NATIVE else ()
        if not needs or "reflect" in needs:
            return reader_label(track.reader)
        return "stored memories" if "export_memories" in needs else "retrieval only, no written answers"

    def reader_meaning(self, track: Track) -> str:
        answers = self.answers(track)
        if answers == "stored memories":
            return "No answers are written. The stored memories are graded."
        if answers == "retrieval only, no written answers":
            return "No answers are written. The retrieved texts are graded."
        return reader_meaning(track.reader)

    def rule_meaning(self, name: str) -> str:
        described = self.info.alternates if self.info else {}
        return described.get(name, f"Score of the same answers by the rule “{name}”.")

    def category_title(self, name: str) -> str:
        found = self.info.category(name) if self.info else None
        return found.title if found else name.replace("-", " ").replace("_", " ").capitalize()

    def ceiling(self, category: str) -> float | None:
        """Return the highest possible score of a category; ``None`` if no bound is known."""
        found = self.info.category(category) if self.info else None
        return found.ceiling if found else None

    def failure(self, scores: Iterable[CategoryScore]) -> str:
        """Return how items of some categories failed, such as ``did not open``; empty if nothing says it."""
        means = [score.metrics for score in scores if score.tally.correct < score.tally.planned]

        def explains(metric: MetricInfo) -> bool:
            return any((each.get(metric.name) or 0) > (each.get(metric.besides or "") or 0) for each in means)

        metrics = self.info.metrics if self.info else ()
        return ", ".join(each.failure for each in metrics if each.failure and explains(each))

    def metric(self, name: str) -> MetricInfo | None:
        """Return the description of a metric by its name in files; ``@k`` in a name matches any depth."""
        if self.info is None:
            return None
        stem, at, depth = name.partition("@")
        for metric in self.info.metrics:
            if metric.name == name:
                return metric
            if at and metric.name == f"{stem}@k":
                words = {part: re.sub(r"\bk\b", depth, getattr(metric, part)) for part in ("title", "meaning")}
                return metric.model_copy(update={"name": name, **words})
        return None

    def protocol(self, track: Track) -> ProtocolInfo | None:
        protocols = self.info.protocols if self.info else ()
        return next((each for each in protocols if each.name == track.protocol), None)

    def shown_metrics(self, track: Track) -> tuple[MetricInfo, ...]:
        protocol = self.protocol(track)
        found = (self.metric(name) for name in protocol.shown) if protocol else ()
        return tuple(metric for metric in found if metric is not None)

    def score_name(self, track: Track) -> str:
        """Return what the score of a run is: the headline metric if every item counts alike, else its weighted mean."""
        weighed = [plan for plan in track.categories if not plan.shared]
        total = sum(plan.items for plan in track.categories)
        alike = all(abs(plan.weight * total - plan.items) < 1e-6 for plan in weighed)
        title = self.headline(track)
        return title if alike else f"Weighted {title[:1].lower()}{title[1:]}"

    def headline(self, track: Track) -> str:
        protocol = self.protocol(track)
        metric = self.metric(protocol.headline) if protocol else None
        return metric.title if metric else "Accuracy"


@dataclass(frozen=True)
class SiteModel:
    board: Board
    benchmarks: Mapping[str, BenchmarkView]
    releases: tuple[Release, ...]
    version: str | None
    audits: tuple[AuditFolder, ...] = ()
    conformance: Mapping[str, Conformance] = field(default_factory=dict)
    """The latest conformance report of each system, by slug."""
    matrices: tuple[MatrixFolder, ...] = ()
    findings: FindingsReport | None = None
    """Published scores, counted again; ``None`` if the board has none."""
    regraded: tuple[RegradedFile, ...] = ()
    """Published answers, graded again."""
    regraded_ranks: Mapping[str, RankRange] = field(default_factory=dict)
    """The rank ranges of those that are ranked, by ``source/file``."""
    waits: Embargo = field(default_factory=Embargo)
    """The findings that wait for a notice to their authors. A published site has nothing of them."""
    labels: tuple[LabelReport, ...] = ()
    """What readers' labels say about graders, by sample."""
    submissions: Mapping[str, Submission] = field(default_factory=dict)
    settings: BoardSettings = field(default_factory=BoardSettings)
    is_memevals: bool = False
    """Whether it is the board of memeval's own repository. Only that one shows what memeval itself was tested for."""
    headline: frozenset[str] = frozenset()
    own_scores: Mapping[Path, Composite] = field(default_factory=dict)
    """Composites with the board's own weights, by the folder of the run; empty for benchmarks without such weights."""
    version_changes: tuple[ScoreChanges, ...] = ()
    """The systems with at least two versions on one track, for each such track. Controls are left out."""
    left_out: Mapping[LeftOut, int] = field(default_factory=dict)
    """How many runs are no point of a history of versions, by reason."""
    failure_heads: dict[Path, bytes | None] = field(default_factory=dict, compare=False, repr=False)
    """What is known of failure analyses, each read once, by the folder of the run."""

    @property
    def address(self) -> str | None:
        """Address of the root of this site, with a slash at its end; ``None`` if it is not known."""
        url = self.settings.site_url
        if url is None:
            return None
        return f"{url.rstrip('/')}/" + (f"{self.version}/" if self.version else "")

    @property
    def release(self) -> Release | None:
        """The release that the site shows; ``None`` if it shows the board of today."""
        return next((each for each in self.releases if each.version == self.version), None)

    @cached_property
    def products(self) -> Products:
        return products_of((row.run.system for row in self.board.runs), self.submissions)

    @cached_property
    def latest(self) -> str | None:
        """UTC time of the newest data. Pages show it instead of the build time."""
        times = [row.run.timing.ended for row in self.board.runs] + [entry.at for entry in self.board.ledger]
        times += [folder.audit.started for folder in self.audits]
        return max(times, default=None)

    @cached_property
    def controls(self) -> Mapping[str, tuple[BoardRow, ...]]:
        """All runs of controls, by slug, newest first."""
        found: dict[str, list[BoardRow]] = defaultdict(list)
        for row in self.board.runs:
            if row.is_control:
                found[row.run.system.slug].append(row)
        return {slug: tuple(rows) for slug, rows in found.items()}

    def benchmark_of(self, track: Track) -> BenchmarkView:
        return self.benchmarks[track.benchmark]

    def own_weights(self, track: Track) -> str | None:
        """Return the board's own weights for a track, such as ``Retention 60 %, Update 40 %``; ``None`` without."""
        weights = self.settings.weights.get(track.benchmark, {})
        if not weights or not set(weights) <= {category.name for category in track.categories}:
            return None
        title = self.benchmark_of(track).category_title
        return ", ".join(f"{title(name)} {100 * weight:g} %" for name, weight in weights.items())

    def text_allowed(self, row: BoardRow) -> bool:
        """Return whether a run's pages and data may hold the benchmark's words."""
        allowed = self.benchmark_of(row.run.track).redistribution is Redistribution.FULL
        return allowed and row.run.redistribution is Redistribution.FULL


def read_site(
    results: Path,
    *,
    version: str | None = None,
    releases: Iterable[Release] | None = None,
    ledger: Ledger | None = None,
    find: FindBenchmark | None = None,
    traces: Traces | None = None,
    runs: Sequence[RunFolder] | None = None,
) -> SiteModel:
    """Read the content of the site.

    ``runs``: what :func:`runs_of` returned; ``None`` to read the runs. The others are those of
    :func:`memeval.site.frame.building.build`. Raises ``BadInput`` if a run, the ledger, a release, an audit, a finding
    or ``memeval.toml`` cannot be read.
    """
    settings_file = board_settings(results, find or find_known)
    keeps = traces is not None and traces.keeps
    if runs is None:
        runs = runs_of(results, keeps, find=find)
    regraded = tuple(stored_regraded(results))
    if releases is None:
        releases = stored_releases(results)
    releases = list(releases)
    published = None if version is None else next((each.date for each in releases if each.version == version), "")
    reports = read_reports(results, regraded, keeps, published)
    if published is not None:
        regraded = tuple(file for file in regraded if file_name(file) not in reports.waits.files)
    board = build_board(runs, Ledger(results) if ledger is None else ledger, traces)
    with_versions = {
        each.run.run_id: each for each in (*runs, *shown_runs(history_runs(results), settings_file.settings))
    }
    history = history_of([each.run for each in with_versions.values()], board.ledger, stored_histories(results))
    places = {each.info.id: number for number, each in enumerate(all_benchmarks())}

    def place(benchmark: str) -> tuple[int, str]:
        return places.get(benchmark, len(places)), benchmark

    board = replace(board, tables=tuple(sorted(board.tables, key=lambda table: place(table.track.benchmark))))
    board = told_apart(board)
    names = {table.track.benchmark for table in board.tables}
    if find is None:
        names |= set(places if settings_file.settings.benchmarks is None else settings_file.settings.benchmarks)
    return SiteModel(
        board=board,
        benchmarks={name: _benchmark(name, board, find or find_known) for name in sorted(names, key=place)},
        releases=tuple(reversed(releases)),
        version=version,
        audits=tuple(stored_audits(results)),
        matrices=tuple(
            folder
            for folder in stored_matrices(results)
            if shows(settings_file.settings, *(benchmark.id for benchmark in folder.matrix.plan.benchmarks))
        ),
        findings=reports.findings,
        regraded=regraded,
        regraded_ranks=reports.ranks,
        waits=reports.waits,
        labels=reports.labels,
        conformance={report.slug: report for report in sorted(all_reports(results), key=lambda report: report.at)},
        submissions=_submissions(results.absolute().parent / "submissions"),
        settings=page_settings(settings_file.settings),
        is_memevals=results.absolute().parent == assets_root(),
        headline=headline_tracks(board.tables, settings_file),
        version_changes=tuple(
            ScoreChanges(series, with_versions.get) for series in history.with_versions if not series.is_control
        ),
        left_out=history.left_out,
        own_scores={
            folder.path: score
            for folder in runs
            if (weights := settings_file.settings.weights.get(folder.run.track.benchmark))
            and (score := own_score(folder, weights)) is not None
        },
    )


def runs_of(
    results: Path, keeps: bool, sealed: Sequence[RunFolder] | None = None, find: FindBenchmark | None = None
) -> list[RunFolder]:
    """Return the runs that the board of a results folder shows.

    ``keeps``: whether what an earlier build found of the runs may be used. ``sealed``: all sealed runs of the folder,
    if they were read already. Raises ``BadInput`` if ``memeval.toml`` cannot be read.
    """
    found = list(sealed_runs(results) if sealed is None else sealed)
    found = [KeptRun.of(folder) for folder in found] if keeps else found
    return shown_runs(found, board_settings(results, find or find_known).settings)


def _submissions(folder: Path) -> dict[str, Submission]:
    """Return the submissions next to the results folder, by slug; invalid manifests are skipped."""
    found: dict[str, Submission] = {}
    for manifest in sorted(folder.glob(f"*/{MANIFEST}")):
        whole, faults = examined_manifest(manifest)
        if whole is None or faults:
            continue
        for slug, variant in whole.slugs.items():
            found[slug] = whole if variant is None else whole.varied(variant)
    return found


def judge_label(track: Track) -> str:
    """Return who grades the answers of a track, and whether that is an LLM."""
    if not asks_judge(track):
        return "measured by formula, no judge"
    if not has_llm_judge(track):
        version = "" if track.judge == RulesJudge.name else f" ({track.judge})"
        return f"rule-based grading, no LLM{version}"
    return f"LLM judge {track.judge}" + (f" ({track.judge_label})" if track.judge_label else "")


def asks_judge(track: Track) -> bool:
    return not track.categories or bool(judged_graders(track))


def has_llm_judge(track: Track) -> bool:
    """Return whether a language model grades the answers of a track."""
    return asks_judge(track) and track.judge.partition("@")[0] != "rules"


def _benchmark(name: str, board: Board, find: FindBenchmark) -> BenchmarkView:
    tables = tuple(table for table in board.tables if table.track.benchmark == name)
    words = {row.run.redistribution for row in board.runs if row.run.track.benchmark == name}
    benchmark: Benchmark | None = None
    missing: str | None = None
    try:
        benchmark = find(name)
    except MemevalError as error:
        missing = error.problem
    if benchmark is not None:
        words.add(benchmark.info.redistribution)
    tracks = {(table.track.data_digest, asked_of(table.track)): table.track for table in tables}
    return BenchmarkView(
        id=name,
        info=benchmark.info if benchmark else None,
        missing=missing,
        data={name: data_of(track, benchmark, missing) for name, track in tracks.items()},
        tables=tables,
        redistribution=Redistribution.IDS if Redistribution.IDS in words else Redistribution.FULL,
        benchmark=benchmark,
    )
