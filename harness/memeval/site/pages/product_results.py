"""What the page of a product says of its runs: scores against a baseline, probes, evidence, claims, versions."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memeval.leaderboard.board import WORD_SEARCH, BoardRow, BoardTable, RankStatus
from memeval.leaderboard.ranking import PairTest
from memeval.records.benchmark import CategoryInfo
from memeval.records.failure import EvidenceFound
from memeval.records.finding import RecountedClaim
from memeval.records.run import SystemKind
from memeval.records.scores import Tally
from memeval.site.items.failure_tables import run_failures
from memeval.site.model.content import BenchmarkView, SiteModel
from memeval.site.model.labels import label
from memeval.site.model.text import ABSENT
from memeval.site.table.columns import TableCell
from memeval.site.table.overview import overviews
from memeval.site.table.spending import SPENDING
from memeval.site.table.tables import TableView, view


@dataclass(frozen=True)
class CategoryDifference:
    """A category in which a system differs significantly from the baseline."""

    title: str
    test: PairTest
    tally: Tally


@dataclass(frozen=True)
class SystemResult:
    """A system's run on the headline track of a benchmark."""

    benchmark: BenchmarkView
    table: BoardTable
    row: BoardRow
    better: tuple[CategoryDifference, ...]
    worse: tuple[CategoryDifference, ...]
    untested: str | None
    """Why it was not compared with a baseline; ``None`` if it was."""
    evidence: tuple[tuple[str, str, int], ...]
    """How many items had all, some, none or unknown evidence, with the filters of evidence and verdict that open them;
    empty if the rows are not on this machine, or say nothing about evidence."""

    @property
    def spent(self) -> tuple[TableCell, ...]:
        return tuple(column.cell(self.row) for column in SPENT)

    @property
    def is_timed(self) -> bool:
        """Whether a cost or time of the run is known: trials of crashes have neither."""
        return any(cell.text != ABSENT for cell in self.spent)

    @property
    def against(self) -> str | None:
        """``better``, ``worse`` or ``not better`` than the baseline; ``None`` without a test."""
        test = self.row.against_baseline
        return None if test is None or self.untested else test.word


_SHOWN = (
    "tokens_per_question",
    "cost_per_question_usd",
    "cost_take_in_usd",
    "ask_p50_seconds",
    "take_in_total_seconds",
)
SPENT = tuple(column for column in SPENDING if column.name in _SHOWN)

METHODS = frozenset({"bm25", "full", "last", "persona", "rag", "reflection", "vector"})
"""First words of names in claims that name a method, not a product."""


def headline_tables(site: SiteModel) -> list[BoardTable]:
    """Return the tables that the overviews of the front page are made of, in their order."""
    found = {table.track.id: table for overview in overviews(site) for table in overview.headlines}
    return list(found.values())


def views_from_headlines(site: SiteModel) -> list[TableView]:
    """Return all tables of the board: those of the front page first."""
    first = [table.track.id for table in headline_tables(site)]
    views = [view(site, table) for table in site.board.tables]
    return sorted(views, key=lambda each: first.index(each.id) if each.id in first else len(first))


def system_results(site: SiteModel, tables: Iterable[BoardTable], slug: str, kind: SystemKind) -> list[SystemResult]:
    return [
        _result(site, table, row)
        for table in tables
        for row in table.rows
        if row.run.system.slug == slug and row.run.system.kind is kind
    ]


def _result(site: SiteModel, table: BoardTable, row: BoardRow) -> SystemResult:
    benchmark = site.benchmark_of(table.track)
    untested = _untested(benchmark, table, row)
    apart = [] if untested else _apart(benchmark, table, row)
    return SystemResult(
        benchmark=benchmark,
        table=table,
        row=row,
        better=tuple(each for each in apart if each.test.difference > 0),
        worse=tuple(each for each in apart if each.test.difference < 0),
        untested=untested,
        evidence=_evidence(site, row),
    )


def _untested(benchmark: BenchmarkView, table: BoardTable, row: BoardRow) -> str | None:
    if row.rank is None:
        return f"not compared: the run has no rank ({label(row.standing)})"
    if table.baseline is None:
        protocol = benchmark.protocol(table.track)
        calls = f", and the protocol needs {' and '.join(protocol.needs)}" if protocol and protocol.needs else ""
        return f"not compared: no simple baseline ran here{calls}"
    return "not compared: there are no tests" if row.against_baseline is None else None


def _apart(benchmark: BenchmarkView, table: BoardTable, row: BoardRow) -> list[CategoryDifference]:
    if table.tests is None or table.baseline is None:
        return []
    base = next(each for each in table.rows if each.run is table.baseline)
    own, other = row.folder.path, base.folder.path
    tallies = {each.name: each.tally for each in row.run.scores.categories}
    found = [
        CategoryDifference(benchmark.category_title(name), table.tests.pair(own, other, name), tallies[name])
        for name in table.tests.names[1:]
    ]
    return sorted((each for each in found if each.test.apart), key=lambda each: -abs(each.test.difference))


