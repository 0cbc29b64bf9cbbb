"""The contexts of a run as text, for the graders that look at them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memeval.evaluation.plan import BenchmarkSession
from memeval.execution.contexts import TurnTexts
from memeval.execution.readers import NATIVE
from memeval.grading.base import ContextGrader, DeliveredContexts
from memeval.keys import ItemKey
from memeval.records.response import Context, Response


class Deliveries:
    """The contexts of the items whose graders look at contexts; others are not kept in memory.

    Args:
        benchmark_session: the benchmark with its data.
        items: the items to grade.
        last: the last attempt at each question.
        contexts: the contexts of the run.
        reader: the reader of the run's track.
    """

    def __init__(
        self,
        benchmark_session: BenchmarkSession,
        items: Iterable[ItemKey],
        last: Mapping[str, Response],
        contexts: Iterable[Context],
        reader: str,
    ) -> None:
        self._scenarios = benchmark_session.scenarios
        self._texts: TurnTexts | None = None
        self._is_read = reader != NATIVE
        wanted = {
            last[question].context_digest
            for item in items
            if isinstance(benchmark_session.graders[item.category], ContextGrader)
            for question in item.question_ids
        }
        self._by_scenario: dict[tuple[str, str], Context] = {}
        self._by_digest: dict[str, Context] = {}
        for context in contexts if wanted else ():
            if context.digest in wanted:
                self._by_scenario[context.scenario_id, context.digest] = context
                self._by_digest.setdefault(context.digest, context)

    def of(self, responses: Sequence[Response]) -> DeliveredContexts:
        """Return the contexts of an item's responses, in their order."""
        return DeliveredContexts(texts=tuple(map(self._text, responses)), read=self._is_read)

    def _text(self, response: Response) -> str | None:
        """Return the text of a response's context; ``None`` if it has none or none is stored.

        Older runs store a context that scenarios share once, with the turns of one of them.
        """
        if response.context_digest is None:
            return None
        found = self._by_scenario.get((response.scenario_id, response.context_digest))
        found = found or self._by_digest.get(response.context_digest)
        if found is None:
            return None
        if self._texts is None or self._texts.scenario_id != found.scenario_id:
            scenario = self._scenarios.get(found.scenario_id)
            if scenario is None:
                return None
            self._texts = TurnTexts(scenario)
        try:
            return "\n".join(map(self._texts.text, found.parts))
        except KeyError:
            return None
