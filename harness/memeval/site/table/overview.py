"""The overview of the front page: systems by the benchmarks of a suite, one table for each thing that is measured."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from markupsafe import Markup

from memeval.execution.readers import NATIVE
from memeval.leaderboard.board import (
    ALWAYS_UNSURE,
    FILE_GREP,
    NO_MEMORY,
    PLUMBING,
    RECENCY,
    WORD_SEARCH,
    BoardRow,
    BoardTable,
    RankStatus,
)
from memeval.leaderboard.overall import overall
from memeval.leaderboard.scales import ORACLE
from memeval.leaderboard.suites import find_suite, read_suites
from memeval.records.ledger import AnswerTrust
from memeval.records.overall import Overall, OverallRow
from memeval.records.run import SystemIdentity
from memeval.records.submission import Submission, configuration_text
from memeval.records.track import Track
from memeval.site.model import text
from memeval.site.model.content import BenchmarkView, SiteModel, has_llm_judge
from memeval.site.model.labels import name_key
from memeval.site.model.products import ProductKind
from memeval.site.table.spending import COST_PER_QUESTION, TOKENS
from memeval.site.table.standings import isolated, listed, tie_sentence
from memeval.site.table.tables import Needs, needs


class Measure(StrEnum):
    """What is measured, in the order of the tabs."""

    RETRIEVAL = "retrieval"
    """What systems find. A fixed reader answers from it, or it is graded itself."""
    ANSWERS = "answers"
    """The answers that systems write."""
    SUITES = "suites"
    """Short suites for developers, with texts to store and queries."""

    @property
    def heading(self) -> str:
        return {"retrieval": "Retrieval", "answers": "Written answers", "suites": "Test suites"}[self.value]

    @property
    def meaning(self) -> str:
        return {
            "retrieval": "Systems only search. Either what they find is graded, or a fixed reader (no LLM) answers "
            "from it and the answer is graded.",
            "answers": "Systems write their answers themselves.",
            "suites": "Short tests of single functions, with texts to store and queries.",
        }[self.value]


def measure_of(benchmark: BenchmarkView, track: Track) -> Measure | None:
    """Return what a track measures; ``None`` if it only tests the software, or grades what a system stores."""
    if track.parameters.get("label") == PLUMBING:
        return None
    if benchmark.info is not None and benchmark.info.suite is not None:
        return Measure.SUITES
    answers = benchmark.answers(track)
    if answers == "stored memories":
        return None
    return Measure.ANSWERS if track.reader == NATIVE and not answers.startswith("retrieval") else Measure.RETRIEVAL


SUITES = {Measure.RETRIEVAL: "retrieval", Measure.ANSWERS: "answers"}
"""The suite of benchmarks that gives the index of each measure; others have none."""

MOST_LINKED = 100

NEARLY_ALL = 0.95
"""A ceiling below this share is mentioned beside the index."""

_TRUST = tuple(AnswerTrust)


class Against(StrEnum):
    BETTER = "better"
    EVEN = "not better"
    WORSE = "worse"
    UNKNOWN = "not compared"


@dataclass(frozen=True)
class OverviewColumn:
    """A benchmark of the overview, by its headline track."""

    benchmark: BenchmarkView
    table: BoardTable

    @property
    def protocol(self) -> str:
        return self.benchmark.score_name(self.table.track)

    @property
    def baseline(self) -> float | None:
        """Score of the best simple baseline; ``None`` without one."""
        return self.table.baseline.scores.composite.value if self.table.baseline else None

    def control(self, slug: str) -> float | None:
        """Return the score of a control; ``None`` if it did not run."""
        row = self.table.control(slug)
        return row.score if row else None


@dataclass(frozen=True)
class OverviewCell:
    row: BoardRow
    against: Against

    @property
    def ranked(self) -> bool:
        return self.row.rank is not None


@dataclass(frozen=True)
class SystemRow:
    """A system in a table of products and controls."""

    slug: str
    name: str
    """Its product and version, with the slug if another row has the same; without either, the name of the system."""
    settings: str | None
    """How it was configured."""
    kind: ProductKind

    @property
    def named(self) -> dict[str, str | None]:
        """How downloads name it."""
        return {"system": self.slug, "name": self.name, "configuration": self.settings, "kind": self.kind.value}

    @property
    def order(self) -> tuple[int, str, str]:
        """Products come first, and controls last."""
        return list(ProductKind).index(self.kind), self.name.lower(), self.slug


@dataclass(frozen=True)
class OverviewRow(SystemRow):
    """Without a configuration, its settings are the summary of its submission."""

    short: str
    """The name of its product alone, unless another row has the same product."""
    index: OverallRow | None
    cells: tuple[OverviewCell | None, ...]
    """Its scores; ``None`` where it has no run."""
    tokens: float | None
    """Context tokens per question: mean over the benchmarks of the index; ``None`` without an index."""
    cost: float | None
    """Dollars per question: mean over the benchmarks of the index; ``None`` if one is unknown."""
    checked: AnswerTrust | None
    accepted: bool
    needs: Needs

    @property
    def ranks(self) -> tuple[int, int] | None:
        return self.index.ranks if self.index else None

    @property
    def leads(self) -> bool:
        """Whether no system is significantly better."""
        return self.ranks is not None and self.ranks[0] == 1

    def stands(self, word: str) -> bool:
        """Whether its index is ``better`` or ``worse`` than that of the baseline; ``False`` without an index."""
        return self.index is not None and self.index.against_baseline == word

    @property
    def labels(self) -> str | None:
        """Why its runs have no rank, if none has one."""
        found = [cell.row for cell in self.cells if cell]
        if not found or any(row.rank is not None for row in found):
            return None
        return found[0].standing.value


@dataclass(frozen=True)
class Overview:
    """The systems and benchmarks of one measure."""

    measure: Measure
    columns: tuple[OverviewColumn, ...]
    """The benchmarks of the index; without an index, all."""
    rows: tuple[OverviewRow, ...]
    table: Overall | None
    headlines: tuple[BoardTable, ...] = ()
    """The headline track of each benchmark of the measure, also of those without a column."""

    @cached_property
    def baseline(self) -> OverallRow | None:
        if self.table is None:
            return None
        found = (row for row in self.table.rows if row.is_control and row.system == self.table.baseline)
        return next(found, None)

    @property
    def has_cost(self) -> bool:
        """Whether the costs are known and differ: a column of equal values says nothing."""
        return len({row.cost for row in self.indexed} | {None}) > 2

    @property
    def has_runners(self) -> bool:
        return len({(row.checked, row.accepted) for row in self.rows}) > 1

    @property
    def same(self) -> list[str]:
        """What has no column because it is the same for every row."""
        first, costs = self.rows[0], {row.cost for row in self.indexed}
        runner = [first.checked.value] if first.checked and not self.has_runners else []
        known = [cost for cost in costs if cost is not None and len(costs) == 1]
        return runner + [f"{text.dollars(1000 * cost)} per 1,000 questions" for cost in known]

    @property
    def is_mean(self) -> bool:
        """Whether the index is the plain mean of the columns."""
        return self.table is not None and all((each.floor, each.ceiling) == (0, 1) for each in self.table.tracks)

    @property
    def bounded(self) -> list[OverviewColumn]:
        """The columns in which even a system that finds all evidence does not come near 100."""
        return [each for each in self.columns if (each.control(ORACLE) or 1) < NEARLY_ALL]

    @property
    def linked(self) -> bool:
        """Whether each score is a link to its run: thousands of links make a page slow."""
        return len(self.rows) <= MOST_LINKED

    @property
    def tied(self) -> set[str]:
        """Slugs of the systems that are tied with another one although their intervals do not overlap."""
        pairs = self.table.tied_apart if self.table else ()
        return {slug for pair in pairs for slug in (pair.higher, pair.lower)}

    @property
    def ties(self) -> list[str]:
        """A sentence for each such pair."""
        names = {row.slug: row.name for row in self.rows}
        return [tie_sentence(pair, names) for pair in (self.table.tied_apart if self.table else ())]

    @property
    def indexed(self) -> list[OverviewRow]:
        return [row for row in self.rows if row.index is not None]

    @property
    def can_weigh(self) -> bool:
        """Whether a reader can weigh the benchmarks: the index is over several, and has at least two ranks."""
        placed = (
            [row for row in self.table.rows if row.index is not None and row.rank is not None] if self.table else []
        )
        return len(self.columns) > 1 and len(placed) > 1

    def fewest_tokens(self, margin: float) -> tuple[OverviewRow, OverviewRow] | None:
        """Return the row with the best index, and the one with the fewest tokens within a margin of it.

        Returns ``None`` unless two rows have index and tokens. ``margin``: a share of 1.
        """
        indexed = ((row.index.index if row.index else None, row.tokens, row) for row in self.rows)
        counted = [(index, tokens, row) for index, tokens, row in indexed if index is not None and tokens is not None]
        if len(counted) < 2:
            return None
        best = max(counted, key=lambda each: (each[0], -each[1]))
        near = [each for each in counted if each[0] >= best[0] - margin - 1e-12]
        return best[2], min(near, key=lambda each: (each[1], -each[0]))[2]

    @property
    def has_judge(self) -> bool:
        return any(has_llm_judge(column.table.track) for column in self.columns)

    @property
    def has_baseline(self) -> bool:
        return any(column.baseline is not None for column in self.columns)

    @property
    def anchors(self) -> tuple[tuple[str, str], ...]:
        ends = (
            (ORACLE, "Ceiling: only the evidence"),
            (RECENCY, "The last turns only"),
            (ALWAYS_UNSURE, "Always unsure"),
            (NO_MEMORY, "Floor: no memory"),
        )
        return tuple(end for end in ends if any(column.control(end[0]) is not None for column in self.columns))


def on_front(found: Sequence[Overview]) -> list[Overview]:
    """Return the overviews with an index, or all if none has one."""
    return [each for each in found if each.table] or list(found)


def overviews(site: SiteModel) -> list[Overview]:
    """Return the overview of each measure with a run: those with an index first, then those with the most systems."""
    known = vars(site)  # a copy of the site with other values has none
    if "overviews" not in known:
        known["overviews"] = _overviews(site)
    return list(known["overviews"])


def _overviews(site: SiteModel) -> list[Overview]:
    found = []
    for measure in Measure:
        chosen = SUITES.get(measure)
        table = overall(site.board, find_suite(read_suites(), chosen)) if chosen else None
        if table is not None and not any(row.index is not None and not row.is_control for row in table.rows):
            table = None
        overview = _overview(site, measure, table)
        if overview.rows:
            found.append(overview)
    return sorted(found, key=lambda each: (each.table is None, -len(each.rows)))


def headline_of(
    site: SiteModel, benchmark: BenchmarkView, measure: Measure, of_index: Iterable[str]
) -> BoardTable | None:
    """Return the track that the overview shows for a benchmark; ``None`` without one.

    It is the track that the settings choose, else that of the index, else the one with the most ranked systems; of
    equal ones, the one with the full data.
    """
    first = set(of_index)

    def order(table: BoardTable) -> tuple[bool, bool, int, bool, int]:
        track = table.track
        systems = sum(not row.is_control for row in table.rows)
        return track.id in site.headline, track.id in first, table.ranked, track.tier == "full", systems

    fitting = [
        table
        for table in benchmark.tables
        if measure_of(benchmark, table.track) is measure and any(_is_shown(row) for row in table.rows)
    ]
    return max(fitting, key=order, default=None)


def _is_shown(row: BoardRow) -> bool:
    """Return whether a run is in the overview: a system's own, complete, and no smoke test."""
    if row.is_control:
        return False
    return row.standing in (RankStatus.RANKED, RankStatus.MOCK, RankStatus.UNREVIEWED)


