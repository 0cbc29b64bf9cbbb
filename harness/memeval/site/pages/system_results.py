"""A system on its own page: how it differs from the best simple baseline, and whether it found the evidence.

Only the headline tracks count: those that the front page shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memeval.leaderboard.board import BoardRow, BoardTable
from memeval.leaderboard.ranking import PairTest
from memeval.records.failure import EvidenceFound
from memeval.records.finding import RecountedClaim
from memeval.records.run import SystemKind
from memeval.records.scores import Tally
from memeval.site.items.failure_tables import run_failures
from memeval.site.model.content import BenchmarkView, SiteModel
from memeval.site.model.labels import label
from memeval.site.table.columns import TableCell
from memeval.site.table.overview import Overview
from memeval.site.table.spending import SPENDING


@dataclass(frozen=True)
class CategoryDifference:
    """A category in which a system differs significantly from the baseline."""

    title: str
    test: PairTest
    tally: Tally
    """The system's own score in the category."""


@dataclass(frozen=True)
class EvidenceCounts:
    """How many items were answered correctly, by whether their evidence was found."""

    right: int
    """All evidence found, answer correct."""
    wrong: int
    """All evidence found, but answer wrong or missing."""
    some: int
    """Only part of the evidence found."""
    none: int
    """No evidence found."""
    unknown: int
    """Items without known evidence, or of a system that does not say what it retrieved."""


@dataclass(frozen=True)
class SystemResult:
    """A system's run on the headline track of a benchmark."""

    benchmark: BenchmarkView
    table: BoardTable
    row: BoardRow
    better: tuple[CategoryDifference, ...]
    """Categories in which it is significantly better than the baseline, the largest difference first."""
    worse: tuple[CategoryDifference, ...]
    """Categories in which it is significantly worse, the largest difference first."""
    untested: str | None
    """Why it was not compared with a baseline; ``None`` if it was."""
    evidence: EvidenceCounts | None
    """``None`` if the rows are not on this machine, or say nothing about evidence."""

    @property
    def spent(self) -> tuple[TableCell, ...]:
        """Tokens, cost and latency."""
        return tuple(column.cell(self.row) for column in SPENT)


_SHOWN = (
    "tokens_per_question",
    "cost_per_question_usd",
    "cost_take_in_usd",
    "ask_p50_seconds",
    "take_in_total_seconds",
)
SPENT = tuple(column for column in SPENDING if column.name in _SHOWN)
"""The columns of the table of costs."""

METHODS = frozenset({"bm25", "full", "last", "persona", "rag", "reflection", "vector"})
"""First words of names in claims that name a method, not a product."""


def headline_tables(overviews: Iterable[Overview]) -> list[BoardTable]:
    """Return the tables that the front page shows, each once."""
    found = {column.table.track.id: column.table for overview in overviews for column in overview.columns}
    return list(found.values())


def system_results(site: SiteModel, tables: Iterable[BoardTable], slug: str, kind: SystemKind) -> list[SystemResult]:
    """Return the results of a system, or of a control, on the headline tracks."""
    return [
        _result(site, table, row)
        for table in tables
        for row in table.rows
        if row.run.system.slug == slug and row.run.system.kind is kind
    ]


def _result(site: SiteModel, table: BoardTable, row: BoardRow) -> SystemResult:
    benchmark = site.benchmark_of(table.track)
    untested = _untested(table, row)
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


def _untested(table: BoardTable, row: BoardRow) -> str | None:
    if row.rank is None:
        return f"not compared: the run has no rank ({label(row.standing)})"
    if table.baseline is None:
        return "not compared: no simple baseline ran here"
    return "not compared: there are no tests" if row.against_baseline is None else None


def _apart(benchmark: BenchmarkView, table: BoardTable, row: BoardRow) -> list[CategoryDifference]:
    """Return the categories that differ significantly from the baseline, the largest difference first."""
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


def _evidence(site: SiteModel, row: BoardRow) -> EvidenceCounts | None:
    failures = run_failures(site, row)
    if failures is None:
        return None
    lines = {line.found: line for line in failures.summary.found}

    def items(found: EvidenceFound) -> int:
        return lines[found].right + lines[found].wrong if found in lines else 0

    counts = EvidenceCounts(
        right=lines[EvidenceFound.ALL].right if EvidenceFound.ALL in lines else 0,
        wrong=lines[EvidenceFound.ALL].wrong if EvidenceFound.ALL in lines else 0,
        some=items(EvidenceFound.SOME),
        none=items(EvidenceFound.NONE),
        unknown=items(EvidenceFound.UNKNOWN),
    )
    return counts if counts.right + counts.wrong + counts.some + counts.none else None


def claims_about(site: SiteModel, name: str) -> list[RecountedClaim]:
    """Return the published scores of a product.

    The first word of both names must be equal: a claim about “Mem0, run by MIRIX” belongs to “mem0 (open source)”.

    Args:
        name: the name of the system.
    """
    product = _first_word(name)
    if not product or product in METHODS or site.findings is None:
        return []
    return [finding for finding in site.findings.findings if _first_word(finding.claim.system) == product]


def _first_word(name: str) -> str:
    found = re.match(r"[^\s,(:]+", name.strip())
    return found[0].casefold() if found else ""
