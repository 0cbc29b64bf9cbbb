"""Bringing answers before a model judge; what it says is on record before anything is graded by it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memeval.archive.runs import RunFolder
from memeval.evaluation.judges import ChosenJudge
from memeval.evaluation.models import Models
from memeval.evaluation.plan import BenchmarkSession
from memeval.execution.progress import Progress
from memeval.gateway.record import CallRecord
from memeval.judging.base import Case, Judge
from memeval.judging.model import RecordedJudge, ask_all
from memeval.records.base import Digest
from memeval.records.call import Call, Caller, ModelRequest, Phase
from memeval.records.response import Response


def check_key(judge: ChosenJudge, cases: Iterable[Case], models: Models, lent: Iterable[Call] = ()) -> None:
    """Refuse to begin where a judge must be asked and there is no key to it.

    Args:
        judge: the judge; the rule set needs no key, and neither does a judge whose judgments are all on record.
        cases: the answers.
        models: the gateway.
        lent: further judgments that are on record.

    Raises:
        BadInput: there is no key.
    """
    if judge.model is None:
        return
    known = {call.key for call in lent if call.error is None}
    asked = (judge.model.request(case).key for case in cases)
    if any(key not in known and models.shared.find(key) is None for key in asked):
        models.check_keys([Caller.JUDGE])


def judgments(
    judge: ChosenJudge, cases: Sequence[Case], models: Models | None, progress: Progress, title: str
) -> dict[Digest, Call]:
    """Return the recorded judgments that rule on some answers, and have those made that are not on record yet.

    Args:
        judge: the judge; the rule set needs none.
        cases: the answers.
        models: the gateway; may be ``None`` for the rule set.
        progress: is told how it goes.
        title: what progress is called.

    Raises:
        GatewayStopped: the endpoint, its key or a budget stopped the run; what was answered is on record.
    """
    if judge.model is None or models is None or not cases:
        return {}
    gateway = models.gateway
    endpoint = models.endpoint(Caller.JUDGE)

    async def ask(request: ModelRequest) -> Call:
        return await gateway.ask(request, endpoint, Caller.JUDGE, Phase.JUDGE)

    def advance() -> None:
        progress.spend(gateway.spent_usd, gateway.made, gateway.cached)
        progress.advance(1, 0)

    progress.start(title, len(cases), 0)
    try:
        return gateway.run(ask_all(judge.model, cases, ask, advance))
    finally:
        progress.stop()


def judgment_rows(judge: Judge, own: CallRecord | None) -> list[Call]:
    """Return the judgments of a run as they are sealed: by key, a failed call before the good one of the same key.

    Args:
        judge: the judge that graded.
        own: the record of the run's failed calls.
    """
    used = list(judge.used.values()) if isinstance(judge, RecordedJudge) else []
    failed = [] if own is None else [call for call in own.rows() if call.caller is Caller.JUDGE]
    rows = {(call.key, call.error is None, call.at): call for call in (*used, *failed)}
    return [rows[place] for place in sorted(rows)]


def call_rows(
    benchmark_session: BenchmarkSession,
    responses: Iterable[Response],
    models: Models,
    own: CallRecord,
    retried: RunFolder | None,
) -> list[Call]:
    """Return the reader's and the system's calls of a run as they are sealed.

    First the reader's, by key: those that answered, and those that failed. Then the system's, by scenario in the
    benchmark's order, and as they came.

    Args:
        benchmark_session: the benchmark with its data.
        responses: all responses of the run.
        models: the gateway, with the record of all runs, or the run whose record answered.
        own: the record of the run's systems' calls, and of failed ones.
        retried: the finished run whose responses this one starts from, where there is one.
    """
    mine = [*(() if retried is None else retried.calls()), *own.rows()]
    read = [call for call in mine if call.caller is Caller.READER]
    replayed = [] if models.replay is None else [row for row in models.replay.calls() if row.caller is Caller.READER]
    answered = {call.key: call for call in replayed}  # a failed call stands before the good one of its key
    for key in {response.reader_key for response in responses} - {None}:
        if (call := models.shared.find(str(key)) or answered.get(str(key))) is not None:
            read.append(call)
    rows = {(call.key, call.error is None, call.at): call for call in read}
    place = {scenario_id: number for number, scenario_id in enumerate(benchmark_session.scenarios)}
    made = [call for call in mine if call.caller is Caller.SYSTEM]
    made.sort(key=lambda call: place.get(call.scenario_id or "", -1))  # stable: as they came
    return [*(rows[at] for at in sorted(rows)), *made]
