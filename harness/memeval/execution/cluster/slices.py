"""Divides the questions of a scenario among workers that would be idle."""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil

from memeval.execution.steps import Lookahead, ScenarioWork
from memeval.records.scenario import Export, Recall


class Upcoming:
    """What is not handed out yet, in the order of the run; each scenario is read when its turn comes."""

    def __init__(self, works: Sequence[ScenarioWork]) -> None:
        self._works = works
        self._first = 0
        self._slices: deque[ScenarioWork] = deque()

    @property
    def scenarios(self) -> int:
        return len(self._works) - self._first

    def divide(self, tasks: int, at_once: int, running: int) -> None:
        """Divide the scenarios that are left; see :func:`sliced`."""
        left = [self._works[index] for index in range(self._first, len(self._works))]
        self._first = len(self._works)
        self._slices.extend(sliced(left, tasks, at_once, running))

    def take(self) -> ScenarioWork | None:
        """Return the next scenario or slice, and remove it; ``None`` if nothing is left."""
        if self._slices:
            return self._slices.popleft()
        if not self.scenarios:
            return None
        self._first += 1
        return self._works[self._first - 1]


def sliced(works: Sequence[ScenarioWork], tasks: int, at_once: int, running: int = 0) -> list[ScenarioWork]:
    """Return scenarios in the fewest slices with which the last one ends as early as possible.

    Each slice ingests the history again, so nothing is divided that does not end the run earlier. What a task takes is
    estimated by its rounds: how many questions it asks one after the other.

    ``works``: scenarios, no more than ``tasks``. ``running``: the rounds that are left of the longest task that runs
    already.
    """
    are_divisible = [is_divisible(work) for work in works]
    rounds = [
        ceil(len(work.items) / at_once) if divisible else sum(map(len, work.items.values()))
        for work, divisible in zip(works, are_divisible, strict=True)
    ]
    least = max(1, running, *(n for n, divisible in zip(rounds, are_divisible, strict=True) if not divisible))
    longer = range(least, max(rounds, default=0))
    limit = least + bisect_left(longer, True, key=lambda most: sum(ceil(each / most) for each in rounds) <= tasks)
    return [part for work, each in zip(works, rounds, strict=True) for part in _parts(work, ceil(each / limit))]


def is_divisible(work: ScenarioWork) -> bool:
    """Return whether several instances can share the questions, after each has ingested the same.

    They cannot if an item has several questions, which follow each other, if something is ingested or forgotten between
    questions, if memories are exported, or if the scenario says how many searches are in flight.
    """
    if any(len(questions) > 1 for questions in work.items.values()):
        return False
    wanted = {question: item for item, questions in work.items.items() for question in questions}
    steps = Lookahead(work.scenario.steps, wanted)
    deque(steps.to_ingest(), maxlen=0)
    together = steps.questions()
    return len(together) == len(wanted) and not any(
        isinstance(step, Export) or (isinstance(step, Recall) and step.in_flight > 1) for step in together
    )


def _parts(work: ScenarioWork, number: int) -> Iterator[ScenarioWork]:
    """Yield so many slices of a scenario, as equal as possible; the first one counts its ingestion."""
    items = list(work.items.items())
    ends = [len(items) * place // number for place in range(number + 1)]
    for first, end in pairwise(ends):
        yield replace(work, items=dict(items[first:end]), counts_ingestion=first == 0)
