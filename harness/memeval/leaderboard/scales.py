"""The scale of a benchmark in an overall index: the stored track that counts, its floor and its ceiling."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from memeval.leaderboard.board import NO_MEMORY, Board, BoardRow, BoardTable, RankStatus
from memeval.leaderboard.samples import GRADES
from memeval.records.overall import Ceiling, SuiteBenchmark, SuiteTrack
from memeval.statistics.overall import LEAST_GAP, gap_share

ORACLE = "oracle"

System = tuple[str, bool]
"""A slug, and whether it is a control: anyone can use the slug of a control."""

NO_MEMORY_SYSTEM: System = (NO_MEMORY, True)
ORACLE_SYSTEM: System = (ORACLE, True)


@dataclass(frozen=True)
class IndexScale:
    shown: SuiteTrack
    rows: Mapping[System, BoardRow]
    others: Mapping[System, BoardRow]
    floor: BoardRow | None = None
    oracle: BoardRow | None = None
    """The run that is the ceiling; ``None`` if the ceiling is a perfect score."""

    def share(self, score: float | None) -> float | None:
        floor, ceiling = self.shown.floor, self.shown.ceiling
        if self.shown.reason is not None or score is None or floor is None or ceiling is None:
            return None
        return float(gap_share(np.array(score), floor, ceiling))


def scale_of(board: Board, chosen: SuiteBenchmark) -> IndexScale:
    parts = ("benchmark", "protocol", "tier", "reader", "judge")
    scales = [
        (table_scale(table, chosen), max((row.run.timing.started for row in table.rows), default=""))
        for table in board.tables
        if all(getattr(table.track, part) == getattr(chosen, part) for part in parts)
    ]
    if not scales:
        shown = SuiteTrack(chosen=chosen, track_id=None, reason="No stored run is on this track.")
        return IndexScale(shown, {}, {})
    return max(
        scales,
        key=lambda found: (
            found[0].shown.reason is None,
            sum(not control for _slug, control in found[0].rows),
            found[1],
            found[0].shown.track_id or "",
        ),
    )[0]


def table_scale(table: BoardTable, chosen: SuiteBenchmark) -> IndexScale:
    rows = {system_of(row): row for row in table.rows}
    counted = {system: row for system, row in rows.items() if _counts(row)}
    floor, oracle = (counted.get(system) for system in (NO_MEMORY_SYSTEM, ORACLE_SYSTEM))
    low = floor.score if floor else None
    high = 1.0
    if chosen.ceiling is Ceiling.ORACLE:
        top = oracle.score if oracle else None
    else:
        top, oracle = high, None
    shown = SuiteTrack(
        chosen=chosen, track_id=table.track.id, floor=low, ceiling=top, reason=_no_scale(low, top, chosen)
    )
    others = {system: row for system, row in rows.items() if system not in counted}
    return IndexScale(shown, counted, others, floor, oracle)


def _no_scale(floor: float | None, ceiling: float | None, chosen: SuiteBenchmark) -> str | None:
    if floor is None:
        return "The no-memory baseline did not run on this track."
    if ceiling is None:
        return "The oracle baseline did not run on this track."
    if ceiling - floor < LEAST_GAP:
        top = "the oracle baseline" if chosen.ceiling is Ceiling.ORACLE else "a perfect score"
        return (
            f"The gap between the no-memory baseline and {top} is {100 * (ceiling - floor):.1f} points. "
            f"An index needs at least {100 * LEAST_GAP:.0f}."
        )
    return None


def system_of(row: BoardRow) -> System:
    return row.run.system.slug, row.is_control


def _counts(row: BoardRow) -> bool:
    if row.standing is RankStatus.CONTROL:
        return row.score is not None and row.folder.file(GRADES).exists()
    return row.standing is RankStatus.RANKED
