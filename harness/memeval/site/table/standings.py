"""Where the runs of a table stand: ranks, ties, the best simple baseline, and the ceiling of the reader."""

from collections.abc import Mapping

from markupsafe import Markup

from memeval.execution.readers import NATIVE, NoReader
from memeval.leaderboard.board import BoardRow, BoardTable, RankStatus, Spread
from memeval.leaderboard.scales import ORACLE
from memeval.records.overall import TiedPair
from memeval.site.model import text
from memeval.site.table.columns import BetterEnd, Column, ColumnGroup, ColumnReader
from memeval.systems.controls import all_controls


def rank_text(row: BoardRow) -> str | None:
    """Return the rank of a row as on pages: ``2``, ``1–3`` or ``only entry``; ``None`` without a rank."""
    if row.rank is None:
        return None
    return "only entry" if row.ranked == 1 else range_text(row.rank.best, row.rank.worst)


def range_text(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}–{worst}"


MOST_NAMED = 4


def verdict(table: BoardTable) -> Markup | None:
    """Return what the tests of a table show, in one or two sentences; ``None`` if it has no ranked run.

    Each name is in an element of its own, because one from right to left would turn its neighbours around.
    """
    ranked = [row for row in table.rows if row.rank is not None]
    if not ranked or table.tests is None:
        return None
    leaders = [row for row in ranked if row.rank is not None and row.rank.best == 1]
    names = listed([row.run.system.name for row in leaders])
    if len(ranked) == 1:
        first = " is the only ranked system."
    elif len(leaders) == 1 and leaders[0].rank is not None and leaders[0].rank.worst > 1:
        first = " leads, but not significantly over every other system."
    elif len(leaders) == 1:
        first = " scores significantly more than all others."
    else:
        among = f" among {len(ranked)}"
        if len(leaders) == len(ranked):
            names = Markup("Both systems") if len(ranked) == 2 else Markup("All {} systems").format(len(ranked))
            among = ""
        first = f" share first place{among}: their difference{'s' if len(leaders) > 2 else ''} may be chance."
    if table.baseline is None:
        return names + first + " No simple baseline ran here."
    tests = [row.against_baseline for row in ranked if row.against_baseline is not None]
    better = sum(test.apart and test.difference > 0 for test in tests)
    if len(ranked) == 1:
        who = "It is" if better else "It is not"
    else:
        number = "None" if not better else "Each" if better == len(ranked) else str(better)
        who = f"{number} of {len(ranked)} {'are' if number not in ('None', 'Each', '1') else 'is'}"
        if len(ranked) == 2 and better != 1:
            who = "Both are" if better else "Neither is"
    than = isolated(table.baseline.system.name)
    return names + f"{first} {who} significantly better than the best simple baseline, " + than + "."


def ties(table: BoardTable) -> list[str]:
    """Return a sentence for each pair of ranked systems that is tied although their intervals do not overlap."""
    names = {row.run.system.slug: row.run.system.name for row in table.rows}
    return [tie_sentence(pair, names) for pair in table.tied_apart]


def tie_sentence(pair: TiedPair, names: Mapping[str, str]) -> str:
    """Return which two systems are tied against their intervals, and why."""
    higher, lower = (names.get(slug, slug) for slug in (pair.higher, pair.lower))
    return f"{higher} and {lower} are tied although their intervals do not overlap. {pair.reason}"


def reader_ceiling(table: BoardTable) -> Markup | None:
    """Return what the reader of a table earns on perfect evidence, in two sentences.

    ``None`` if no reader writes the answers, or if the control that receives only the evidence has no complete run.
    """
    if table.track.reader in (NATIVE, NoReader.name):
        return None
    oracle = table.control(ORACLE)
    if oracle is None or oracle.standing is not RankStatus.CONTROL or oracle.score is None:
        return None
    score, name = text.percent(oracle.score), isolated(oracle.run.system.name)
    return Markup(
        "With only the evidence, the score here is {} % (control {}). What is missing to 100 % is not lost by a memory."
    ).format(score, name)


def listed(names: list[str]) -> Markup:
    """Return at least one name as text, each in an element of its own; the last of many are counted.

    Semicolons separate names with commas, such as ``Haystack, BM25 retriever``.
    """
    shown = [isolated(name) for name in (names if len(names) <= MOST_NAMED else names[: MOST_NAMED - 1])]
    if len(shown) < len(names):
        shown.append(Markup("{} more").format(len(names) - len(shown)))
    if len(shown) == 1:
        return shown[0]
    if any(", " in name for name in shown):
        return Markup("; ").join(shown[:-1]) + "; and " + shown[-1]
    return Markup(", ").join(shown[:-1]) + (", and " if any(" and " in name for name in shown) else " and ") + shown[-1]


def isolated(name: str) -> Markup:
    return Markup("<bdi>{}</bdi>").format(text.visible(name))


def _rank(row: BoardRow) -> ColumnReader:
    if row.rank is None:
        return ColumnReader(None)
    best, worst = row.rank.best, row.rank.worst
    notes = [f"no. {row.place} by score"] if best != worst else []
    if row.spread is not None:
        notes.append(spread_text(row.spread))
    return ColumnReader(float(best), note="; ".join(notes) or None, text=rank_text(row), span=(best, worst))


def spread_text(spread: Spread) -> str:
    """Return the number of runs and their scores, such as ``3 runs, 61.2 to 63.0``."""
    low, high = text.percent(spread.low), text.percent(spread.high)
    return f"{spread.runs} runs, {'all ' if low == high else ''}{low}{'' if low == high else f' to {high}'}"


RANK = Column(
    name="rank",
    title="Rank",
    group=ColumnGroup.PLACE,
    help="A range such as 1–3 is a tie: the data do not show which of these ranks the system has. The place "
    "is only the order of the scores. If a system ran several times with equal inputs, its lowest and highest score "
    "are given. Controls, partial runs and runs with more than 2 % errors have no rank.",
    read=_rank,
    write=text.count,
    direction=BetterEnd.LOWER,
    first=True,
)


def _baseline(row: BoardRow) -> ColumnReader:
    test = row.against_baseline
    if test is None:
        return ColumnReader(None, note="no such baseline" if row.rank is not None else None)
    return ColumnReader(test.difference, note=f"{test.word} than {_control_name(row.baseline)}")


def _control_name(slug: str | None) -> str:
    control = None if slug is None else all_controls().get(slug)
    return slug or "" if control is None else control.title


BASELINE = Column(
    name="baseline",
    title="vs best simple baseline",
    group=ColumnGroup.SCORE,
    help="Composite score minus that of the best simple baseline of the table, in percentage points. Simple baselines "
    "are the controls that get neither the whole history nor the evidence, and know nothing of the benchmark’s "
    "sentences and answers, such as BM25. “Better” and “worse” are significant at 5 %, by the test that gives the "
    "ranks.",
    read=_baseline,
    write=text.signed_percent,
    direction=BetterEnd.HIGHER,
    first=True,
    unit="points",
)
