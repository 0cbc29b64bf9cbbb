"""The overview of the front page: systems by benchmarks, one table for each thing that is measured."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from memeval.execution.readers import NATIVE
from memeval.leaderboard.board import NO_MEMORY, PLUMBING, BoardRow, BoardTable, RankStatus
from memeval.leaderboard.overall import overall
from memeval.leaderboard.ranking import baseline_word
from memeval.leaderboard.scales import ORACLE
from memeval.leaderboard.suites import read_suites
from memeval.records.ledger import AnswerTrust
from memeval.records.overall import Overall, OverallRow
from memeval.records.run import SystemKind
from memeval.records.track import Track
from memeval.site.model.content import BenchmarkView, SiteModel, has_llm_judge
from memeval.site.table.spending import COST_PER_QUESTION, TOKENS
from memeval.site.table.standings import MOST_NAMED, tie_sentence
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
            "retrieval": "Systems only search. A fixed reader without an LLM answers from what they find, or the "
            "retrieved texts are graded.",
            "answers": "Systems write their answers themselves.",
            "suites": "Short tests of single functions, with texts to store and queries.",
        }[self.value]


def measure_of(benchmark: BenchmarkView, track: Track) -> Measure | None:
    """Return what a track measures; ``None`` for tracks that the front page leaves out.

    It leaves out tracks that only test the software, and those that grade what a system stores.
    """
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
    in_index: bool
    """Whether the index counts the track."""

    @property
    def protocol(self) -> str:
        return self.benchmark.score_name(self.table.track)

    @property
    def baseline(self) -> float | None:
        """Score of the best simple baseline; ``None`` without one."""
        return self.table.baseline.scores.composite.value if self.table.baseline else None

    def control(self, slug: str) -> float | None:
        """Return the score of a control; ``None`` if it did not run."""
        for row in self.table.rows:
            if row.run.system.slug == slug and row.run.system.kind is SystemKind.CONTROL:
                return row.run.scores.composite.value
        return None


@dataclass(frozen=True)
class OverviewCell:
    row: BoardRow
    against: Against

    @property
    def ranked(self) -> bool:
        return self.row.rank is not None


@dataclass(frozen=True)
class OverviewRow:
    """A system of the overview."""

    slug: str
    name: str
    summary: str | None
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
    rows: tuple[OverviewRow, ...]
    table: Overall | None

    @cached_property
    def baseline(self) -> OverallRow | None:
        if self.table is None:
            return None
        found = (row for row in self.table.rows if row.is_control and row.system == self.table.baseline)
        return next(found, None)

    @property
    def has_cost(self) -> bool:
        return any(row.cost is not None for row in self.rows)

    @property
    def main_title(self) -> str:
        return "Overall" if self.table else self.columns[0].benchmark.title

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
    def worse(self) -> list[OverviewRow]:
        return [row for row in self.rows if row.stands(Against.WORSE)]

    @property
    def has_judge(self) -> bool:
        return any(has_llm_judge(column.table.track) for column in self.columns)

    @property
    def has_baseline(self) -> bool:
        return any(column.baseline is not None for column in self.columns)

    @property
    def anchors(self) -> tuple[tuple[str, str], ...]:
        ends = ((ORACLE, "Ceiling: only the evidence"), (NO_MEMORY, "Floor: no memory"))
        return tuple(end for end in ends if any(column.control(end[0]) is not None for column in self.columns))


def overviews(site: SiteModel) -> list[Overview]:
    """Return the overview of each measure that has a system with a run, the one with the most systems first."""
    known = vars(site)  # a copy of the site with other values has none
    if "overviews" not in known:
        known["overviews"] = _overviews(site)
    return list(known["overviews"])


def _overviews(site: SiteModel) -> list[Overview]:
    suites = {suite.id.partition("@")[0]: suite for suite in read_suites()}
    found = []
    for measure in Measure:
        chosen = suites.get(SUITES.get(measure, ""))
        table = overall(site.board, chosen) if chosen else None
        if table is not None and not any(row.index is not None and not row.is_control for row in table.rows):
            table = None
        overview = _overview(site, measure, table)
        if overview.rows:
            found.append(overview)
    return sorted(found, key=lambda each: -len(each.rows))


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
        systems = sum(row.run.system.kind is not SystemKind.CONTROL for row in table.rows)
        return track.id in site.headline, track.id in first, table.ranked, track.tier == "full", systems

    fitting = [
        table
        for table in benchmark.tables
        if measure_of(benchmark, table.track) is measure and any(_is_shown(row) for row in table.rows)
    ]
    return max(fitting, key=order, default=None)


def _is_shown(row: BoardRow) -> bool:
    """Return whether a run is in the overview: a system's own, complete, and no smoke test."""
    if row.run.system.kind is SystemKind.CONTROL:
        return False
    return row.standing in (RankStatus.RANKED, RankStatus.MOCK, RankStatus.UNREVIEWED)


