"""Tells systems of one name apart: submitters choose the names, and two of them may choose the same."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from dataclasses import replace

from memeval.leaderboard.board import Board, BoardRow
from memeval.records.run import Run


def told_apart(board: Board) -> Board:
    """Return a board in which the name of a system includes its slug if another system has the same name.

    Names that differ only in case, spaces or compatible characters are the same: a reader could not tell them apart.
    """
    slugs: dict[str, set[str]] = defaultdict(set)
    for row in board.runs:
        slugs[_key(row.run.system.name)].add(row.run.system.slug)
    shared = {name for name, found in slugs.items() if len(found) > 1}
    if not shared:
        return board

    def named(run: Run) -> Run:
        if _key(run.system.name) not in shared:
            return run
        name = f"{run.system.name} ({run.system.slug})"
        return run.model_copy(update={"system": run.system.model_copy(update={"name": name})})

    def renamed(row: BoardRow) -> BoardRow:
        return replace(row, run=named(row.run))

    tables = tuple(
        replace(
            table,
            rows=tuple(renamed(row) for row in table.rows),
            baseline=named(table.baseline) if table.baseline else None,
        )
        for table in board.tables
    )
    return replace(board, tables=tables, runs=tuple(renamed(row) for row in board.runs))


def _key(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
