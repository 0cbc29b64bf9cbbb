"""Comparison of runs: differences, their p-values, and runs that are not comparable."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memeval.analysis import comparing
from memeval.analysis.comparing import as_family, compare_runs, composite_difference
from memeval.archive.rows import pack
from memeval.archive.runs import RunFolder
from memeval.benchmarks.base import Benchmark
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.regrade import regrade_run
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.records.benchmark import Direction, MetricInfo
from memeval.records.comparison import Sign
from memeval.records.errors import BadInput
from memeval.records.grade import Grade, GradeState
from memeval.systems.source import find_system
from tests.evaluation.asking import PickyServer, benchmark_session, judge, options, regrading
from tests.support.tiny import TinyBenchmark

Made = Callable[..., RunFolder]

METRICS = (
    MetricInfo(name="mae", title="MAE", direction=Direction.LOWER, meaning="How far off."),
    MetricInfo(name="rmse", title="RMSE", direction=Direction.LOWER, root=True, meaning="How far off, squared."),
    MetricInfo(name="recall@k", title="Recall@k", direction=Direction.HIGHER, meaning="What was found."),
)


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A real run of 24 items, 12 in each of two categories, of five people."""
    options = RunOptions(results=tmp_path_factory.mktemp("compared"))
    return run_system(find_system("no-memory"), BenchmarkSession.open(TinyBenchmark(24)), options)


