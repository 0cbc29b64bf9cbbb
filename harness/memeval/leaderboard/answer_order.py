"""Compares the order of systems by their answers with the order by what they retrieved, over the same items."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memeval.execution.readers import NATIVE
from memeval.grading.scoring import counting, layout_of
from memeval.leaderboard.board import BoardRow, BoardTable, RankStatus
from memeval.leaderboard.marks import is_general_control
from memeval.leaderboard.samples import GRADES, graded_items
from memeval.statistics.agreement import OrderAgreement, order_agreement
from memeval.statistics.flips import Array, Places

FEWEST_SYSTEMS = 4

FEWEST_ITEMS = 20

_NO_READER = "none"


@dataclass(frozen=True)
class TwoScores:
    """A system's scores over the items that both tables have, with the weights of the table of answers."""

    row: BoardRow
    """The row of the table of answers."""
    answers: float
    retrieval: float


@dataclass(frozen=True)
class ComparedOrders:
    answers: BoardTable
    retrieval: BoardTable
    items: int
    systems: tuple[TwoScores, ...]
    """The best answers first. A system that retrieved no evidence at all is left out: every order has it last."""
    agreement: OrderAgreement | None
    """``None`` if all systems have the same score in an order."""


def compared_orders(tables: Sequence[BoardTable]) -> Iterator[ComparedOrders]:
    """Yield a comparison for each table of answers by a fixed reader that has a table of retrieval beside it.

    ``tables``: the tables of one benchmark. The table of retrieval has the same tier, or the same data.
    """
    searched = [table for table in tables if _reader(table) == _NO_READER]
    for table in tables:
        if _reader(table) in (_NO_READER, NATIVE):
            continue
        beside = [other for other in searched if _is_beside(table, other)]
        found = [each for other in beside if (each := _compared(table, other)) is not None]
        if found:
            yield max(found, key=lambda each: (len(each.systems), each.items, each.retrieval.track.id))


def _reader(table: BoardTable) -> str:
    return table.track.reader.partition("@")[0]


def _is_beside(answers: BoardTable, retrieval: BoardTable) -> bool:
    one, two = answers.track, retrieval.track
    if one.parameters != two.parameters:
        return False
    return one.tier == two.tier or one.data_digest == two.data_digest


def _compared(answers: BoardTable, retrieval: BoardTable) -> ComparedOrders | None:
    others = {_system(row): row for row in _complete(retrieval.rows)}
    pairs = [(row, others[_system(row)]) for row in _complete(answers.rows) if _system(row) in others]
    if len(pairs) < FEWEST_SYSTEMS:
        return None
    scores = [(_scores(one), _scores(two)) for one, two in pairs]
    items = sorted(set.intersection(*(set(each) for both in scores for each in both)))
    counted = {category.name for category in counting(answers.track.categories)}
    places = {item: (category, cluster) for category, item, cluster, _score in graded_items(pairs[0][0].folder)}
    items = [item for item in items if places[item][0] in counted]
    if len(items) < FEWEST_ITEMS:
        return None
    weights = _weights(answers, [places[item][0] for item in items], [places[item][1] for item in items])
    first, second = (np.array([[both[side][item] for item in items] for both in scores]) * weights for side in (0, 1))
    kept = np.flatnonzero(second.any(axis=1))
    if len(kept) < FEWEST_SYSTEMS:
        return None
    cluster = _numbered([places[item][1] for item in items])
    systems = [TwoScores(pairs[place][0], float(first[place].sum()), float(second[place].sum())) for place in kept]
    return ComparedOrders(
        answers,
        retrieval,
        len(items),
        tuple(sorted(systems, key=lambda each: -each.answers)),
        order_agreement(first[kept], second[kept], cluster),
    )


def _complete(rows: Iterable[BoardRow]) -> Iterator[BoardRow]:
    """Yield the rows whose score covers all items of the track, with their grades.

    Not the controls of one benchmark alone: they know how it is made.
    """
    for row in rows:
        full = row.score is not None and row.standing is not RankStatus.INVALIDATED
        special = row.standing is RankStatus.CONTROL and not is_general_control(row.run)
        if full and not special and row.folder.file(GRADES).exists():
            yield row


def _system(row: BoardRow) -> tuple[str, str]:
    return row.run.system.kind, row.run.system.slug


def _scores(row: BoardRow) -> Mapping[str, float]:
    return {item: score or 0.0 for _category, item, _cluster, score in graded_items(row.folder)}


def _weights(table: BoardTable, categories: Sequence[str], clusters: Sequence[str]) -> Array:
    """Return the weight of each item, so that the weighted sum is the composite over these items."""
    plan = [category for category in table.track.categories if category.name in categories]
    by_category = {
        each.name: [name for category, name in zip(categories, clusters, strict=True) if category == each.name]
        for each in plan
    }
    layout = layout_of(plan, by_category)
    shares = {each.name: weight for each, weight in zip(counting(plan), layout.weights, strict=True)}
    whole = sum(shares.values())
    return np.array([shares[name] / whole / len(by_category[name]) for name in categories])


def _numbered(names: Sequence[str]) -> Places:
    known = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([known[name] for name in names], dtype=np.intp)
