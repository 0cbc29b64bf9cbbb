"""Questions of a scenario are divided among idle workers only where it ends the run earlier and changes no row."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.execution.cluster.executor import DaskExecutor, _Given
from memeval.execution.cluster.slices import Upcoming, is_divisible, sliced
from memeval.execution.steps import ScenarioWork
from memeval.records.scenario import Ask, Export, Forget, Recall
from tests.execution.helpers import work

SCENARIOS = st.lists(st.tuples(st.integers(1, 11), st.booleans()), min_size=1, max_size=3)
"""How many questions, and whether they can be divided."""


def of(scenarios: list[tuple[int, bool]]) -> list[ScenarioWork]:
    """Return scenarios: of one-question items, or of a single item whose questions follow each other."""
    return [work(place, number, number if divisible else 1) for place, (number, divisible) in enumerate(scenarios)]


def rounds(questions: int, divisible: bool, parts: int, at_once: int) -> int:
    """Return how many questions the longest of some slices asks one after the other."""
    return ceil(ceil(questions / parts) / at_once) if divisible else questions


@given(SCENARIOS, st.integers(0, 5), st.integers(1, 4), st.integers(0, 4))
def test_the_last_slice_ends_as_early_as_possible_with_as_few_slices_as_possible(
    scenarios: list[tuple[int, bool]], idle: int, at_once: int, running: int
) -> None:
    tasks = len(scenarios) + idle
    works = of(scenarios)
    slices = sliced(works, tasks, at_once, running)
    counts = [sum(each.scenario is one.scenario for each in slices) for one in works]

    def end(parts: tuple[int, ...]) -> int:
        each = (rounds(*one, number, at_once) for one, number in zip(scenarios, parts, strict=True))
        return max(running, *each)

    possible: Iterator[tuple[int, ...]] = product(
        *(range(1, min(number, tasks) + 1 if divisible else 2) for number, divisible in scenarios)
    )
    ends = {parts: end(parts) for parts in possible if sum(parts) <= tasks}
    earliest = min(ends.values())
    assert ends[tuple(counts)] == earliest
    assert sum(counts) == min(sum(parts) for parts, ending in ends.items() if ending == earliest)


@given(SCENARIOS, st.integers(0, 8), st.integers(1, 4))
def test_slices_have_each_question_once_in_order_and_one_counts_the_ingestion(
    scenarios: list[tuple[int, bool]], idle: int, at_once: int
) -> None:
    works = [replace(one, attempt=place + 1) for place, one in enumerate(of(scenarios))]
    slices = sliced(works, len(works) + idle, at_once)
    assert all(each.items for each in slices)
    found = [(each.scenario.scenario_id, each.attempt, *item) for each in slices for item in each.items.items()]
    assert found == [(one.scenario.scenario_id, one.attempt, *item) for one in works for item in one.items.items()]
    for one in works:
        mine = [each for each in slices if each.scenario is one.scenario]
        assert [each.counts_ingestion for each in mine] == [True] + [False] * (len(mine) - 1)
        sizes = [len(each.items) for each in mine]
        assert max(sizes) - min(sizes) <= 1


def test_nothing_is_divided_while_one_scenario_takes_longer_anyway() -> None:
    long, short = work(0, 20, 1), work(1, 8, 8)
    assert sliced([long, short], 8, 2) == [long, short]
    assert (sliced([short], 8, 2, running=4), len(sliced([short], 8, 2, running=3))) == ([short], 2)


BETWEEN: dict[str, tuple[Any, bool]] = {
    "a history, then questions": ((), True),
    "a question that says how many are in flight": ((Recall(question_id="r", question="x", in_flight=2),), False),
    "a search alone": ((Recall(question_id="r", question="x"),), True),
    "an export": ((Export(question_id="r", question="x"),), False),
    "something to forget between questions": ((Forget(query="x"), Ask(question_id="r", question="x")), False),
    "a change after the last question": ((Ask(question_id="r", question="x"), Forget(query="x")), True),
}


@pytest.mark.parametrize(("more", "divisible"), BETWEEN.values(), ids=BETWEEN.keys())
def test_questions_are_divided_only_if_all_follow_one_history(more: tuple[Any, ...], divisible: bool) -> None:
    plain = work(0, 3, 3)
    steps = (*plain.scenario.steps, *more)
    items = {**plain.items, **({"more": ("r",)} if more else {})}
    assert is_divisible(ScenarioWork(plain.scenario.model_copy(update={"steps": steps}), items)) is divisible


@pytest.mark.parametrize("in_flight", [1, 2])
def test_concurrent_searches_are_not_divided(in_flight: int) -> None:
    steps = [Recall(question_id=f"r{number}", question="x", in_flight=in_flight) for number in range(4)]
    items = {step.question_id: (step.question_id,) for step in steps}
    scenario = work().scenario.model_copy(update={"steps": tuple(steps)})
    assert is_divisible(ScenarioWork(scenario, items)) is (in_flight == 1)


def test_done_questions_before_a_change_do_not_keep_the_others_together() -> None:
    plain = work(0, 2, 2)
    *before, last = plain.scenario.steps
    changed = plain.scenario.model_copy(update={"steps": (*before, Forget(query="x"), last)})
    both, open_one = dict(plain.items), dict([list(plain.items.items())[-1]])
    assert not is_divisible(ScenarioWork(changed, both))
    assert is_divisible(ScenarioWork(changed, open_one))


def test_each_scenario_is_read_when_its_turn_comes() -> None:
    class Read(list[ScenarioWork]):
        def __getitem__(self, index: Any) -> Any:
            taken.append(index)
            return super().__getitem__(index)

    taken: list[int] = []
    upcoming = Upcoming(Read(work(number, 4, 4) for number in range(3)))
    assert upcoming.scenarios == 3 and not taken
    assert upcoming.take() == work(0, 4, 4) and taken == [0]
    upcoming.divide(4, 1, 0)
    assert upcoming.scenarios == 0 and taken == [0, 1, 2]
    left = list(iter(upcoming.take, None))
    assert [each.scenario.scenario_id for each in left] == ["tiny-001", "tiny-001", "tiny-002", "tiny-002"]
    assert upcoming.take() is None


RUNNING = _Given(None, "running", "", {f"i{number}": (f"q{number}",) for number in range(8)}, 4)


@pytest.mark.parametrize(
    ("scenarios", "threads", "concurrency", "given", "slices"),
    [
        (1, 4, 16, [], 4),
        (1, 3, 16, [], 3),
        (1, 4, 8, [], 2),  # so many questions are in flight in two of them
        (1, 4, 11, [], 2),  # a slice with fewer questions in flight would be slower
        (1, 4, 4, [], None),
        (2, 4, 16, [], 4),
        (4, 4, 16, [], None),
        (5, 4, 16, [], None),
        (1, 4, 16, [RUNNING] * 2, 2),
        (1, 4, 16, [RUNNING] * 3, None),
        (1, 4, 12, [RUNNING], 2),
    ],
)
def test_only_idle_threads_get_slices(
    scenarios: int, threads: int, concurrency: int, given: list[_Given], slices: int | None
) -> None:
    made = DaskExecutor.__new__(DaskExecutor)
    made.__dict__ |= {"_given": dict(enumerate(given)), "_concurrency": concurrency, "_divides": True}
    upcoming = Upcoming([work(number, 32, 32) for number in range(scenarios)])
    made._divide(upcoming, threads, 4)
    assert upcoming.scenarios == (0 if slices else scenarios)
    assert len(list(iter(upcoming.take, None))) == (slices or scenarios)


def test_nothing_is_divided_that_ends_before_a_running_task() -> None:
    made = DaskExecutor.__new__(DaskExecutor)
    longer = replace(RUNNING, open_items={**RUNNING.open_items, "i8": ("q8",)})
    several = _Given(None, "several", "", {"i": tuple(f"q{number}" for number in range(7)), "j": ("q",)}, 1)
    for running, slices in ((RUNNING, 4), (longer, 3), (several, 1)):  # two, three and eight rounds are left
        made.__dict__ |= {"_given": {0: running}, "_concurrency": 100, "_divides": True}
        upcoming = Upcoming([work(0, 32, 32)])
        made._divide(upcoming, 5, 4)
        assert len(list(iter(upcoming.take, None))) == slices


def test_a_system_whose_questions_depend_on_each_other_gets_whole_scenarios() -> None:
    made = DaskExecutor.__new__(DaskExecutor)
    made.__dict__ |= {"_given": {}, "_concurrency": 16, "_divides": False}
    upcoming = Upcoming([work(0, 32, 32)])
    made._divide(upcoming, 4, 4)
    assert upcoming.scenarios == 1
