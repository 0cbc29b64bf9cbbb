"""Asks a model judge about items as they finish, while the system is asked further questions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import Future

from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.judge.grades import cases_of
from memeval.evaluation.run.models import Models
from memeval.execution.progress import Progress
from memeval.execution.steps import FinishedItems
from memeval.judging.base import Case
from memeval.judging.model import MOST_CONCURRENT_CASES, ModelJudge, ask_all
from memeval.keys import ItemKey
from memeval.records.base import Digest
from memeval.records.call import Call, Caller, ModelRequest, Phase


class EarlyJudging:
    """Asks about the items that it is given. A request depends on the answer alone, not on when it is sent.

    Args:
        items: the planned items.
    """

    def __init__(
        self, judge: ModelJudge, benchmark_session: BenchmarkSession, items: Iterable[ItemKey], models: Models
    ) -> None:
        self._judge, self._benchmark_session = judge, benchmark_session
        self._items = {item.item_id: item for item in items}
        self._gateway, self._endpoint = models.gateway, models.endpoint(Caller.JUDGE)
        self._places = asyncio.Semaphore(MOST_CONCURRENT_CASES)
        self._asked: dict[str, list[Future[dict[Digest, Call]]]] = {}

    def watch(self, finished: Sequence[FinishedItems]) -> None:
        """Start to ask about items that are on disk."""
        for each in finished:
            for item_id in each.items:
                rows = [row for row in each.responses if row.item_id == item_id]
                cases = cases_of(self._benchmark_session, [self._items[item_id]], rows)
                self._asked[item_id] = [self._gateway.start(self._calls(case)) for case in cases]

    def calls(
        self, items: Iterable[ItemKey], progress: Progress, title: str
    ) -> tuple[dict[Digest, Call], list[ItemKey]]:
        """Return the calls about items that were asked about, failed calls included, and the items that were not.

        Args:
            items: the items, in plan order.

        Raises:
            GatewayStopped: the endpoint or key failed, or a budget is spent.
        """
        calls: dict[Digest, Call] = {}
        asked = [future for futures in self._asked.values() for future in futures]
        if asked:
            progress.start(title, len(asked), 0)
        try:
            for future in asked:
                made: dict[Digest, Call] = self._gateway.result(future)
                calls.update(made)
                progress.spend(self._gateway.spent_usd, self._gateway.made, self._gateway.cached)
                progress.advance(1, 0)
        finally:
            if asked:
                progress.stop()
        return calls, [item for item in items if item.item_id not in self._asked]

    async def _calls(self, case: Case) -> dict[Digest, Call]:
        async with self._places:
            return await ask_all(self._judge, [case], self._ask, lambda: None)

    async def _ask(self, request: ModelRequest) -> Call:
        return await self._gateway.ask(request, self._endpoint, Caller.JUDGE, Phase.JUDGE)