def _overview(site: SiteModel, measure: Measure, table: Overall | None) -> Overview:
    of_index = [track.track_id for track in table.tracks if track.track_id] if table else []
    chosen = [(each, headline_of(site, each, measure, of_index)) for each in site.benchmarks.values()]
    every = [OverviewColumn(benchmark, headline) for benchmark, headline in chosen if headline is not None]
    tables = {each.track.id: each for each in site.board.tables}
    columns = [OverviewColumn(site.benchmark_of(tables[each].track), tables[each]) for each in of_index] or every
    indexes = {row.system: row for row in table.rows if not row.is_control and row.index is not None} if table else {}
    found: dict[str, list[BoardRow | None]] = {}
    for place, column in enumerate(columns):
        for row in column.table.rows:
            if _is_shown(row):
                found.setdefault(row.run.system.slug, [None] * len(columns))[place] = row
    newest = {
        slug: max((row for row in cells if row), key=lambda row: row.run.timing.started)
        for slug, cells in found.items()
    }
    names = told_apart_names([row.run.system for row in newest.values()])
    shared = Counter(site.products.by_slug[slug].slug for slug in found)
    rows = [_row(site, newest[slug], names[slug], cells, indexes.get(slug), shared) for slug, cells in found.items()]
    return Overview(
        measure, tuple(columns), tuple(sorted(rows, key=_order)), table, tuple(each.table for each in every)
    )


