"""Sends answers to a model judge, and collects the model calls of a run for sealing."""

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from functools import partial
from typing import TypeVar

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.judge.grades import cases_of
from memeval.evaluation.judge.judges import ChosenJudge
from memeval.evaluation.run.models import Models
from memeval.execution.progress import Progress
from memeval.execution.steps import FinishedItems
from memeval.gateway.record import CallRecord
from memeval.gateway.replies import is_usable
from memeval.judging.base import Case, Judge
from memeval.judging.model import MOST_CONCURRENT_CASES, ModelJudge, RecordedJudge, ask_all
from memeval.keys import ItemKey
from memeval.records.base import Digest
from memeval.records.call import Call, Caller, ModelRequest, Phase, Traffic
from memeval.records.response import Response

R = TypeVar("R", Call, Traffic)


def check_key(judge: ChosenJudge, cases: Iterable[Case], models: Models, recorded: Iterable[Call] = ()) -> None:
    """Check that the judge's key is set if a judgment is not recorded yet.

    Raises ``BadInput`` if the key is missing.
    """
    if judge.model is None or judge.model.is_local:
        return
    recorded_keys = {call.key for call in recorded if is_usable(call)}
    keys = (judge.model.request(case).key for case in cases)
    if any(key not in recorded_keys and models.gateway.stored(key) is None for key in keys):
        models.check_keys([Caller.JUDGE])


def judgments(
    judge: ChosenJudge, cases: Sequence[Case], models: Models, progress: Progress, title: str
) -> dict[Digest, Call]:
    """Return the judgments of some answers; ask the judge for those that are not recorded yet.

    Raises ``GatewayStopped`` if the endpoint or key failed, or a budget is spent. Finished judgments are recorded.
    """
    if judge.model is None or not cases:
        return {}
    gateway = models.gateway
    endpoint = models.endpoint(Caller.JUDGE, judge.name)

    async def ask(request: ModelRequest) -> Call:
        return await gateway.ask(request, endpoint, Caller.JUDGE, Phase.JUDGE)

    advance, at_once = partial(models.advance, progress), 2 * gateway.most_in_flight(Caller.JUDGE)
    with progress.stage(title, len(cases)):
        return gateway.run(ask_all(judge.model, cases, ask, advance, at_once))


def judgment_rows(judge: Judge, own: CallRecord) -> list[Call]:
    """Return the judgments of a run in sealed order: by key, failed calls before the successful call.

    ``own``: the record of the run's failed calls.
    """
    used = list(judge.used.values()) if isinstance(judge, RecordedJudge) else []
    failed = [call for call in own.rows() if call.caller is Caller.JUDGE]
    rows = {(call.key, call.error is None, call.at): call for call in (*used, *failed)}
    return [rows[position] for position in sorted(rows)]


def call_rows(
    benchmark_session: BenchmarkSession,
    responses: Iterable[Response],
    models: Models,
    own: CallRecord,
    retried: RunFolder | None,
) -> list[Call]:
    """Return the reader's and the system's calls of a run in sealed order.

    First the reader's calls, by key, with failed calls. Then the system's calls, by scenario in the benchmark's order,
    and by time in a scenario. ``retried``: the finished run that this run retries; ``None`` for none.
    """
    run_calls = [*(() if retried is None else retried.calls()), *own.rows()]
    reader_calls = [call for call in run_calls if call.caller is Caller.READER]
    replayed = [] if models.replay is None else [row for row in models.replay.calls() if row.caller is Caller.READER]
    answered = {call.key: call for call in replayed}  # a failed call precedes the successful call with the same key
    for key in {response.reader_key for response in responses} - {None}:
        if (call := models.gateway.stored(str(key)) or answered.get(str(key))) is not None:
            reader_calls.append(call)
    rows = {(call.key, call.error is None, call.at): call for call in reader_calls}
    system_calls = [call for call in run_calls if call.caller is Caller.SYSTEM]
    return [*(rows[position] for position in sorted(rows)), *by_scenario(system_calls, benchmark_session)]


def by_scenario(rows: Sequence[R], benchmark_session: BenchmarkSession) -> list[R]:
    """Return rows in the order of their scenarios, first those without one. Rows of a scenario keep their order."""
    if not rows:
        return []
    order = {scenario_id: number for number, scenario_id in enumerate(benchmark_session.scenarios)}
    return sorted(rows, key=lambda row: order.get(row.scenario_id or "", -1))


class EarlyJudging:
    """Asks about the items that it is given. A request depends on the answer alone, not on when it is sent."""

    def __init__(
        self, judge: ModelJudge, benchmark_session: BenchmarkSession, items: Iterable[ItemKey], models: Models
    ) -> None:
        self._judge, self._benchmark_session, self._models = judge, benchmark_session, models
        self._items = {item.item_id: item for item in items}
        self._gateway, self._endpoint = models.gateway, models.endpoint(Caller.JUDGE, judge.name)
        self._places = asyncio.Semaphore(MOST_CONCURRENT_CASES)
        self._asked: dict[str, list[Future[dict[Digest, Call]]]] = {}

    def watch(self, finished: Sequence[FinishedItems]) -> None:
        for each in finished:
            for item_id in each.items:
                rows = [row for row in each.responses if row.item_id == item_id]
                cases = cases_of(self._benchmark_session, [self._items[item_id]], rows)
                self._asked[item_id] = [self._gateway.start(self._calls(case)) for case in cases]

    def calls(
        self, items: Iterable[ItemKey], progress: Progress, title: str
    ) -> tuple[dict[Digest, Call], list[ItemKey]]:
        """Return the calls about items that were asked about, failed calls included, and the items that were not.

        Raises ``GatewayStopped`` if the endpoint or key failed, or a budget is spent.
        """
        calls: dict[Digest, Call] = {}
        asked = [future for futures in self._asked.values() for future in futures]
        with progress.stage(title, len(asked)) if asked else nullcontext():
            for future in asked:
                made: dict[Digest, Call] = self._gateway.result(future)
                calls |= made
                self._models.advance(progress)
        return calls, [item for item in items if item.item_id not in self._asked]

    async def _calls(self, case: Case) -> dict[Digest, Call]:
        async with self._places:
            return await ask_all(self._judge, [case], self._ask, lambda: None)

    async def _ask(self, request: ModelRequest) -> Call:
        return await self._gateway.ask(request, self._endpoint, Caller.JUDGE, Phase.JUDGE)
