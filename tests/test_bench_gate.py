"""The gate on regressions of ``make bench``: it sees a slower measurement, and is silent on noise."""

import random

from bench.gate import DRAWS, compare, p_value


def measured(*ratios: float, name: str = "run") -> dict[str, object]:
    return {"name": name, "reference": "a bare pipe", "ratios": list(ratios)}


def noisy(seed: int, factor: float = 1.0, pairs: int = 7) -> dict[str, object]:
    rng = random.Random(seed)
    return measured(*(factor * rng.gauss(1.5, 0.06) for _ in range(pairs)))


def test_a_slower_measurement_is_a_regression() -> None:
    ((found,), alone) = compare([noisy(1)], [noisy(2, 1.3)])
    assert found.is_regression and not alone
    assert found.line().startswith("REGRESSION") and found.line().endswith("run, beside a bare pipe")


def test_noise_alone_is_no_regression_in_98_of_100_comparisons() -> None:
    alarms = sum(compare([noisy(2 * seed)], [noisy(2 * seed + 1)])[0][0].is_regression for seed in range(100))
    assert alarms <= 2


def test_a_certain_but_small_increase_is_no_regression() -> None:
    ((found,), _alone) = compare([measured(*[1.5] * 7)], [measured(*[1.53] * 7)])
    assert found.p < 0.01 and not found.is_regression


def test_a_faster_measurement_is_no_regression() -> None:
    ((found,), _alone) = compare([noisy(1, 1.4)], [noisy(2)])
    assert not found.is_regression and found.change < 0


def test_three_pairs_are_too_few_to_say_anything() -> None:
    ((found,), _alone) = compare([measured(1, 1, 1)], [measured(2, 2, 2)])
    assert found.p == 1 / 20 and not found.is_regression


def test_the_p_value_of_many_pairs_is_drawn_and_never_zero() -> None:
    assert 0 < p_value([1.0] * 12, [2.0] * 12) <= 2 / DRAWS


def test_measurements_of_one_side_and_of_old_files_are_named() -> None:
    old = {"name": "old", "reference": "x"}
    found, alone = compare([old, measured(1, 2)], [measured(1, 2), measured(1, name="new"), old])
    assert [each.name for each in found] == ["run, beside a bare pipe"] and alone == ["new", "old"]
