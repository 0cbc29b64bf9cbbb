"""Stored answers under another judge: a new run on another track, with the very same responses."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.evaluation.decoding import decoded_run
from memeval.evaluation.grades import cases_of, grade_items
from memeval.evaluation.judges import ChosenJudge
from memeval.evaluation.models import CALLS, ModelOptions, Models, models_for
from memeval.evaluation.plan import BenchmarkSession
from memeval.evaluation.provenance import harness
from memeval.evaluation.reproduction import session_of_run
from memeval.evaluation.rows import Rows
from memeval.evaluation.run_folders import finished_runs, start, unfinished_runs
from memeval.evaluation.seal import seal
from memeval.evaluation.stopping import interruptible
from memeval.evaluation.verdicts import check_key, judgment_rows, judgments
from memeval.execution.journal import Journal, utc_now
from memeval.execution.progress import Progress, Silent
from memeval.gateway.record import CallRecord
from memeval.judging.prompting import is_judges
from memeval.records.journal import Plan
from memeval.records.log import LogLine
from memeval.records.run import Inputs, Run


@dataclass(frozen=True)
class RejudgeOptions:
    """How stored answers are judged again."""

    results: Path = Path("results")
    """Folder the new run is stored under."""
    models: ModelOptions = field(default_factory=ModelOptions)
    """How the judge is asked."""
    fresh: bool = False
    """Make another run, whatever is stored. Recorded judgments are not asked for again, even so."""


def rejudge_run(
    source: RunFolder,
    judge: ChosenJudge,
    options: RejudgeOptions,
    data: Path | None = None,
    progress: Progress | None = None,
) -> RunFolder:
    """Grade a run's stored responses under another judge.

    Args:
        source: the run whose responses are judged.
        judge: who judges them now.
        options: how.
        data: a local copy of the benchmark's data; ``None`` for the copy memeval keeps, or generates.
        progress: is told how it goes.

    Returns:
        The new run; the one of before where this was done already, be it the source itself.

    Raises:
        BadInput: the run or the benchmark's data cannot be read, or is not the data of the run.
        GatewayStopped: the judge's endpoint, its key or a budget stopped it; the same call goes on.
    """
    progress = progress or Silent()
    run = source.run
    inputs = _inputs(run, judge)
    place = options.results / run.track.benchmark.partition("@")[0] / run.system.slug
    if not options.fresh:
        if run.fingerprint == inputs.fingerprint:
            progress.note(f"{source.path}: its verdicts are this very judge's; reused.")
            return source
        done = [folder for folder in finished_runs(place, inputs) if folder.run.answers_from == run.run_id]
        if done:
            progress.note(f"{done[-1].path}: judged before by the very same judge; reused.")
            shutil.rmtree(done[-1].path / "journal", ignore_errors=True)  # left where it was killed after its head
            return done[-1]
    answers = _Answers(source, session_of_run(run, data))
    asks = judge.model is not None
    with interruptible(), models_for(options.results, options.models, progress.note, on_disk=asks) as models:
        models.gateway.reuse(answers.judgments)
        check_key(judge, answers.cases, models, answers.judgments)
        folder = _folder(place, run, inputs, judge, options.fresh)
        with Journal(folder) as journal, CallRecord(journal.path / CALLS) as own:
            plan = Journal.plan(folder)
            models.open_run(plan.run_id, own)
            rows = _judged(answers, judge, models, own, progress)
            journal.log(LogLine(at=utc_now(), event="judged", detail=f"the responses of {run.run_id} by {judge.name}"))
            return seal(folder, plan, rows, journal.log_lines, run.timing.concurrency, answers.benchmark_session)


class _Answers:
    """Stored responses with what they answer.

    Args:
        source: the run they are stored in.
        benchmark_session: the benchmark with the data of the run.

    Raises:
        BadInput: the run cannot be read.
    """

    def __init__(self, source: RunFolder, benchmark_session: BenchmarkSession) -> None:
        self.source, self.benchmark_session = decoded_run(source, benchmark_session), benchmark_session
        self.responses = list(self.source.responses())
        answered = {row.item_id for row in self.responses}
        self.items = [key for key in benchmark_session.keys if key.item_id in answered]
        self.cases = cases_of(benchmark_session, self.items, self.responses)
        self.judgments = list(self.source.judgments())


def _inputs(run: Run, judge: ChosenJudge) -> Inputs:
    return Inputs.of(judge.on(run.track), run.system, run.coverage.limit)


def _folder(place: Path, run: Run, inputs: Inputs, judge: ChosenJudge, fresh: bool) -> Path:
    """Return the folder of the interrupted judging to go on with, or of a new one."""
    interrupted = [
        folder
        for folder, plan in unfinished_runs(place).items()
        if plan.answers_from == run.run_id and plan.inputs.fingerprint == inputs.fingerprint
    ]
    if interrupted and not fresh:
        return interrupted[-1]
    return start(
        place,
        Plan(
            run_id="",
            started="",
            inputs=inputs,
            system=run.system,
            redistribution=run.redistribution,
            isolation=run.isolation,
            network=run.network,
            sandbox=run.sandbox,
            harness=harness(),
            seeds={name: seed for name, seed in run.seeds.items() if name != "judge"} | judge.seeds,
            answers_from=run.run_id,
            imported=run.imported,
            replayed=run.replayed,
        ),
    )


def _judged(answers: _Answers, judge: ChosenJudge, models: Models, own: CallRecord, progress: Progress) -> Rows:
    """Have a run's responses judged, and return the rows of the new run."""
    source = answers.source
    title = f"judging {source.run.system.slug} by {judge.name}"
    recorded = judge.recorded(judgments(judge, answers.cases, models, progress, title))
    return Rows(
        responses=answers.responses,
        contexts=list(source.contexts()),
        grades=grade_items(answers.benchmark_session, answers.items, answers.responses, recorded),
        judgments=judgment_rows(recorded, own),
        calls=list(source.calls()),
        prompts=[
            *judge.prompt_rows(source.run.track.benchmark),
            *(prompt for prompt in source.prompts() if not is_judges(prompt.name)),
        ],
    )
