"""Ranks of regraded files among those of their group, by the share that the rules call right."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from memeval.claims.store import file_name, stored_rows
from memeval.records.regraded import RegradedFile, RegradedRow
from memeval.statistics.flips import pair_tests
from memeval.statistics.ranks import RankRange, rank_ranges


def stored_ranks(results: Path, files: Sequence[RegradedFile]) -> dict[str, RankRange]:
    """Return the rank range of each stored file that is ranked, by ``source/file``.

    Files are ranked among themselves if source, group, answer model, benchmark, protocol, tier and data are the same,
    and the rules can judge their answers. A group of one file has no ranks, nor has a file with signs of a broken run.
    Raises ``BadInput`` if the rows of a file are missing or invalid.
    """
    groups: dict[tuple[object, ...], list[RegradedFile]] = defaultdict(list)
    for file in files:
        broken = any(sign.flagged for sign in file.signs)
        if file.group is not None and file.answer_model is not None and file.figures.rules is not None and not broken:
            same = (file.benchmark, file.protocol, file.tier, file.data_digest)
            groups[file.source, file.group, file.answer_model, *same].append(file)
    found: dict[str, RankRange] = {}
    for members in groups.values():
        if len(members) > 1:
            ranks = group_ranks([stored_rows(results, file) for file in members])
            found |= zip(map(file_name, members), ranks, strict=True)
    return found


def group_ranks(files: Sequence[Sequence[RegradedRow]]) -> tuple[RankRange, ...]:
    """Return the rank range of each file of a group.

    The method is that of the board, ``ranks@2``: sign flips of whole clusters, corrected for all pairs of files (see
    :func:`memeval.statistics.flips.pair_tests`). Only items that the rules judge in every file count. ``files``: the
    rows of each file, at least two files. Repetitions of an item are averaged.
    """
    scores = [_scores(rows) for rows in files]
    items = sorted(set.intersection(*(set(each) for each in scores)))
    if not items:
        return (RankRange(1, len(files)),) * len(files)
    cluster_of = {row.item_id: row.cluster for row in files[0]}
    clusters = tuple(sorted({cluster_of[item] for item in items}))
    places = {name: place for place, name in enumerate(clusters)}
    parts = np.zeros((len(files), 1, len(clusters)))
    for number, each in enumerate(scores):
        for item in items:
            parts[number, 0, places[cluster_of[item]]] += each[item] / len(items)
    first, second = np.triu_indices(len(files), 1)
    tested = pair_tests(parts, clusters, first, second)
    return rank_ranges(parts.sum(axis=2)[:, 0], first, second, tested.corrected[0])


def _scores(rows: Sequence[RegradedRow]) -> Mapping[str, float]:
    """Return the share of right answers to each item that the rules judge."""
    verdicts: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        if row.verdict is not None:
            verdicts[row.item_id].append(row.verdict)
    return {item: sum(each) / len(each) for item, each in verdicts.items()}
