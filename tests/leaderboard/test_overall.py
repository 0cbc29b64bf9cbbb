"""The overall index is given where a suite is complete and has a scale, and says why where it is not."""

from pathlib import Path

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.leaderboard.board import build_board
from memeval.leaderboard.overall import cluster_scores, lead, overall
from memeval.leaderboard.samples import read_samples
from memeval.records.errors import BadInput
from memeval.records.overall import BenchmarkSuite, Ceiling, Overall, OverallRow, SuiteBenchmark
from memeval.records.run import SystemKind
from memeval.records.track import CategoryPlan, Track
from tests.support.runs import make_run, make_track

CONTROL = SystemKind.CONTROL
READER = "extractive@2"
ALPHA, BETA = (make_track(benchmark=f"{name}@1", reader=READER) for name in ("alpha", "beta"))


def entry(track: Track, ceiling: Ceiling = Ceiling.ORACLE, weight: float = 1.0) -> SuiteBenchmark:
    return SuiteBenchmark(
        benchmark=track.benchmark,
        protocol=track.protocol,
        tier=track.tier,
        reader=track.reader,
        judge=track.judge,
        ceiling=ceiling,
        weight=weight,
    )


def suite_of(*entries: SuiteBenchmark) -> BenchmarkSuite:
    return BenchmarkSuite(id="mine@1", title="Mine", summary="What I need.", benchmarks=entries)


def score(results: Path, slug: str, track: Track, right: int, kind: SystemKind = SystemKind.SUBMISSION) -> RunFolder:
    return make_run(results, slug, {"kept": right, "changed": right}, track=track, kind=kind)


def scaled(results: Path, *tracks: Track, floor: int = 5, ceiling: int = 45) -> list[RunFolder]:
    return [
        score(results, slug, track, right, CONTROL)
        for track in tracks
        for slug, right in (("no-memory", floor), ("oracle", ceiling))
    ]


def of(folders: list[RunFolder], *entries: SuiteBenchmark) -> Overall:
    board = build_board([RunFolder(folder.path) for folder in folders], Ledger(Path("no-ledger")))
    return overall(board, suite_of(*(entries or (entry(ALPHA), entry(BETA)))))


def row_of(table: Overall, slug: str) -> OverallRow:
    (row,) = (row for row in table.rows if row.system == slug)
    return row


def test_the_index_is_the_mean_share_of_the_gap(tmp_path: Path) -> None:
    folders = [*scaled(tmp_path, ALPHA, BETA), score(tmp_path, "acme", ALPHA, 27), score(tmp_path, "acme", BETA, 35)]
    row = row_of(of(folders), "acme")
    assert row.shares == pytest.approx((0.55, 0.75))
    assert row.index == pytest.approx(0.65)
    assert row.low is not None and row.high is not None and row.low < 0.65 < row.high
    assert (row.complete, row.rank, row.reason) == (2, 1, None)


def test_weights_of_the_suite_count(tmp_path: Path) -> None:
    folders = [*scaled(tmp_path, ALPHA, BETA), score(tmp_path, "acme", ALPHA, 25), score(tmp_path, "acme", BETA, 35)]
    assert row_of(of(folders, entry(ALPHA, weight=3.0), entry(BETA)), "acme").index == pytest.approx(0.5625)


def test_the_ends_of_the_scale_are_no_rows(tmp_path: Path) -> None:
    folders = [*scaled(tmp_path, ALPHA, BETA), score(tmp_path, "acme", ALPHA, 25), score(tmp_path, "acme", BETA, 35)]
    assert [row.system for row in of(folders).rows] == ["acme"]


def test_a_system_that_scores_like_an_end_of_the_scale_has_0_or_1(tmp_path: Path) -> None:
    folders = scaled(tmp_path, ALPHA, BETA)
    folders += [score(tmp_path, "least", track, 5) for track in (ALPHA, BETA)]
    folders += [score(tmp_path, "most", track, 45) for track in (ALPHA, BETA)]
    table = of(folders)
    most, least = row_of(table, "most"), row_of(table, "least")
    assert (least.index, least.low, least.high) == pytest.approx((0, 0, 0))
    assert (most.index, most.low, most.high) == pytest.approx((1, 1, 1))


