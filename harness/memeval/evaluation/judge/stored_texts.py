"""The texts that the stored contexts of a run stand for: own text, and turns by id."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

from memeval.benchmarks.session import BenchmarkSession
from memeval.execution.contexts import Contexts, TurnTexts, texts_of
from memeval.records.response import Context, Response

OPEN_AT_ONCE = 4
"""Number of scenarios, and of context texts, in memory."""

TurnsOf = Callable[[str], TurnTexts | None]


class StoredTexts:
    """The texts that the stored rows of a run stand for. A few scenarios and texts stay in memory.

    Args:
        contexts: the stored contexts.
    """

    def __init__(self, benchmark_session: BenchmarkSession, contexts: Contexts) -> None:
        self._contexts = contexts
        # Of functions, not of methods: the contexts of a run are many, and nothing may hold them in a circle.
        self._turns = lru_cache(OPEN_AT_ONCE)(partial(_turns, benchmark_session))
        self._text = lru_cache(OPEN_AT_ONCE)(partial(_stored_text, contexts, self._turns))

    def context(self, response: Response) -> str | None:
        """Return the text of a response's context; ``None`` if it has none, or if turns or context are missing."""
        context = self._contexts.of(response)
        return None if context is None else self._text(context.scenario_id, context.digest)

    def text(self, context: Context) -> str | None:
        """Return the text of a context; ``None`` if the data has no such scenario or turn."""
        return _text(context, self._turns)


def _turns(benchmark_session: BenchmarkSession, scenario_id: str) -> TurnTexts | None:
    scenario = benchmark_session.scenarios.get(scenario_id)
    return None if scenario is None else texts_of(scenario)


def _stored_text(contexts: Contexts, turns_of: TurnsOf, scenario_id: str, digest: str) -> str | None:
    return _text(contexts.of_scenario(scenario_id)[digest], turns_of)


def _text(context: Context, turns_of: TurnsOf) -> str | None:
    turns = turns_of(context.scenario_id)
    try:
        return None if turns is None else turns.joined(context)
    except KeyError:
        return None