def _order(row: OverviewRow) -> tuple[bool, float, int, float, str]:
    ranked = [cell.row.score or 0.0 for cell in row.cells if cell and cell.ranked]
    index = row.index.index if row.index and row.index.index is not None else 0.0
    return row.index is None, -index, -len(ranked), -(ranked[0] if ranked else 0.0), row.slug


def told_apart_names(systems: Iterable[SystemIdentity | Submission]) -> dict[str, tuple[str, str | None]]:
    """Return product and version of each system, and its settings, by slug.

    A system without either has its own name. Of equal names, each gets the slug of its system.
    """
    found = {
        each.slug: (
            configuration_text(each.name, each.version, each.product, each.configuration) or each.name
        ).partition(" · ")
        for each in systems
    }
    names = Counter(name_key(name) for name, _dot, _settings in found.values())
    return {
        slug: (f"{name} ({slug})" if names[name_key(name)] > 1 else name, settings or None)
        for slug, (name, _dot, settings) in found.items()
    }


def _row(
    site: SiteModel,
    newest: BoardRow,
    named: tuple[str, str | None],
    cells: Sequence[BoardRow | None],
    index: OverallRow | None,
    shared: Mapping[str, int],
) -> OverviewRow:
    """Return the row of a system. ``shared``: how many rows a product has, by its slug."""
    runs = [row for row in cells if row is not None]
    slug = newest.run.system.slug
    product = site.products.by_slug[slug]
    submission = site.submissions.get(slug)
    return OverviewRow(
        slug=slug,
        name=named[0],
        short=product.name if shared[product.slug] == 1 else named[0],
        settings=named[1] or (submission.summary if submission else None),
        kind=product.kind,
        index=index,
        cells=tuple(OverviewCell(row, _against(row)) if row else None for row in cells),
        tokens=_mean([TOKENS.read(row).value for row in runs]) if index else None,
        cost=_mean([COST_PER_QUESTION.read(row).value for row in runs]) if index else None,
        checked=min((row.trust.answers for row in runs), key=_TRUST.index, default=None),
        accepted=all(row.accepted for row in runs),
        needs=needs(newest.run),
    )


