"""What the tiers and tables of a benchmark can show: width of the intervals, and minimum detectable difference."""

from collections.abc import Sequence
from dataclasses import dataclass

from memeval.leaderboard.board import BoardTable
from memeval.leaderboard.ranking import kept_detectable
from memeval.records.benchmark import BenchmarkInfo, TierInfo
from memeval.site.model import text
from memeval.statistics.detectable import ASSUMED, LEAST_CLUSTERS, Clustering
from memeval.statistics.intervals import wilson


@dataclass(frozen=True)
class TierPower:
    tier: TierInfo
    half_width: float
    """Half of the 95 % interval of a score of one half, if its items are independent."""
    clusters: int | None
    difference: float | None
    """Minimum detectable difference; ``None`` if unknown, or if no difference can be shown."""
    note: str


def tier_powers(info: BenchmarkInfo, tables: Sequence[BoardTable] = ()) -> tuple[TierPower, ...]:
    """Return the power of each tier of a benchmark with its first protocol, in the catalogue's order.

    ``tables``: its tables. How two systems disagree is known from the table of the tier with the most tested runs, else
    from that of another tier, else assumed.
    """
    first = info.protocols[0].name
    tested = [table for table in tables if table.track.protocol == first and _runs(table) > 1]
    return tuple(_power(tier, sorted(tested, key=_runs, reverse=True)) for tier in info.tiers if tier.items)


def _runs(table: BoardTable) -> int:
    return 0 if table.tests is None else len(table.tests.runs)


def _power(tier: TierInfo, tested: Sequence[BoardTable]) -> TierPower:
    """Return the power of a tier.

    ``tested``: tables of the benchmark with at least two tested runs, the one with the most runs first.
    """
    low, high = wilson(tier.items / 2, tier.items)
    clusters, difference, note = tier.clusters, None, "clusters unknown without the data"
    table = next((table for table in tested if table.track.tier == tier.name), None)
    if table is not None and table.tests is not None:
        found = table.tests.detectable
        clusters, difference, note = found.clusters, found.composite, f"from {_runs(table)} runs"
    elif clusters is not None:
        differs, note = ASSUMED, "disagreement assumed"
        if tested and tested[0].tests is not None and tested[0].tests.detectable.disagreement is not None:
            differs, note = tested[0].tests.detectable.disagreement, f"disagreement as in {tested[0].track.tier}"
        difference = kept_detectable(Clustering.even(tier.items, clusters), differs)
    if clusters is not None and difference is None:
        note = "no difference can be shown"
    return TierPower(tier, (high - low) / 2, clusters, difference, note)


def detectable_text(table: BoardTable) -> str | None:
    """Return what differences a table can show, in a sentence; ``None`` if it has no ranked run."""
    if table.tests is None:
        return None
    found = table.tests.detectable
    if found.composite is None:
        clusters = text.counted(found.clusters, "cluster")
        return f"No difference can be shown here: the items form {clusters}, and the test needs {LEAST_CLUSTERS}."
    return f"Two systems that differ by less than {text.percent(found.composite)} points usually tie here."