def _overview(site: SiteModel, measure: Measure, table: Overall | None) -> Overview:
    of_index = [track.track_id for track in table.tracks if track.track_id] if table else []
    columns = []
    for benchmark in site.benchmarks.values():
        chosen = headline_of(site, benchmark, measure, of_index)
        if chosen is not None:
            columns.append(OverviewColumn(benchmark, chosen, chosen.track.id in of_index))
    columns.sort(key=lambda column: not column.in_index)
    indexes = {row.system: row for row in table.rows if not row.is_control and row.index is not None} if table else {}
    found: dict[str, list[BoardRow | None]] = {}
    for place, column in enumerate(columns):
        for row in column.table.rows:
            if _is_shown(row):
                found.setdefault(row.run.system.slug, [None] * len(columns))[place] = row
    rows = [_row(site, slug, cells, columns, indexes.get(slug)) for slug, cells in found.items()]
    rows.sort(key=_order)
    return Overview(measure, tuple(columns), tuple(rows), table)


def _order(row: OverviewRow) -> tuple[bool, float, int, float, str]:
    ranked = [cell.row.run.scores.composite.value or 0.0 for cell in row.cells if cell and cell.ranked]
    index = row.index.index if row.index and row.index.index is not None else 0.0
    return row.index is None, -index, -len(ranked), -(ranked[0] if ranked else 0.0), row.slug


def _row(
    site: SiteModel,
    slug: str,
    cells: Sequence[BoardRow | None],
    columns: Sequence[OverviewColumn],
    index: OverallRow | None,
) -> OverviewRow:
    runs = [row for row in cells if row is not None]
    newest = max(runs, key=lambda row: row.run.timing.started)
    submission = site.submissions.get(slug)
    indexed = [row for row, column in zip(cells, columns, strict=True) if row and column.in_index] if index else []
    return OverviewRow(
        slug=slug,
        name=newest.run.system.name,
        summary=newest.run.system.configured or (submission.summary if submission else None),
        index=index,
        cells=tuple(OverviewCell(row, _against(row)) if row else None for row in cells),
        tokens=_mean([TOKENS.read(row).value for row in indexed]),
        cost=_mean([COST_PER_QUESTION.read(row).value for row in indexed]),
        checked=min((row.trust.answers for row in runs), key=_TRUST.index, default=None),
        accepted=all(row.accepted for row in runs),
        needs=needs(newest.run),
    )


def _against(row: BoardRow) -> Against:
    test = row.against_baseline
    return Against.UNKNOWN if test is None else Against(baseline_word(test.difference, test.apart))


def _mean(values: Sequence[float | str | None]) -> float | None:
    numbers = [value for value in values if isinstance(value, float | int)]
    return sum(numbers) / len(numbers) if numbers and len(numbers) == len(values) else None


@dataclass(frozen=True)
class Verdict:
    """Who leads by the index, and whether anyone beats the baseline."""

    leaders: tuple[str, ...]
    """Names of the systems that no other is significantly better than."""
    others: int
    """Number of further leaders that are not named."""
    what: str
    """What is said of them, after their names."""


def verdict(overview: Overview) -> Verdict | None:
    """Return who leads, and whether anyone beats the baseline; ``None`` without an index."""
    rows = overview.indexed
    if not rows:
        return None
    leaders = [row.name for row in rows if row.leads]
    if len(rows) == 1:
        first = f"is the only system with an index ({_index(rows[0].index)})."
    elif len(leaders) == 1:
        first = "leads." if rows[0].ranks == (1, 1) else "leads, but not significantly over every other system."
    else:
        first = "lead, and the data do not show which of them is better."
    named = leaders if len(leaders) <= MOST_NAMED else leaders[: MOST_NAMED - 1]
    return Verdict(tuple(named), len(leaders) - len(named), f"{first} {_above(overview, rows)}".strip())


def _above(overview: Overview, rows: Sequence[OverviewRow]) -> str:
    """Return how many systems are better than the baseline, as a sentence; empty without a baseline."""
    base = overview.baseline
    if base is None:
        return ""
    better = sum(row.stands(Against.BETTER) for row in rows)
    if len(rows) == 1:
        who = "It is" if better else "It is not"
    else:
        who = f"{better or 'None'} of the {len(rows)} systems {'are' if better > 1 else 'is'}"
    return f"{who} significantly better than the best simple baseline, {base.name} ({_index(base)})."


def _index(row: OverallRow | None) -> str:
    return "" if row is None or row.index is None else f"{100 * row.index:.1f}"
