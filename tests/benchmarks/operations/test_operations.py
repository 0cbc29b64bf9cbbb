"""operations@1: its trials follow from the seed, its grader from the observation, and a run shows both."""

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.operations.generate import PARTS
from memeval.benchmarks.operations.grading import CRASHES, UNREADABLE, reason
from memeval.benchmarks.session import BenchmarkSession
from memeval.judging.rules import RulesJudge
from memeval.records.errors import BadInput
from memeval.records.response import Outcome
from memeval.records.trials import Crash, CrashObservation
from tests.grading.builders import reply

NONE = dict.fromkeys(("lost", "unfound", "doubled", "half", "renamed"), 0)
COUNTS = {"acknowledged": 20, "in_flight": 1, "killed": 3, "probed": 30, **NONE}
WHOLE = CrashObservation(
    opened=True, ready_seconds=0.5, lists=True, kept_in_flight=False, writable=True, error=None, **COUNTS
)


def session(protocol: str = "durability", tier: str = "full") -> BenchmarkSession:
    return BenchmarkSession.open(find("operations@1"), protocol=protocol, tier=tier)


def answered(answer: str) -> tuple[bool | None, str]:
    opened = session()
    key = opened.keys[0]
    response = reply(key, answer, outcome=Outcome.OK)
    grade = CRASHES.grade(key, opened.scenarios[key.scenario_id], [response], RulesJudge())
    return grade.verdict, grade.reason or ""


@pytest.mark.parametrize(("protocol", "trials"), [("durability", 110), ("power-cut", 40)])
def test_the_full_tier_has_a_hundred_kills_and_forty_cuts(protocol: str, trials: int) -> None:
    keys = session(protocol).keys
    assert len(keys) == trials == len({key.item_id for key in keys})
    assert {key.category for key in keys} == {part.category for part in PARTS[protocol]}
    assert {key.slices["stored"] for key in keys} == {"0", "5000"}


@pytest.mark.parametrize(("protocol", "trials"), [("durability", 220), ("power-cut", 100)])
def test_a_second_tier_has_other_crashes_and_both_together_two_hundred_kills(protocol: str, trials: int) -> None:
    both = [session(protocol, tier) for tier in ("full", "again")]
    assert len({key.item_id for each in both for key in each.keys}) == trials
    steps = [step for each in both for scenario in each.scenarios.values() for step in scenario.steps]
    assert len({step.seed for step in steps if isinstance(step, Crash)}) == trials


@pytest.mark.parametrize("protocol", ["freshness", "changes", "apart", "growth", "disk-faults"])
def test_the_second_tier_is_the_full_one_where_nothing_crashes(protocol: str) -> None:
    again, full = (session(protocol, tier).keys for tier in ("again", "full"))
    assert [key.item_id for key in again] == [key.item_id for key in full]


@pytest.mark.parametrize(("tier", "trials"), [("full", 220), ("thousand", 28), ("quick", 8)])
def test_each_tier_has_faults_of_the_disk(tier: str, trials: int) -> None:
    keys = session("disk-faults", tier).keys
    assert len(keys) == trials and {key.category for key in keys} == {"flipped", "full", "read-only"}


def test_equal_seeds_give_equal_moments_and_others_do_not() -> None:
    def steps(seed: int) -> list[object]:
        opened = BenchmarkSession.open(find("operations@1"), parameters={"seed": seed})
        return [step for scenario in opened.scenarios.values() for step in scenario.steps]

    assert steps(1) == steps(1) != steps(2)
    assert all(isinstance(step, Crash) and 20 <= step.writes <= 60 for step in steps(1))


@pytest.mark.parametrize("parameters", [{"size": 3}, {"seeds": 1}, {"seed": "x"}])
def test_other_parameters_than_a_seed_are_refused(parameters: dict[str, str | int]) -> None:
    with pytest.raises(BadInput, match="operations@1"):
        BenchmarkSession.open(find("operations@1"), parameters=parameters)


@pytest.mark.parametrize(
    ("changed", "verdict", "words"),
    [
        ({}, True, "All 30"),
        ({"kept_in_flight": True}, True, "All 30"),
        ({"lost": 2}, False, "2 of 30 acknowledged texts: lost."),
        ({"unfound": 1}, False, "listed but not found"),
        ({"doubled": 1}, False, "there twice"),
        ({"half": 1}, False, "only a part"),
        ({"writable": False}, False, "No further text"),
        ({"opened": False, "lost": 30, "writable": False}, False, "did not start again"),
    ],
)
def test_a_trial_passes_only_without_damage(changed: dict[str, int | bool], verdict: bool, words: str) -> None:
    seen = WHOLE.model_copy(update=changed)
    assert answered(seen.to_json())[0] is verdict
    assert words in reason(seen)


@pytest.mark.parametrize(
    "answer", ["", "{}", "[]", "null", WHOLE.to_json()[:-1], WHOLE.to_json().replace("20", '"20"')]
)
def test_what_is_no_observation_fails(answer: str) -> None:
    assert answered(answer) == (False, UNREADABLE)


def test_a_system_ingests_nothing_of_the_benchmark() -> None:
    opened = session("power-cut", "quick")
    assert not any(scenario.sessions() for scenario in opened.scenarios.values())
