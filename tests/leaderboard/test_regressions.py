"""What counts as a regression: beyond a limit, and shown by a test over the same items."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memeval.leaderboard.check_power import DropRule, Simulation, share_found, smallest_drop
from memeval.leaderboard.measured import MeasuredRun
from memeval.leaderboard.regressions import check_metrics, severity_of, status_of
from memeval.records.check import CheckedMetric, GateStatus, MetricStatus, Severity
from memeval.records.settings import CheckThresholds, CostMetric
from memeval.statistics.composite import Layout
from tests.support.measured import Bench

USUAL = CheckThresholds()


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"))


def checked(current: MeasuredRun, *baselines: MeasuredRun, limits: CheckThresholds = USUAL) -> dict[str, CheckedMetric]:
    return {metric.metric: metric for metric in check_metrics(current, baselines, limits)}


def gate(current: MeasuredRun, *baselines: MeasuredRun) -> GateStatus:
    return status_of(check_metrics(current, baselines, USUAL))


@pytest.mark.parametrize(
    ("now", "before", "severity"),
    [
        (0.94, 1.0, Severity.WARNING),
        (0.70, 0.8, Severity.CRITICAL),
        (0.719, 0.8, Severity.CRITICAL),
        (0.76, 0.8, None),
        (0.5, 0.0, None),
    ],
)
def test_relative_limits_are_those_of_the_specification(now: float, before: float, severity: Severity | None) -> None:
    """Golden values of the Astrocyte contract, section 7: strict, and exactly 5 % is no alert."""
    assert severity_of(before - now, before, None, 5.0) is severity


def test_a_drop_of_exactly_the_points_is_no_alert() -> None:
    assert severity_of(0.9 - 0.87, 0.9, 3.0, 5.0) is None
    assert severity_of(0.9 - 0.869, 0.9, 3.0, 5.0) is Severity.WARNING


def test_a_large_drop_is_a_regression_in_its_category_and_in_total(bench: Bench) -> None:
    found = checked(bench.run([1.0] * 50, [1.0] * 20), bench.run([1.0] * 50, [1.0] * 45))
    assert {name: metric.status for name, metric in found.items()} == {
        "composite": MetricStatus.REGRESSION,
        "kept": MetricStatus.STABLE,
        "changed": MetricStatus.REGRESSION,
    }
    changed = found["changed"]
    assert (changed.baseline_value, changed.current_value, changed.severity) == (0.9, 0.4, Severity.CRITICAL)
    assert changed.delta_percent == pytest.approx(-55.555, abs=1e-3)
    assert changed.delta_fraction == pytest.approx(-0.55555, abs=1e-5)
    assert changed.corrected is not None and changed.p is not None and changed.p <= changed.corrected < 0.05


def test_a_drop_beyond_the_limit_that_chance_explains_is_a_warning(bench: Bench) -> None:
    before, now = [1.0] * 40 + [0.0] * 10, [1.0] * 36 + [0.0] * 12 + [1.0] * 2
    run, old = bench.run([1.0] * 50, now), bench.run([1.0] * 50, before)
    assert checked(run, old)["changed"].status is MetricStatus.WITHIN_NOISE
    assert gate(run, old) is GateStatus.WARNING


def test_small_changes_are_a_dip_or_stable_and_large_gains_an_improvement(bench: Bench) -> None:
    before = bench.run([1.0] * 40, [1.0] * 40)
    assert checked(bench.run([1.0] * 39, [1.0] * 41), before)["kept"].status is MetricStatus.MINOR_DIP
    assert checked(bench.run([1.0] * 39, [1.0] * 41), before)["changed"].status is MetricStatus.STABLE
    assert checked(bench.run([1.0] * 40, [1.0] * 45), before)["changed"].status is MetricStatus.IMPROVEMENT
    assert gate(before, before) is GateStatus.PASSED


def test_the_baseline_is_the_mean_of_its_runs_item_by_item(bench: Bench) -> None:
    before = [bench.run([1.0] * 50, [1.0] * right) for right in (50, 40, 30)]
    found = checked(bench.run([1.0] * 50, [1.0] * 40), *before)
    assert found["changed"].baseline_value == pytest.approx(0.8)
    assert found["composite"].baseline_value == pytest.approx(0.9)
    assert found["changed"].status is MetricStatus.STABLE


def test_a_category_that_is_gone_fails_and_a_new_one_does_not(bench: Bench) -> None:
    whole = bench.run([1.0] * 50, [1.0] * 50)
    half = replace(whole, items={name: item for name, item in whole.items.items() if item.category == "kept"})
    gone = checked(half, whole)
    assert gone["changed"].status is MetricStatus.MISSING and gone["changed"].current_value is None
    assert gone["composite"].status is MetricStatus.REGRESSION
    assert gate(half, whole) is GateStatus.REGRESSION
    new = checked(whole, half)
    assert new["changed"].status is MetricStatus.NEW
    assert gate(whole, half) is GateStatus.PASSED


def test_items_that_did_not_come_back_count_as_wrong(bench: Bench) -> None:
    whole = bench.run([1.0] * 50, [1.0] * 50)
    cut = replace(whole, items={name: item for name, item in whole.items.items() if name < "kept-020"})
    assert checked(cut, whole)["kept"].current_value == pytest.approx(0.4)


def test_retrieval_metrics_are_checked_and_other_metrics_are_not(bench: Bench) -> None:
    def run(hit: float, hallucination: float) -> MeasuredRun:
        columns = {"hit": [hit] * 50, "hallucination": [hallucination] * 50, "context_tokens": [7.0] * 50}
        return bench.run([1.0] * 50, [1.0] * 50, columns | {"session_recall@5": [1.0] * 50, "recall@10": [1.0] * 50})

    found = checked(run(0.9, 0.2), run(1.0, 0.0))
    assert set(found) == {"composite", "kept", "changed", "hit", "hallucination", "session_recall@5"}
    assert found["hit"].status is found["hallucination"].status is MetricStatus.REGRESSION
    assert found["session_recall@5"].status is MetricStatus.STABLE
    assert checked(run(1.0, 0.0), run(0.9, 0.2))["hallucination"].status is MetricStatus.IMPROVEMENT


def test_a_retrieval_metric_that_is_gone_fails(bench: Bench) -> None:
    without, with_hits = bench.run([1.0] * 50), bench.run([1.0] * 50, metrics={"hit": [1.0] * 50})
    assert checked(without, with_hits)["hit"].status is MetricStatus.MISSING
    assert checked(with_hits, without)["hit"].status is MetricStatus.NEW


@pytest.mark.parametrize("field", ["context_tokens", "model_tokens", "dollars"])
def test_higher_costs_are_found(bench: Bench, field: str) -> None:
    def run(value: float) -> MeasuredRun:
        costs: dict[str, Any] = {field: bench.by_question(value)}
        return bench.run([1.0] * 50, [1.0] * 50, **costs)

    assert checked(run(108.0), run(100.0))[field].status is MetricStatus.REGRESSION
    assert checked(run(104.0), run(100.0))[field].status is MetricStatus.MINOR_DIP
    assert checked(run(80.0), run(100.0))[field].status is MetricStatus.IMPROVEMENT
    lenient = CheckThresholds(warn_only=(CostMetric(field),))
    assert checked(run(108.0), run(100.0), limits=lenient)[field].status is MetricStatus.WARNING


def test_a_cost_from_zero_has_no_relative_change_and_is_listed_as_skipped(bench: Bench) -> None:
    free = bench.run([1.0] * 50, dollars=dict.fromkeys(bench.by_question(0.0), 0.0))
    paid = bench.run([1.0] * 50, dollars=bench.by_question(0.01))
    found = checked(paid, free)["dollars"]
    assert found.status is MetricStatus.SKIPPED and found.note is not None and "baseline is 0" in found.note


def test_a_slower_system_is_found_and_a_busy_machine_is_not(bench: Bench) -> None:
    """A busy machine slows all questions of a run: the paired test over questions alone would fail it."""

    def run(seconds: float) -> MeasuredRun:
        return bench.run([1.0] * 50, [1.0] * 50, latency=bench.by_question(seconds, 2 * seconds, share=0.1))

    steady = [run(seconds) for seconds in (0.100, 0.101, 0.099, 0.100, 0.102)]
    assert checked(run(0.13), *steady)["latency_p95"].status is MetricStatus.REGRESSION
    busy = [run(seconds) for seconds in (0.100, 0.130, 0.090, 0.115, 0.140)]
    assert checked(run(0.13), *busy)["latency_p95"].status is MetricStatus.WITHIN_NOISE
    assert checked(run(0.101), *steady)["latency_p95"].status is not MetricStatus.REGRESSION


def test_latency_only_warns_with_fewer_than_three_baseline_runs(bench: Bench) -> None:
    slow, fast = (bench.run([1.0] * 50, latency=bench.by_question(seconds)) for seconds in (0.3, 0.1))
    found = checked(slow, fast, fast)["latency_p95"]
    assert found.status is MetricStatus.WARNING and found.note is not None and "only warns" in found.note


def test_latency_on_another_platform_or_concurrency_is_skipped(bench: Bench) -> None:
    slow, fast = (bench.run([1.0] * 50, latency=bench.by_question(seconds)) for seconds in (0.3, 0.1))
    timing = fast.run.timing.model_copy(update={"concurrency": 16})
    elsewhere = replace(fast, run=fast.run.model_copy(update={"timing": timing}))
    assert checked(slow, elsewhere)["latency_p95"].status is MetricStatus.SKIPPED


def test_with_one_cluster_no_test_is_possible_and_the_limit_alone_decides(tmp_path: Path) -> None:
    bench = Bench(tmp_path, people=1)
    found = checked(bench.run([1.0] * 46), bench.run([1.0] * 50))["kept"]
    assert found.status is MetricStatus.REGRESSION and found.p is None
    assert found.note is not None and "No test is possible" in found.note


def test_p_values_are_corrected_over_every_test_that_can_fail_the_check(bench: Bench) -> None:
    latency = bench.by_question(0.1)
    run = bench.run([1.0] * 50, [1.0] * 30, latency=latency)
    found = checked(run, bench.run([1.0] * 50, [1.0] * 40, latency=latency))
    assert [name for name, metric in found.items() if metric.corrected is not None] == ["composite", "kept", "changed"]
    assert found["composite"].corrected == found["changed"].corrected, "the same loss, so that one test costs nothing"
    assert found["kept"].corrected == 1.0


def test_an_unchanged_noisy_system_fails_at_most_one_check_in_twenty(tmp_path: Path) -> None:
    """400 checks of a system whose every item is right with a chance of its own, the same in every run."""
    bench, dice = Bench(tmp_path, items=30), random.Random(16)
    chances = [[dice.choice((0.1, 0.5, 0.9)) for _ in range(30)] for _ in range(2)]

    def run() -> MeasuredRun:
        scores = [[float(dice.random() < chance) for chance in row] for row in chances]
        kept, changed = scores
        return bench.run(kept, changed, {"hit": kept, "mrr": changed})

    failed = sum(gate(run(), *(run() for _ in range(5))) is GateStatus.REGRESSION for _ in range(400))
    assert failed / 400 <= 0.05 + 2 * 0.011


def test_a_drop_of_the_smallest_size_is_found_in_four_of_five_checks(bench: Bench) -> None:
    """The simulation behind ``--power`` and the check itself agree."""
    before = bench.run([1.0] * 40, [1.0] * 40)
    layout = Layout((1.0,), (tuple(f"person-{number % 25}" for number in range(50)),))
    rule = DropRule(0.05 / 3, 0.03, 0.05)
    drop = smallest_drop(layout, [[1.0] * 40 + [0.0] * 10], rule, Simulation())
    assert drop is not None and 0.05 < drop < 0.25
    dice = random.Random(15)
    found = 0
    for _ in range(100):
        now = [float(dice.random() < 1 - drop / 0.8) for _ in range(40)]
        found += checked(bench.run([1.0] * 40, now), before)["changed"].status is MetricStatus.REGRESSION
    assert 65 <= found <= 100
    assert share_found(layout, [[1.0] * 40 + [0.0] * 10], drop / 3, rule, Simulation()) < 0.5


def test_noise_and_small_categories_make_drops_harder_to_find(bench: Bench) -> None:
    def smallest(items: int, noise: float) -> float | None:
        layout = Layout((1.0,), (tuple(f"person-{number}" for number in range(items)),))
        scores = [[float(number % 4 > 0) for number in range(items)]]
        return smallest_drop(layout, scores, DropRule(0.005, 0.03, 0.05), Simulation(noise=noise))

    few, many, noisy = smallest(40, 0.0), smallest(200, 0.0), smallest(200, 0.2)
    assert few is not None and many is not None and noisy is not None
    assert many < few and many < noisy
    assert smallest(4, 0.0) is None
