"""The item statistics of the tables of a results folder."""

import math
from pathlib import Path

import numpy as np

from memeval.archive.ledger import Ledger
from memeval.archive.remote.automatic import fetch_missing
from memeval.archive.runs import RunFolder, sealed_runs
from memeval.grading.scoring import counting
from memeval.leaderboard.board import NO_MEMORY, BoardRow, BoardTable, RankStatus, build_board
from memeval.leaderboard.marks import is_general_control
from memeval.leaderboard.measured import check_digest
from memeval.leaderboard.ranking import DetectableDifferences, detectable_differences
from memeval.leaderboard.samples import GRADES, TrackSamples, read_samples
from memeval.leaderboard.scales import ORACLE
from memeval.records.errors import BadInput
from memeval.records.items import CategoryItems, ItemLine, ItemReport, Saturation
from memeval.statistics.items import ItemStatistics, Weighting, item_statistics
from memeval.statistics.overall import LEAST_GAP, gap_share
from memeval.systems.channel import visible


def item_reports(results: Path, name: str | None = None) -> list[ItemReport]:
    """Return the item statistics of each track that has ranked systems, the ones with the most systems first.

    Statistics are over the ranked systems of the board, each with its latest run. Controls are apart: most of them fail
    on purpose, and would make every item look harder and more discriminating. Copied responses are not searched for.
    ``name``: a benchmark, with or without its version, or the id of a track; ``None`` for all. Raises BadInput: there
    is no such run, no system is ranked, or grades are missing or damaged.
    """
    folders = [folder for folder in sealed_runs(results) if _is_of(folder, name)]
    if not folders:
        problem = "there are no runs here." if name is None else f"there is no run of '{visible(name)}' here."
        remedy = "Name a benchmark, such as beliefs, or the id of a track. Run a system first: memeval run."
        raise BadInput(problem, where=results, remedy=remedy)
    fetch_missing(folders)
    board = build_board(folders, Ledger(results), compare_responses=False)
    reports = [_report(table) for table in board.tables if table.ranked]
    if not reports:
        raise BadInput(
            "no ranked system has a run here, and item statistics are over ranked systems.",
            where=results,
            remedy="Run a system on all items: memeval run SYSTEM.",
        )
    return sorted(reports, key=lambda report: (report.benchmark, -len(report.systems), report.track_id))


def _is_of(folder: RunFolder, name: str | None) -> bool:
    if name is None or folder.path.parent.parent.name == name:
        return True
    track = folder.run.track
    return name in (track.benchmark, track.benchmark.partition("@")[0], track.id)


def _report(table: BoardTable) -> ItemReport:
    ranked = [row for row in table.rows if row.rank is not None]
    controls = [row for row in table.rows if _is_general(row)]
    for row in (*ranked, *controls):
        check_digest(row.folder, GRADES)
    samples = read_samples([row.folder for row in (*ranked, *controls)])
    scores, of_controls = samples.scores[: len(ranked)], samples.scores[len(ranked) :]
    found = item_statistics(scores, weighting_of(samples))
    differences = table.tests.detectable if table.tests else detectable_differences(samples)
    best_control = of_controls.max(axis=0).tolist() if controls else [None] * len(samples.items)
    track = table.track
    return ItemReport(
        benchmark=track.benchmark,
        protocol=track.protocol,
        tier=track.tier,
        reader=track.reader,
        judge=track.judge,
        track_id=track.id,
        systems=tuple(row.run.system.slug for row in ranked),
        controls=tuple(row.run.system.slug for row in controls),
        clusters=len(samples.clusters),
        saturation=_saturation(table, ranked[0], differences),
        categories=tuple(_category(samples, found, number, differences) for number in np.unique(samples.category)),
        items=tuple(
            ItemLine(
                item_id=item,
                category=samples.plan[samples.category[place]].name,
                cluster=samples.clusters[samples.cluster[place]],
                difficulty=float(found.difficulty[place]),
                discrimination=_number(found.discrimination[place]),
                everyone=bool(found.everyone[place]),
                nobody=bool(found.nobody[place]),
                moved=int(found.moved[place]),
                best_control=best_control[place],
            )
            for place, item in enumerate(samples.items)
        ),
    )


def _is_general(row: BoardRow) -> bool:
    complete = row.standing is RankStatus.CONTROL and row.folder.file(GRADES).exists()
    return complete and is_general_control(row.run)


def weighting_of(samples: TrackSamples) -> Weighting:
    counted = counting(samples.plan)
    weights = dict(zip((each.name for each in counted), samples.layout.weights, strict=True))
    return Weighting(
        category=samples.category,
        weights=np.array([weights.get(each.name, 0.0) for each in samples.plan]),
        shared=all(each.shared for each in counted),
    )


def _category(
    samples: TrackSamples, found: ItemStatistics, number: int, differences: DetectableDifferences
) -> CategoryItems:
    members, name = samples.category == number, samples.plan[number].name
    return CategoryItems(
        category=name,
        items=int(members.sum()),
        difficulty=float(found.difficulty[members].mean()),
        everyone=int(found.everyone[members].sum()),
        nobody=int(found.nobody[members].sum()),
        negative=int((found.discrimination[members] < 0).sum()),
        moving=int((found.moved[members] > 0).sum()),
        detectable=differences.values[name],
    )


def _saturation(table: BoardTable, best: BoardRow, differences: DetectableDifferences) -> Saturation:
    value = best.score or 0.0
    floor, oracle = (_control_score(table, slug) for slug in (NO_MEMORY, ORACLE))
    ceiling = 1.0 if oracle is None else oracle
    detectable = differences.composite
    has_scale = floor is not None and ceiling - floor >= LEAST_GAP
    return Saturation(
        system=best.run.system.slug,
        best=value,
        floor=floor,
        ceiling=ceiling,
        oracle=oracle is not None,
        reached=float(gap_share(np.array(value), floor or 0.0, ceiling)) if has_scale else None,
        headroom=ceiling - value,
        detectable=detectable,
        saturated=None if detectable is None else ceiling - value < detectable,
    )


def _control_score(table: BoardTable, slug: str) -> float | None:
    row = table.control(slug)
    return row.score if row and row.standing is RankStatus.CONTROL else None


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