@pytest.fixture
def made(sealed: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Return a function that makes copies of the run in which items earned something else."""
    tiny: Benchmark = TinyBenchmark()
    tiny.info = tiny.info.model_copy(update={"metrics": METRICS})
    monkeypatch.setattr(comparing, "find", lambda _name: tiny)

    def make(name: str, change: Callable[[int, Grade], dict[str, Any]], **head: Any) -> RunFolder:
        folder = RunFolder(tmp_path / name)
        folder.path.mkdir()
        run = sealed.run.model_copy(update={"run_id": name, **head})
        (folder.path / "run.json").write_text(run.to_json(), encoding="utf-8")
        rows = [row.model_copy(update=change(place, row)) for place, row in enumerate(sealed.grades())]
        folder.file("grades.jsonl").write_bytes(pack([row for row in rows if row.item_id])[0])
        return folder

    return make


def right(*places: int) -> Callable[[int, Grade], dict[str, Any]]:
    """Have some items right and the others wrong."""
    return lambda place, _row: {"verdict": place in places, "state": GradeState.GRADED}


def alone(place: int, row: Grade) -> dict[str, Any]:
    """Make every item a cluster of its own."""
    return {"cluster": row.item_id}


def right_alone(*places: int) -> Callable[[int, Grade], dict[str, Any]]:
    """Have some items right and the others wrong, each a cluster of its own."""
    return lambda place, row: right(*places)(place, row) | alone(place, row)


def test_runs_are_compared_with_the_first_overall_by_category_and_by_item(made: Made) -> None:
    first, second = made("a", right(0, 1, 2)), made("b", right(*range(1, 24)))
    comparison = compare_runs([first, second])
    (pair,) = comparison.pairs
    assert not comparison.same_answers
    assert (pair.items, pair.alone) == (24, 0)
    assert pair.overall is not None
    far, near = pair.categories
    assert (far.first, far.second, near.first, near.second) == (2 / 12, 11 / 12, 1 / 12, 1.0)
    assert pair.overall.difference == pytest.approx(0.6 * 9 / 12 + 0.4 * 11 / 12)
    assert [flip.item_id for flip in pair.worse] == ["tiny-000-q01"]
    assert len(pair.better) == 21
    assert pair.overall.clusters == 5
    # Five people who all agree are not certainty: 2 ** -4, as flipping signs can give no less.
    assert (pair.overall.p, pair.overall.sign) == (0.0625, Sign.EVEN)


def test_with_enough_clusters_a_better_run_is_significantly_better(made: Made) -> None:
    good, bad = made("good", right_alone(*range(24))), made("bad", right_alone(0, 1, 2))
    (better,), (worse,) = (compare_runs(pair).pairs for pair in ([bad, good], [good, bad]))
    assert better.overall is not None and worse.overall is not None
    assert (better.overall.sign, worse.overall.sign) == (Sign.BETTER, Sign.WORSE)
    assert better.overall.difference == -worse.overall.difference
    assert [each.sign for each in better.categories] == [Sign.BETTER, Sign.BETTER]
    assert better.categories[0].mcnemar == 2 / 2**10  # 10 of 12 items flipped, all one way
    measured = composite_difference(good.run.track, bad, good)
    assert measured is not None and as_family([measured])[0].p == better.overall.p


def test_composites_and_categories_of_all_runs_are_corrected_together(made: Made) -> None:
    base, better = made("a", right_alone(0, 1, 12)), made("b", right_alone(*range(2, 9), 12, 13))
    (alone_pair,) = compare_runs([base, better]).pairs
    several = compare_runs([base, better, *(made(f"c{n}", right_alone(*range(n, 2 * n))) for n in (3, 4, 5, 6))]).pairs
    assert alone_pair.overall is not None and several[0].overall is not None
    assert several[0].overall.p == alone_pair.overall.p, "the same two runs have the same p-value in every family"
    assert several[0].overall.corrected > alone_pair.overall.corrected >= alone_pair.overall.p


def test_credits_are_compared_by_sign_flips_and_have_no_mcnemar(made: Made) -> None:
    def of(shift: float) -> Callable[[int, Grade], dict[str, Any]]:
        return lambda place, row: (
            {"credit": (place % 7) / 10 + shift * (place % 3) / 10, "verdict": None, "state": GradeState.GRADED}
            | alone(place, row)
            | {"category": "far"}
        )

    (pair,) = compare_runs([made("a", of(0)), made("b", of(1))]).pairs
    (far,) = pair.categories
    assert (far.difference, far.p) == pytest.approx((0.1, 1 / 4096)), "no drawn pattern gives as much"
    assert far.mcnemar is None
    assert (pair.overall, pair.reason) == (None, "The runs have no item of near in common.")


def test_a_metric_where_less_is_better_is_better_where_it_is_less(made: Made) -> None:
    def of(error: float) -> Callable[[int, Grade], dict[str, Any]]:
        return lambda place, row: (
            {"metrics": {"mae": error + place / 100, "rmse": (error + place / 100) ** 2, "recall@5": 0.5, "odd": 1.0}}
            | alone(place, row)
        )

    (pair,) = compare_runs([made("a", of(2.0)), made("b", of(1.0))]).pairs
    found = {each.name: each for each in pair.metrics}
    assert sorted(found) == ["mae", "recall@5", "rmse"]  # what nobody explains has no direction, and is left out
    assert found["mae"].difference == pytest.approx(-1.0)
    assert found["mae"].sign is Sign.BETTER
    squares = [math.fsum((error + place / 100) ** 2 for place in range(24)) / 24 for error in (2.0, 1.0)]
    assert found["rmse"].first == pytest.approx(math.sqrt(squares[0]))
    assert found["rmse"].difference == pytest.approx(math.sqrt(squares[1]) - math.sqrt(squares[0]))
    assert (found["rmse"].sign, found["recall@5"].sign) == (Sign.BETTER, Sign.EVEN)


def test_errors_count_as_zero_and_items_of_only_one_run_are_left_out(made: Made) -> None:
    failed = {"state": GradeState.TIMEOUT, "verdict": None}
    first = made("a", lambda place, row: right(*range(24))(place, row) if place != 5 else failed)
    second = made("b", lambda place, row: {"item_id": ""} if place > 19 else right(*range(24))(place, row))
    (pair,) = compare_runs([first, second]).pairs
    assert (pair.items, pair.alone) == (20, 4)
    (flip,) = pair.better
    assert (flip.first, flip.second) == (None, 1.0)


def test_one_person_says_nothing_of_others(made: Made) -> None:
    def of(verdict: bool) -> Callable[[int, Grade], dict[str, Any]]:
        return lambda _place, _row: {"cluster": "ada", "verdict": verdict, "state": GradeState.GRADED}

    (pair,) = compare_runs([made("a", of(False)), made("b", of(True))]).pairs
    assert pair.overall is not None
    assert (pair.overall.low, pair.overall.high, pair.overall.p, pair.overall.sign) == (None, None, 1.0, Sign.EVEN)


def test_what_cannot_be_compared_is_refused_with_the_reason(made: Made, sealed: RunFolder) -> None:
    first = made("a", right(0))
    track = sealed.run.track.model_copy(update={"reader": "extractive@2", "tier": "other"})
    other = made("b", right(0), track=track, track_id=track.id, files={})
    for folders, sentence in (
        ([first], "comparing needs at least two runs."),
        ([first, first], "run a appears twice."),
        ([first, other], "a and b are on different tracks. Different: tier, reader."),
        ([first, made("c", lambda _place, _row: {"category": "far"})], "in different categories or clusters"),
    ):
        with pytest.raises(BadInput, match=sentence):
            compare_runs(folders)
    first.file("grades.jsonl").unlink()
    with pytest.raises(BadInput, match="the rows of this run are missing"):
        compare_runs([first, sealed])


def test_the_same_answers_with_two_judges_are_comparable(tmp_path: Path, server: PickyServer) -> None:
    run = run_system(find_system("bm25"), benchmark_session(), options(tmp_path, judge="rules", judge_label=None))
    again = regrade_run(run, judge(), regrading(tmp_path))
    comparison = compare_runs([run, again])
    assert comparison.same_answers
    assert {"judge", "judge_endpoint", "judge_label", "prompts"} <= set(comparison.differing)
    assert [run.judge for run in comparison.runs] == ["rules@3", "openai:gpt-4o-2024-08-06@1"]


def test_a_comparison_is_written_as_json_without_loss(made: Made) -> None:
    comparison = compare_runs([made("a", right(0)), made("b", right(1)), made("c", right(0, 1))])
    assert type(comparison).model_validate_json(comparison.to_json()) == comparison
    assert [pair.run_id for pair in comparison.pairs] == ["b", "c"]