def _against(row: BoardRow) -> Against:
    return Against.UNKNOWN if row.against_baseline is None else Against(row.against_baseline.word)


def _mean(values: Sequence[float | str | None]) -> float | None:
    numbers = [value for value in values if isinstance(value, float | int)]
    return sum(numbers) / len(numbers) if numbers and len(numbers) == len(values) else None


def verdict(overview: Overview) -> Markup | None:
    """Return how the products compare with each other and with the baseline; ``None`` without an index.

    Without a product that has an index, it speaks of all systems.
    """
    rows = [row for row in overview.indexed if row.kind is ProductKind.PRODUCT] or overview.indexed
    if not rows:
        return None
    what = "product" if rows[0].kind is ProductKind.PRODUCT else "system"
    return Markup(" ").join(filter(None, (_leads(rows, what), _as_good(overview, rows), _above(overview, rows, what))))


def _leaders(rows: Sequence[OverviewRow]) -> list[OverviewRow]:
    """Return the systems with a rank that none of the others beats."""
    slugs = {row.slug for row in rows}
    return [row for row in rows if row.index and row.index.ranks and slugs.isdisjoint(row.index.behind)]


def _as_good(overview: Overview, rows: Sequence[OverviewRow]) -> Markup:
    """Return which leaders have exactly the scores of a reference system, so that a part they share decides them."""
    known = [(row, row.index.scores) for row in overview.rows if row.kind is ProductKind.REFERENCE and row.index]
    pairs = [
        (row.short, other.short)
        for row in _leaders(rows)
        for other, scores in known
        if row.index and other is not row and None not in scores and scores == row.index.scores
    ]
    return Markup(" ").join(Markup("{} has exactly the scores of {}.").format(*map(isolated, pair)) for pair in pairs)


def _leads(rows: Sequence[OverviewRow], what: str) -> Markup:
    tied = _leaders(rows)
    names = listed([row.short for row in tied or rows[:1]])
    if len(rows) == 1:
        return Markup("{} is the only {} with an overall score ({}).").format(names, what, _index(rows[0].index))
    if len(tied) < 2:
        return Markup("{} leads the {} {}s.").format(names, len(rows), what)
    may = "difference may" if len(tied) == 2 else "differences may"
    return Markup("{} share first place among {} {}s: their {} be chance.").format(names, len(rows), what, may)


def _above(overview: Overview, rows: Sequence[OverviewRow], what: str) -> Markup:
    """Return which systems are better than the baseline, and which are not; empty without a baseline."""
    base = overview.baseline
    if base is None:
        return Markup("")
    simple = "the best simple baseline with an overall score"
    plain = "plain keyword search" if base.system in WORD_SEARCH else simple
    grep = base.system == FILE_GREP
    name = Markup("text files searched with grep") if grep else Markup("{}, {}").format(plain, isolated(base.name))
    than = Markup("{} ({})").format(name, _index(base))
    sorted_out = {word: [row.short for row in rows if row.stands(word)] for word in Against}
    better, even, worse = (sorted_out[word] for word in (Against.BETTER, Against.EVEN, Against.WORSE))
    if len(worse) == len(rows) > 1:
        return Markup("All {} score significantly lower than {}.").format(len(rows), than)
    if not better + even + worse:
        return Markup("")
    verb = "is" if len(better) == 1 else "are"
    who = Markup("{} {}").format(listed(better), verb) if better else Markup("No {} is").format(what)
    said = Markup("{} significantly better than {}.").format(who, than)
    if better and even:
        said += Markup(" The difference of {} may be chance.").format(listed(even))
    if worse:
        said += Markup(" {} {} significantly lower.").format(listed(worse), "scores" if len(worse) == 1 else "score")
    return said


def _index(row: OverallRow | None) -> str:
    return "" if row is None or row.index is None else text.percent(row.index)
