"""Grades stored answers with another judge: a new run on another track, with the same responses."""

import shutil
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession, session_of_run
from memeval.evaluation.judge.grades import cases_of, grade_items
from memeval.evaluation.judge.judges import ChosenJudge
from memeval.evaluation.run.models import CALLS, Models, interruptible, models_for
from memeval.evaluation.run.provenance import harness
from memeval.evaluation.run.run_folders import finished_runs, start, unfinished_runs
from memeval.evaluation.run.seal import seal
from memeval.evaluation.run.verdicts import check_key, judgment_rows, judgments
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.evaluation.withhold.rows import Rows
from memeval.execution.journal import Journal, utc_now
from memeval.execution.progress import Progress
from memeval.gateway.record import CallRecord
from memeval.judging.prompting import is_judges
from memeval.options import RegradeOptions
from memeval.records.journal import LogLine, Plan
from memeval.records.run import Inputs, Run


def regrade_run(
    source: RunFolder,
    judge: ChosenJudge,
    options: RegradeOptions,
    data: Path | None = None,
    progress: Progress | None = None,
) -> RunFolder:
    """Grade a run's stored responses with another judge.

    Returns the new run, or an existing run with the same responses and judge, which can be the source. Raises
    ``BadInput`` if the run or its data is not readable, or the data has another digest than the run's. Raises
    ``GatewayStopped`` if the judge's endpoint or key failed, or the budget is spent. The same call resumes.
    """
    progress = progress or Progress()
    run = source.run
    inputs = Inputs.of(judge.on(run.track), run.system, run.coverage.limit)
    system_folder = options.results / run.track.benchmark.partition("@")[0] / run.system.slug
    if not options.fresh:
        if run.fingerprint == inputs.fingerprint:
            progress.note(f"{source.path}: this judge already graded the run; reused.")
            return source
        done = [folder for folder in finished_runs(system_folder, inputs) if folder.run.answers_from == run.run_id]
        if done:
            progress.note(f"{done[-1].path}: this run has the same answers and judge; reused.")
            shutil.rmtree(
                done[-1].path / "journal", ignore_errors=True
            )  # remains if the process was killed after it wrote the head
            return done[-1]
    answers = _Answers(source, session_of_run(run, data))
    uses_models = judge.model is not None
    with interruptible(), models_for(options.results, options.models, progress.note, on_disk=uses_models) as models:
        models.gateway.reuse(answers.judgments)
        check_key(judge, answers.cases, models, answers.judgments)
        folder = _folder(system_folder, run, inputs, judge, options.fresh)
        with Journal(folder) as journal, CallRecord(journal.path / CALLS) as own:
            plan = Journal.plan(folder)
            models.open_run(plan.run_id, own)
            rows = _judged(answers, judge, models, own, progress)
            journal.log(LogLine(at=utc_now(), event="judged", detail=f"the responses of {run.run_id} by {judge.name}"))
            return seal(folder, plan, rows, journal.log_lines, run.timing.concurrency, answers.benchmark_session)


class _Answers:
    """The stored responses of a run, with their items and cases. Raises ``BadInput`` if the run is not readable."""

    def __init__(self, source: RunFolder, benchmark_session: BenchmarkSession) -> None:
        self.source, self.benchmark_session = decoded_run(source, benchmark_session), benchmark_session
        self.responses = list(self.source.responses())
        answered = {row.item_id for row in self.responses}
        self.items = [key for key in benchmark_session.keys if key.item_id in answered]
        self.cases = cases_of(benchmark_session, self.items, self.responses)
        self.judgments = list(self.source.judgments())


def _folder(system_folder: Path, run: Run, inputs: Inputs, judge: ChosenJudge, fresh: bool) -> Path:
    interrupted = [
        folder
        for folder, plan in unfinished_runs(system_folder).items()
        if plan.answers_from == run.run_id and plan.inputs.fingerprint == inputs.fingerprint
    ]
    if interrupted and not fresh:
        return interrupted[-1]
    return start(
        system_folder,
        Plan(
            run_id="",
            started="",
            inputs=inputs,
            system=run.system,
            redistribution=run.redistribution,
            isolation=run.isolation,
            network=run.network,
            sandbox=run.sandbox,
            harness=harness(inputs.track.benchmark),
            seeds={name: seed for name, seed in run.seeds.items() if name != "judge"} | judge.seeds,
            answers_from=run.run_id,
            imported=run.imported,
            product_version=run.product_version,
            replayed=run.replayed,
        ),
    )


def _judged(answers: _Answers, judge: ChosenJudge, models: Models, own: CallRecord, progress: Progress) -> Rows:
    source = answers.source
    title = f"judging {source.run.system.slug} by {judge.name}"
    recorded = judge.recorded(judgments(judge, answers.cases, models, progress, title))
    contexts, reader = list(source.contexts()), source.run.track.reader
    return Rows(
        responses=answers.responses,
        contexts=contexts,
        grades=grade_items(answers.benchmark_session, answers.items, answers.responses, recorded, contexts, reader),
        judgments=judgment_rows(recorded, own),
        calls=list(source.calls()),
        prompts=[
            *judge.prompt_rows(source.run.track.benchmark),
            *(prompt for prompt in source.prompts() if not is_judges(prompt.name)),
        ],
    )
