"""The texts that the stored contexts of a run stand for: own text, and turns by id."""

from __future__ import annotations

from functools import lru_cache

from memeval.benchmarks.session import BenchmarkSession
from memeval.execution.contexts import Contexts, TurnTexts, texts_of
from memeval.records.response import Context, Response

OPEN_AT_ONCE = 4
"""Number of scenarios, and of context texts, in memory."""


class StoredTexts:
    """The texts that the stored rows of a run stand for. A few scenarios and texts stay in memory.

    Args:
        benchmark_session: the benchmark with the data of the run.
        contexts: the stored contexts.
    """

    def __init__(self, benchmark_session: BenchmarkSession, contexts: Contexts) -> None:
        self._benchmark_session = benchmark_session
        self._contexts = contexts
        self._turns = lru_cache(OPEN_AT_ONCE)(self._new_turns)
        self._text = lru_cache(OPEN_AT_ONCE)(self._new_text)

    def context(self, response: Response) -> str | None:
        """Return the text of a response's context; ``None`` if it has none, or if turns or context are missing."""
        context = self._contexts.of(response)
        return None if context is None else self._text(context.scenario_id, context.digest)

    def text(self, context: Context) -> str | None:
        """Return the text of a context; ``None`` if the data has no such scenario or turn."""
        turns = self._turns(context.scenario_id)
        try:
            return None if turns is None else turns.joined(context)
        except KeyError:
            return None

    def _new_text(self, scenario_id: str, digest: str) -> str | None:
        return self.text(self._contexts.of_scenario(scenario_id)[digest])

    def _new_turns(self, scenario_id: str) -> TurnTexts | None:
        scenario = self._benchmark_session.scenarios.get(scenario_id)
        return None if scenario is None else texts_of(scenario)
