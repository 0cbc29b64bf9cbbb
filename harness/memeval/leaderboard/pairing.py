"""Pairs of runs of one system: public and fresh seed, separate and shared memory."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from memeval.grading.scoring import counting
from memeval.leaderboard.board import Board, BoardRow
from memeval.records.track import Track

Alike = dict[str, object]


@dataclass(frozen=True)
class TrackPair:
    system: str
    first: BoardRow
    second: BoardRow
    first_value: float
    second_value: float

    @property
    def difference(self) -> float:
        return self.second_value - self.first_value

    @property
    def same_version(self) -> bool:
        """Whether both runs have the same version of the system; if not, versions may explain the difference."""
        return self.first.run.system.version == self.second.run.system.version


def old_and_fresh(board: Board, known: str, fresh: str) -> tuple[TrackPair, ...]:
    """Pair each system's run on the public seed with its run on a fresh seed, best fresh score first.

    Only runs with equal protocol, tier, size, reader, judge and limits are paired.
    """

    def alike(track: Track) -> Alike:
        identity = {**track.identity(), "parameters": {**track.parameters, "seed": ""}}
        return {name: part for name, part in identity.items() if name not in ("benchmark", "data_digest", "sample")}

    return _pairs(
        board, lambda t: t.benchmark == known, lambda t: t.benchmark == fresh, alike, lambda first, _: first.score
    )


def apart_and_shared(board: Board, benchmark: str) -> tuple[TrackPair, ...]:
    """Pair each system's run with a memory for each item and its run with one for all, best shared score first.

    The first value covers only the categories of the second run, with their weights there.
    """

    def alike(track: Track) -> Alike:
        left_out = ("protocol", "data_digest", "sample", "categories")
        return {name: part for name, part in track.identity().items() if name not in left_out}

    return _pairs(
        board,
        lambda t: (t.benchmark, t.protocol) == (benchmark, "retrieval"),
        lambda t: (t.benchmark, t.protocol) == (benchmark, "shared"),
        alike,
        _over_categories,
    )


def _pairs(
    board: Board,
    is_first: Callable[[Track], bool],
    is_second: Callable[[Track], bool],
    alike: Callable[[Track], Alike],
    value: Callable[[BoardRow, BoardRow], float | None],
) -> tuple[TrackPair, ...]:
    seconds = [(alike(table.track), row) for table in board.tables if is_second(table.track) for row in table.rows]
    found: list[TrackPair] = []
    for table in board.tables:
        if not is_first(table.track):
            continue
        wanted = alike(table.track)
        rows = {row.run.system.slug: row for row in table.rows}
        for parts, second in seconds:
            first = rows.get(second.run.system.slug)
            if first is None or parts != wanted:
                continue
            before, after = value(first, second), second.score
            if before is not None and after is not None:
                found.append(TrackPair(second.run.system.slug, first, second, before, after))
    return tuple(sorted(found, key=lambda pair: (-pair.second_value, pair.system, pair.second.run.track_id)))


def _over_categories(first: BoardRow, second: BoardRow) -> float | None:
    if first.score is None:
        return None
    shares = {category.name: category.tally.accuracy for category in first.run.scores.categories}
    parts = []
    for category in counting(second.run.track.categories):
        if (share := shares.get(category.name)) is None:
            return None
        parts.append(category.weight * share)
    return math.fsum(parts)