def test_an_index_is_not_clipped(tmp_path: Path) -> None:
    folders = [*scaled(tmp_path, ALPHA), score(tmp_path, "acme", ALPHA, 50), score(tmp_path, "blue", ALPHA, 1)]
    table = of(folders, entry(ALPHA))
    assert row_of(table, "acme").index == pytest.approx(1.125)
    assert row_of(table, "blue").index == pytest.approx(-0.1)


def test_a_missing_benchmark_is_never_zero(tmp_path: Path) -> None:
    table = of([*scaled(tmp_path, ALPHA, BETA), score(tmp_path, "acme", ALPHA, 25)])
    row = row_of(table, "acme")
    assert (row.index, row.rank, row.complete) == (None, None, 1)
    assert row.shares == (0.5, None)
    assert row.reason == "No ranked run on beta@1."


def test_a_run_that_is_not_ranked_says_so(tmp_path: Path) -> None:
    partial = make_run(tmp_path, "acme", {"kept": 20}, track=BETA, done=60)
    row = row_of(of([*scaled(tmp_path, ALPHA, BETA), score(tmp_path, "acme", ALPHA, 25), partial]), "acme")
    assert row.reason == "No ranked run on beta@1 (partial)."


def test_without_the_floor_no_one_has_an_index(tmp_path: Path) -> None:
    folders = [score(tmp_path, "oracle", ALPHA, 45, CONTROL), score(tmp_path, "acme", ALPHA, 25)]
    row = row_of(of(folders, entry(ALPHA)), "acme")
    assert row.index is None and row.shares == (None,)
    assert row.reason == "alpha@1 has no scale. The no-memory baseline did not run on this track."


def test_a_submission_cannot_be_the_floor(tmp_path: Path) -> None:
    folders = [score(tmp_path, "oracle", ALPHA, 45, CONTROL), score(tmp_path, "no-memory", ALPHA, 1)]
    table = of(folders, entry(ALPHA))
    assert table.tracks[0].floor is None
    assert row_of(table, "no-memory").index is None


def test_without_the_oracle_only_a_perfect_ceiling_has_a_scale(tmp_path: Path) -> None:
    folders = [score(tmp_path, "no-memory", ALPHA, 0, CONTROL), score(tmp_path, "acme", ALPHA, 25)]
    row = row_of(of(folders, entry(ALPHA)), "acme")
    assert row.reason == "alpha@1 has no scale. The oracle baseline did not run on this track."
    assert row_of(of(folders, entry(ALPHA, Ceiling.PERFECT)), "acme").index == pytest.approx(0.5)


@pytest.mark.parametrize(("ceiling", "points"), [(5, "0.0"), (7, "4.0"), (4, "-2.0")])
def test_a_gap_below_five_points_has_no_index(tmp_path: Path, ceiling: int, points: str) -> None:
    folders = [*scaled(tmp_path, ALPHA, ceiling=ceiling), score(tmp_path, "acme", ALPHA, 25)]
    row = row_of(of(folders, entry(ALPHA)), "acme")
    assert row.index is None
    assert row.reason is not None and f"is {points} points. An index needs at least 5." in row.reason


def test_a_suite_without_runs_has_no_rows(tmp_path: Path) -> None:
    table = of([score(tmp_path, "acme", make_track(), 25)])
    assert table.rows == ()
    assert [track.reason for track in table.tracks] == ["No stored run is on this track."] * 2


def test_other_readers_judges_and_tiers_do_not_count(tmp_path: Path) -> None:
    others = [ALPHA.model_copy(update=change) for change in ({"reader": "native"}, {"judge": "x"}, {"tier": "quick"})]
    table = of([score(tmp_path, "acme", track, 25) for track in others], entry(ALPHA))
    assert table.tracks[0].track_id is None and table.rows == ()