def _evidence(site: SiteModel, row: BoardRow) -> tuple[tuple[str, str, int], ...]:
    failures = run_failures(site, row)
    lines = {line.found: (line.right, line.wrong) for line in failures.summary.found} if failures else {}
    right, wrong = lines.pop(EvidenceFound.ALL, (0, 0))
    counts = [("all", "right", right), ("all", "missed", wrong)]
    for found in (EvidenceFound.SOME, EvidenceFound.NONE, EvidenceFound.UNKNOWN):
        counts.append((found.value, "", sum(lines.get(found, ()))))
    return tuple(counts) if any(number for _evidence, _verdict, number in counts[:-1]) else ()


@dataclass(frozen=True)
class Probe:
    """What a buyer fears, and in how many items it did not happen."""

    category: CategoryInfo
    row: BoardRow
    passed: int
    planned: int
    failure: str
    """How the other items failed; empty if nothing says it."""

    @property
    def answer(self) -> str:
        return "no" if self.passed == self.planned else "sometimes" if self.passed else "yes"


def probes_of(site: SiteModel, standings: Iterable[tuple[BoardTable, BoardRow]]) -> list[Probe]:
    """Return the answers to the questions of buyers that benchmarks name, those about deletion first.

    Of tracks that answer one question, the one with the most items counts; a run with many failed calls answers none.
    """
    found: dict[str, Probe] = {}
    order: list[str] = []
    for table, row in standings:
        benchmark = site.benchmark_of(table.track)
        info = benchmark.info
        if info is None or not row.run.coverage.full or row.standing is RankStatus.OVER_ERROR_GATE:
            continue
        scores = {each.name: each for each in row.run.scores.categories}
        special = {protocol.name: protocol.categories for protocol in info.protocols}
        asked = [*(each for categories in special.values() for each in categories), *info.categories]
        order += [each.risk for each in asked if each.risk and each.risk not in order]
        named = {each.name: each for each in (*info.categories, *special.get(table.track.protocol, ())) if each.risk}
        for name, category in named.items():
            score, risk = scores.get(name), category.risk or ""
            if score is not None and (risk not in found or found[risk].planned < score.tally.planned):
                how = benchmark.failure([score])
                found[risk] = Probe(category, row, score.tally.correct, score.tally.planned, how)
    return [found[risk] for risk in order if risk in found]


def verdict_of(results: Sequence[SystemResult], probes: Sequence[Probe], caveats: Iterable[str]) -> str:
    """Return what the runs of a product say, in two sentences, good or bad."""
    if any(each.row.standing is RankStatus.MOCK for each in results):
        return "A stand-in replaced a part that the product needs, so its scores say nothing about the product."
    return f"{_against_keywords(results)} {promises(probes, caveats)}"


def _against_keywords(results: Sequence[SystemResult]) -> str:
    finding = [each for each in results if each.benchmark.info is None or each.benchmark.info.tab is None]
    tested = [each for each in finding if each.against is not None]
    if not tested:
        return "Not compared with plain keyword search yet." if finding else "What it finds was not measured here."
    keywords = [each for each in tested if each.row.baseline in WORD_SEARCH]
    base = "plain keyword search" if keywords else "the best simple baseline"
    tested = keywords or tested
    count = Counter(each.against for each in tested)
    found = [f"{word} {{}} on {count[how]}" for word, how in _MORE if count[how]]
    if not found:
        where = "1 benchmark" if len(tested) == 1 else f"all {len(tested)} benchmarks"
        return f"On {where}, its difference from {base} may be chance."
    of = "benchmark" if len(tested) == 1 else f"of {len(tested)} benchmarks"
    first, *rest = found
    said = ", ".join([f"Finds {first.format(f'than {base}')} {of}", *(each.format("than it") for each in rest)])
    even = count["not better"]
    return f"{said}. On {even}, the difference may be chance." if even else f"{said}."


PROMISES = 3
"""How many kept or broken promises the verdict names, the worst first."""

_MORE = (("more", "better"), ("less", "worse"))


def promises(probes: Sequence[Probe], caveats: Iterable[str]) -> str:
    kept = [each for each in probes if each.category.promise]
    if not kept:
        return "What this configuration deletes, and whether users stay apart, was not tested here."
    kept.sort(key=lambda each: each.passed / each.planned)
    named = [each for each in kept if each.passed < each.planned][:PROMISES] or kept[:PROMISES]
    parts = [f"{each.category.promise} in {each.passed} of {each.planned} probes" for each in named]
    but = [each for each in caveats if re.search("delet|forget", each)]
    sentence = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    others = kept[len(named) :]
    all_held = bool(others) and others[0].passed == others[0].planned
    held = f" The other {len(others)} promises held." if len(others) > 1 else " The other promise held."
    more = held if all_held else f" These are the worst {len(named)} of {len(kept)}." if others else ""
    return f"{sentence[:1].upper()}{sentence[1:]}.{more}" + "".join(f" But {each}." for each in but)


def claims_about(site: SiteModel, name: str) -> list[RecountedClaim]:
    """Return the published scores of a product.

    The first word of both names must be equal: a claim about “Mem0, run by MIRIX” belongs to “mem0 (open source)”.
    """
    product = _first_word(name)
    if not product or product in METHODS or site.findings is None:
        return []
    return [finding for finding in site.findings.findings if _first_word(finding.claim.system) == product]


def _first_word(name: str) -> str:
    found = re.match(r"[^\s,(:]+", name.strip())
    return found[0].casefold() if found else ""
