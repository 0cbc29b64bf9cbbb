"""Another program gets memeval's digits from the published recipe and the files of the runs."""

import random
from pathlib import Path

import numpy as np
import pytest
import scipy

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.leaderboard.board import build_board
from memeval.leaderboard.overall import cluster_scores, overall
from memeval.leaderboard.ranking import track_tests
from memeval.leaderboard.samples import read_samples
from memeval.records.grade import Grade
from memeval.records.overall import BenchmarkSuite, Ceiling, SuiteBenchmark
from memeval.records.run import SystemKind
from memeval.records.track import CategoryPlan, Track
from memeval.statistics.overall import index_tests
from tests.statistics import another_program
from tests.support.runs import make_run, make_track

PLAN = (
    CategoryPlan(name="kept", weight=0.7, items=30, grader="judged@1"),
    CategoryPlan(name="changed", weight=0.3, items=18, grader="judged@1"),
)
SYSTEMS = {"acme": 0.8, "blue": 0.75, "cyan": 0.5, "dune": 0.5}


def scored(results: Path, slug: str, track: Track, skill: float, clusters: int, control: bool = False) -> RunFolder:
    """Return a run whose items belong to some clusters, and whose scores are drawn."""
    kind = SystemKind.CONTROL if control else SystemKind.SUBMISSION
    dice = random.Random(f"{slug} {track.benchmark}")

    def drawn(grade: Grade) -> Grade:
        cluster = f"person ä{int(grade.item_id[-3:]) % clusters}"
        credit = min(1.0, max(0.0, round(dice.gauss(skill, 0.3), 2)))
        return grade.model_copy(update={"cluster": cluster, "credit": credit, "verdict": None})

    return make_run(results, slug, track=track, kind=kind, regraded=drawn)


@pytest.mark.parametrize("clusters", [9, 14], ids=["all patterns", "drawn patterns"])
@pytest.mark.parametrize("shared", [False, True], ids=["own weights", "one weight for each item"])
def test_p_values_of_a_table(tmp_path: Path, clusters: int, shared: bool) -> None:
    plan = tuple(each.model_copy(update={"shared": shared, "weight": each.items / 48}) for each in PLAN)
    track = make_track(categories=plan if shared else PLAN)
    folders = [scored(tmp_path, slug, track, skill, clusters) for slug, skill in SYSTEMS.items()]
    tests = track_tests(folders)
    assert tests is not None
    p, corrected = another_program.table([folder.path for folder in folders])
    assert tests.tested.p.ravel().tolist() == p.tolist()
    assert tests.tested.corrected.ravel().tolist() == corrected.tolist()
    assert 0 < min(p) < 0.05 < max(p)


def test_intervals_and_p_values_of_an_index(tmp_path: Path) -> None:
    tracks = {10: make_track(benchmark="alpha@1", categories=PLAN, reader="extractive@2")}
    tracks[7] = make_track(benchmark="beta@1", categories=PLAN[:1], reader="extractive@2")
    ends = {10: Ceiling.ORACLE, 7: Ceiling.PERFECT}
    runs = {
        count: {
            slug: scored(tmp_path, slug, track, skill, count, slug in ("no-memory", "oracle"))
            for slug, skill in {**SYSTEMS, "no-memory": 0.1, "oracle": 0.9}.items()
        }
        for count, track in tracks.items()
    }
    suite = BenchmarkSuite(
        id="mine@1",
        title="Mine",
        summary="What I need.",
        benchmarks=tuple(
            SuiteBenchmark(
                benchmark=track.benchmark,
                protocol=track.protocol,
                tier=track.tier,
                reader=track.reader,
                judge=track.judge,
                ceiling=ends[count],
            )
            for count, track in tracks.items()
        ),
    )
    board = build_board([each for found in runs.values() for each in found.values()], Ledger(Path("no-ledger")))
    table = overall(board, suite)
    rows = [row for row in table.rows if row.rank is not None]
    order = [row.system for row in rows]
    indexes, variances, freedom, p, corrected = another_program.index(
        {
            tracks[count].benchmark: (
                [found[slug].path for slug in order],
                found["no-memory"].path,
                found["oracle"].path if ends[count] is Ceiling.ORACLE else None,
            )
            for count, found in runs.items()
        }
    )
    halves = scipy.stats.t.isf(0.025, freedom) * variances**0.5
    assert [row.index for row in rows] == pytest.approx(indexes.tolist(), rel=1e-14)
    assert [row.low for row in rows] == pytest.approx((indexes - halves).tolist(), rel=1e-11)
    assert [row.high for row in rows] == pytest.approx((indexes + halves).tolist(), rel=1e-11)
    assert table.floors == tuple(found["no-memory"].run.run_id for found in runs.values())
    assert table.ceilings == (runs[10]["oracle"].run.run_id, None)
    samples = {count: read_samples([found[slug] for slug in order]) for count, found in runs.items()}
    gaps = {count: (track.ceiling or 0) - (track.floor or 0) for count, track in zip(tracks, table.tracks, strict=True)}
    tests = index_tests(
        [cluster_scores(each, factor=0.5 / gaps[count]) for count, each in samples.items()],
        tuple(f"{tracks[count].benchmark}/{name}" for count, each in samples.items() for name in each.clusters),
        *np.triu_indices(len(order), 1),
    )
    assert (tests.p.tolist(), tests.corrected.tolist()) == (p.tolist(), corrected.tolist())
    assert 0 < min(corrected) < 0.05 < max(corrected)
