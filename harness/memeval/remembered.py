"""What was computed from texts or scenarios, for the next run or question that needs it in this process."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Generic, TypeVar

from memeval.records.scenario import Scenario

T = TypeVar("T")

CHARACTERS = 12_000_000
"""Maximum characters of all scenarios of which something is remembered. It bounds the memory."""

STREAMED = 1_000_000
"""Characters that a history counts which is generated on demand: parts of it stay in memory."""


def of_short_texts(most: int, characters: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Decorate a function of a text: what it returns is remembered for the last ``most`` texts that are short enough.

    ``characters``: longer texts are not remembered, so that they do not fill the memory.
    """

    def decorated(make: Callable[[str], T]) -> Callable[[str], T]:
        kept = lru_cache(most)(make)

        @wraps(make)
        def remembering(text: str) -> T:
            return kept(text) if len(text) <= characters else make(text)

        return remembering

    return decorated


class OfScenarios(Generic[T]):
    """What a function returns for scenarios. It is called once for each, while few enough are in memory.

    A scenario is recognised by its identity: two with equal contents are two. ``make``: the function. Its results are
    shared, so nobody may change them. With more than ``CHARACTERS`` in the scenarios, all results are forgotten.
    """

    def __init__(self, make: Callable[[Scenario], T]) -> None:
        self._make = make
        self._made: dict[int, tuple[Scenario, T]] = {}
        self._characters = 0

    def __call__(self, scenario: Scenario) -> T:
        known = self._made.get(id(scenario))
        if known is not None:  # it holds its scenario, so no other one has this identity
            return known[1]
        made, size = self._make(scenario), _characters(scenario)
        if self._characters + size > CHARACTERS:
            self._made, self._characters = {}, 0
        self._made[id(scenario)] = scenario, made
        self._characters += size
        return made


def _characters(scenario: Scenario) -> int:
    if scenario.is_streamed:
        return STREAMED
    return sum(len(turn.content) for session in scenario.each_session() for turn in session.turns)