def test_the_track_with_a_scale_counts_even_if_another_has_more_runs(tmp_path: Path) -> None:
    bare = ALPHA.model_copy(update={"tokenizer": "another"})
    folders = [*scaled(tmp_path, ALPHA), score(tmp_path, "acme", ALPHA, 25)]
    folders += [score(tmp_path, slug, bare, 30) for slug in ("acme", "blue", "cyan")]
    table = of(folders, entry(ALPHA))
    assert table.tracks[0].track_id == ALPHA.id
    assert row_of(table, "acme").scores == (0.5,)


def test_a_baseline_has_an_index_and_no_rank(tmp_path: Path) -> None:
    folders = [
        *scaled(tmp_path, ALPHA),
        score(tmp_path, "acme", ALPHA, 15),
        score(tmp_path, "bm25", ALPHA, 25, CONTROL),
    ]
    table = of(folders, entry(ALPHA))
    assert [(row.system, row.rank) for row in table.rows] == [("bm25", None), ("acme", 1)]


def test_equal_indexes_are_a_tie_and_far_ones_are_not(tmp_path: Path) -> None:
    folders = scaled(tmp_path, ALPHA, BETA)
    for slug, right in (("acme", 41), ("blue", 40), ("cyan", 12)):
        folders += [score(tmp_path, slug, track, right) for track in (ALPHA, BETA)]
    folders += [score(tmp_path, "bm25", track, 39, CONTROL) for track in (ALPHA, BETA)]
    table = of(folders)
    assert table.baseline == "bm25"
    assert [row_of(table, slug).ranks for slug in ("acme", "blue", "cyan")] == [(1, 2), (1, 2), (3, 3)]
    assert [row_of(table, slug).behind for slug in ("acme", "blue", "cyan")] == [(), (), ("acme", "blue")]
    assert [row_of(table, slug).against_baseline for slug in ("acme", "blue", "cyan")] == [
        "not better",
        "not better",
        "worse",
    ]
    assert (row_of(table, "bm25").ranks, row_of(table, "bm25").against_baseline) == (None, None)


def test_a_difference_on_one_benchmark_counts_by_its_weight_and_gap(tmp_path: Path) -> None:
    folders = scaled(tmp_path, ALPHA, BETA)
    for slug, alpha, beta in (("acme", 45, 20), ("blue", 20, 20)):
        folders += [score(tmp_path, slug, ALPHA, alpha), score(tmp_path, slug, BETA, beta)]
    heavy = of(folders, entry(ALPHA, weight=9.0), entry(BETA))
    samples = [read_samples([f for f in folders if _is(f, each, "acme", "blue")]) for each in (ALPHA, BETA)]
    parts = [cluster_scores(each, factor=factor) for each, factor in zip(samples, (0.9 / 0.8, 0.1 / 0.8), strict=True)]
    sums = sum(each.parts.sum(axis=(1, 2)) for each in parts)
    acme, blue = (row_of(heavy, slug).index or 0 for slug in ("acme", "blue"))
    assert sums[0] - sums[1] == pytest.approx(acme - blue)
    assert [row.ranks for row in heavy.rows] == [(1, 1), (2, 2)]


def test_the_whole_history_is_no_simple_baseline(tmp_path: Path) -> None:
    folders = [*scaled(tmp_path, ALPHA), score(tmp_path, "acme", ALPHA, 20)]
    folders += [score(tmp_path, "full-context", ALPHA, 40, CONTROL)]
    table = of(folders, entry(ALPHA))
    assert (table.baseline, row_of(table, "acme").against_baseline) == (None, None)


def _is(folder: RunFolder, track: Track, *slugs: str) -> bool:
    return folder.run.track.benchmark == track.benchmark and folder.run.system.slug in slugs


