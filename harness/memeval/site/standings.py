"""Where the runs of a table stand: ranks, ties, and the comparison with the best simple baseline."""

from __future__ import annotations

from memeval.leaderboard.board import BoardRow, BoardTable
from memeval.leaderboard.ranking import PairTest
from memeval.site import text
from memeval.site.columns import BetterEnd, Column, ColumnGroup, ColumnReader


def rank_text(row: BoardRow) -> str | None:
    """Return the rank of a row as on pages: ``2``, ``1–3`` or ``only entry``; ``None`` without a rank."""
    if row.rank is None:
        return None
    if row.ranked == 1:
        return "only entry"
    best, worst = row.rank.best, row.rank.worst
    return str(best) if best == worst else f"{best}–{worst}"


def verdict(table: BoardTable) -> str | None:
    """Return what the tests of a table show, in one or two sentences; ``None`` if it has no ranked run."""
    ranked = [row for row in table.rows if row.rank is not None]
    if not ranked or table.tests is None:
        return None
    leaders = [row for row in ranked if row.rank is not None and row.rank.best == 1]
    names = _listed([row.run.system.name for row in leaders])
    if len(ranked) == 1:
        first = f"{names} is the only entry."
    elif len(leaders) == 1 and leaders[0].rank is not None and leaders[0].rank.worst > 1:
        first = f"{names} leads, but not significantly over every other system."
    elif len(leaders) == 1:
        first = f"{names} scores significantly more than all others."
    else:
        everyone = len(leaders) == len(ranked)
        who = f"All {len(ranked)} systems are tied" if everyone else f"{names} are tied for first"
        first = f"{who}: the data do not show which is better."
    if table.baseline is None:
        return f"{first} No simple baseline ran here."
    tests = [row.against_baseline for row in ranked if row.against_baseline is not None]
    better = sum(test.apart and test.difference > 0 for test in tests)
    if len(ranked) == 1:
        who = "It is" if better else "It is not"
    else:
        number = "None" if not better else "Each" if better == len(ranked) else str(better)
        who = f"{number} of {len(ranked)} {'are' if number not in ('None', 'Each', '1') else 'is'}"
    return f"{first} {who} significantly better than the best simple baseline, {table.baseline.system.name}."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _rank(row: BoardRow) -> ColumnReader:
    if row.rank is None:
        return ColumnReader(None)
    best, worst = row.rank.best, row.rank.worst
    note = f"place {row.place}" if best != worst else None
    return ColumnReader(float(best), note=note, text=rank_text(row), span=(best, worst))


RANK = Column(
    name="rank",
    title="Rank",
    group=ColumnGroup.PLACE,
    help="A range such as 1–3 is a tie: the data do not show which of these ranks the system has. The place "
    "is only the order of the scores. Controls, partial runs and runs with more than 2 % errors have no rank.",
    read=_rank,
    write=text.count,
    direction=BetterEnd.LOWER,
    first=True,
)


def _baseline(row: BoardRow) -> ColumnReader:
    test = row.against_baseline
    if test is None:
        return ColumnReader(None, note="no such baseline" if row.rank is not None else None)
    return ColumnReader(test.difference, note=f"{baseline_word(test)} than {row.baseline}")


def baseline_word(test: PairTest) -> str:
    """Return whether a run is ``better``, ``worse`` or ``not better`` than the baseline."""
    if not test.apart:
        return "not better"
    return "better" if test.difference > 0 else "worse"


BASELINE = Column(
    name="baseline",
    title="vs best simple baseline",
    group=ColumnGroup.SCORE,
    help="Composite score minus that of the best simple baseline of the table, in percentage points. Simple baselines "
    "are the controls that get neither the whole history nor the evidence, such as BM25. “Better” and “worse” are "
    "significant at 5 %, by the test that gives the ranks.",
    read=_baseline,
    write=text.signed_percent,
    direction=BetterEnd.HIGHER,
    first=True,
    unit="points",
)
