"""Asks a run's judge again about drawn judgments, to test the replies that the run recorded.

Grading a run again proves that its grades follow from the recorded replies, not that the judge gave them. A sample of
fifty finds replies that were changed in more than about one judgment of ten.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.archive.trust import AGREEMENT
from memeval.benchmarks.session import session_of_run
from memeval.evaluation.judge.grades import cases_of
from memeval.evaluation.judge.judges import choose_judge, judge_of
from memeval.evaluation.run.models import Models, interruptible, models_for
from memeval.evaluation.verify.checks.subject import draw
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.execution.progress import Progress
from memeval.gateway.endpoints import endpoint_for
from memeval.gateway.replies import text_of
from memeval.gateway.stops import RESUME, GatewayStopped
from memeval.judging.base import parse_strict
from memeval.local import is_local
from memeval.options import ModelOptions, require_at_least
from memeval.records.call import Call, Caller, ModelRequest, Phase
from memeval.records.errors import BadInput, CheckFailed
from memeval.records.grade import GradeState
from memeval.records.ledger import Sample
from memeval.statistics.intervals import wilson

FEWEST = 20
"""Fewest drawn items: fewer say too little."""


@dataclass(frozen=True)
class _Judgment:
    item_id: str
    request: ModelRequest
    verdict: bool | None
    """``None`` if the reply is neither yes nor no."""


def reask(
    folder: RunFolder,
    items: int = 50,
    models: ModelOptions | None = None,
    data: Path | None = None,
    progress: Progress | None = None,
) -> Sample:
    """Ask the judge of a run again about drawn judgments, and compare the verdicts.

    The requests are those that the benchmark's data give for the stored answers. No record of replies is read, so that
    nobody can put replies there; an interrupted sample starts again. Raises ``BadInput`` if no model judged the run,
    the data is missing, or the endpoint is another one. Raises ``CheckFailed`` if the grades do not follow from the
    recorded replies, or the judge gave no reply. Raises ``GatewayStopped`` if the endpoint or key failed, or a budget
    is spent.
    """
    require_at_least("--n", items, FEWEST)
    endpoint = _endpoint(folder)
    progress = progress or Progress()
    drawn = draw(_decisive(folder, data), items, folder.digest)
    title = f"asking the judge of {folder.run.run_id} again"
    with (
        starting_again(),
        interruptible(),
        models_for(folder.path, models or ModelOptions(), progress.note, on_disk=False) as opened,
    ):
        if not is_local(endpoint):
            opened.check_keys([Caller.JUDGE])
        with progress.stage(title, len(drawn)):
            calls = opened.gateway.run(_asked(drawn, folder.run.track.judge, opened, progress))
    failed = [call for call in calls if call.error is not None]
    if failed:
        raise CheckFailed(
            f"the judge at {endpoint} gave no reply to {len(failed)} of {len(calls)} requests: {failed[0].error}",
            remedy="Run the same command again.",
        )
    differing = [
        judgment.item_id
        for judgment, call in zip(drawn, calls, strict=True)
        if parse_strict(text_of(call) or "") is not judgment.verdict
    ]
    return Sample(asked=len(drawn), agreed=len(drawn) - len(differing), differing=tuple(differing))


@contextmanager
def starting_again() -> Iterator[None]:
    """Say of a stopped gateway that the command starts again: a sample keeps no progress."""
    try:
        yield
    except GatewayStopped as error:
        remedy = (error.remedy or "").replace(RESUME, "Run the same command again.")
        raise type(error)(error.problem, where=error.where, remedy=remedy) from None


def said(sample: Sample, what: str) -> str:
    """Return a sample in words: ``49 of 50 verdicts equal (98 %, 95 % interval 89–100 %)``."""
    low, high = wilson(sample.agreed, sample.asked)
    share = sample.agreed / sample.asked
    return (
        f"{sample.agreed} of {sample.asked} {what} equal "
        f"({100 * share:.0f} %, 95 % interval {100 * low:.0f}–{100 * high:.0f} %)"
    )


def too_different(sample: Sample, what: str) -> CheckFailed:
    """Return the error of a sample with which 95 % of equal results are not compatible."""
    return CheckFailed(
        f"only {said(sample, what)}; {100 * AGREEMENT:.0f} % are expected. The run has a mark, and no rank.",
        remedy="Find the cause. Then record it: memeval ledger review RUN, or memeval ledger invalidate RUN.",
    )


def _endpoint(folder: RunFolder) -> str:
    """Return the endpoint of a run's judge; refuse a run that none judged, and an environment with another one."""
    run = folder.run
    wanted = run.track.judge_endpoint
    if wanted is None:
        raise BadInput(
            f"run {run.run_id} was graded by rules: there is no judge to ask.",
            where=folder.path,
            remedy="Grade all answers again: memeval ledger reproduce.",
        )
    judge = run.track.judge
    found = choose_judge(judge).endpoint if is_local(judge) else endpoint_for(Caller.JUDGE, needs_key=False).url
    if found != wanted and is_local(judge):
        raise BadInput(
            f"the judge of run {run.run_id} was {wanted}, but here it is {found}.",
            remedy="Install the engine and the settings that the run's prompts.jsonl names under judge/model.",
        )
    if found != wanted:
        raise BadInput(
            f"the judge of run {run.run_id} was at {wanted}, but the judge's endpoint here is {found}.",
            remedy=f"Set MEMEVAL_JUDGE_BASE_URL={wanted}.",
        )
    return wanted


def _decisive(folder: RunFolder, data: Path | None) -> dict[str, _Judgment]:
    run = folder.run
    reproduction = reproduce_run(folder, data)
    if not reproduction.equal:
        raise CheckFailed(f"the grades do not follow from the recorded replies: {reproduction.findings[0]}")
    session = session_of_run(run, data)
    full = decoded_run(folder, session)
    responses = list(full.responses())
    recorded = {call.key: call for call in sorted(full.judgments(), key=lambda call: call.error is None)}
    judge = judge_of(run.track, full.prompts()).recorded(recorded)
    found: dict[str, _Judgment] = {}
    for case in cases_of(session, session.keys, responses):
        ruling = judge.rule(case)
        if ruling.judgment_key is not None and ruling.state in (GradeState.GRADED, GradeState.UNPARSED):
            request = recorded[ruling.judgment_key].request
            found.setdefault(ruling.judgment_key, _Judgment(case.item_id, request, ruling.verdict))
    if not found:
        raise BadInput(f"run {run.run_id} has no judgments: there is nothing to ask.", where=folder.path)
    return found


async def _asked(drawn: Sequence[_Judgment], judge: str, models: Models, progress: Progress) -> list[Call]:
    endpoint = models.endpoint(Caller.JUDGE, judge)

    async def ask(judgment: _Judgment) -> Call:
        call = await models.gateway.ask(judgment.request, endpoint, Caller.JUDGE, Phase.JUDGE)
        models.advance(progress)
        return call

    return await asyncio.gather(*map(ask, drawn))