def test_one_group_of_items_has_an_index_without_an_interval(tmp_path: Path) -> None:
    plan = (CategoryPlan(name="kept", weight=1.0, items=1, grader="judged@1"),)
    track = make_track(benchmark="alpha@1", reader=READER, categories=plan)
    folders = [*scaled(tmp_path, track, floor=0, ceiling=1), score(tmp_path, "acme", track, 1)]
    table = of(folders, entry(track))
    row = row_of(table, "acme")
    assert (row.index, row.low, row.high) == (1.0, None, None)
    assert table.interval_reason == "alpha@1 has too few independent groups of items."


def test_the_order_of_the_benchmarks_changes_no_index(tmp_path: Path) -> None:
    folders = scaled(tmp_path, ALPHA, BETA)
    folders += [
        score(tmp_path, slug, track, right) for slug, right in (("acme", 22), ("blue", 31)) for track in (ALPHA, BETA)
    ]
    one, two = of(folders), of(folders[::-1], entry(BETA), entry(ALPHA))
    assert [(row.system, row.rank) for row in one.rows] == [(row.system, row.rank) for row in two.rows]
    for first, second in zip(one.rows, two.rows, strict=True):
        assert (first.index, first.low, first.high) == pytest.approx((second.index, second.low, second.high))


@pytest.fixture
def rivals(tmp_path: Path) -> Overall:
    """Two systems, each better on one benchmark; ``acme`` by more."""
    folders = scaled(tmp_path, ALPHA, BETA)
    for slug, alpha, beta in (("acme", 45, 15), ("blue", 15, 25)):
        folders += [score(tmp_path, slug, ALPHA, alpha), score(tmp_path, slug, BETA, beta)]
    return of(folders)


def test_stability_shows_what_the_rank_depends_on(rivals: Overall) -> None:
    stable = row_of(rivals, "acme").stability
    assert stable is not None and (stable.best, stable.worst, stable.without) == (1, 2, (2, 1))
    assert stable.first == pytest.approx(0.75, abs=0.01)


def test_the_share_of_weightings_under_which_one_leads(rivals: Overall) -> None:
    found = lead(rivals, "acme", "blue")
    assert found.first == pytest.approx(0.75, abs=0.01)
    assert found.first + found.second + found.tied == pytest.approx(1)


def test_another_judge_is_shown_where_all_systems_have_a_run_with_it(tmp_path: Path) -> None:
    judged = BETA.model_copy(update={"judge": "openai:m"})
    folders = scaled(tmp_path, ALPHA, BETA, judged)
    for slug, right, other in (("acme", 40, 10), ("blue", 30, 45)):
        folders += [score(tmp_path, slug, track, right) for track in (ALPHA, BETA)]
        folders += [score(tmp_path, slug, judged, other)]
    stable = row_of(of(folders), "acme").stability
    assert stable is not None
    assert [(each.benchmark, each.judge, each.rank) for each in stable.judges] == [("beta@1", "openai:m", 2)]
    fewer = row_of(of(folders[:-1]), "acme").stability
    assert fewer is not None and fewer.judges == ()


def test_who_leads_needs_two_systems_with_an_index(rivals: Overall, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="acme is named twice"):
        lead(rivals, "acme", "acme")
    with pytest.raises(BadInput, match="mine@1 has no system 'nobody'") as caught:
        lead(rivals, "acme", "nobody")
    assert caught.value.remedy == "Systems with an index: acme, blue."
    lone = of([score(tmp_path / "lone", "cyan", ALPHA, 20)])
    with pytest.raises(BadInput, match="cyan has no index on mine@1: No ranked run on beta@1"):
        lead(lone, "cyan", "acme")


def test_one_system_is_first_under_every_weighting(tmp_path: Path) -> None:
    folders = [*scaled(tmp_path, ALPHA, BETA), score(tmp_path, "acme", ALPHA, 25), score(tmp_path, "acme", BETA, 9)]
    stable = row_of(of(folders), "acme").stability
    assert stable is not None
    assert (stable.best, stable.worst, stable.first, stable.without) == (1, 1, 1.0, (1, 1))
