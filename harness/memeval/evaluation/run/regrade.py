"""Grades stored answers with another judge: a new run on another track, with the same responses."""

from dataclasses import replace
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession, session_of_run
from memeval.evaluation.judge.grades import cases_of, grade_items
from memeval.evaluation.judge.judges import ChosenJudge
from memeval.evaluation.run.models import CALLS, interruptible, models_for
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
from memeval.options import ImportOptions, RegradeOptions
from memeval.records.errors import BadInput
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
    ``BadInput`` if the run or its data is not readable, or the data has another digest than the run's; or if the run is
    of a released version, and the results folder is not that version's. Raises ``GatewayStopped`` if the judge's
    endpoint or key failed, or the budget is spent. The same call resumes.
    """
    progress = progress or Progress()
    run = source.run
    own = RunFolder(source.path.resolve()).results
    if run.product_version is not None and options.results.resolve() != own:
        raise BadInput(
            f"run {run.run_id} measures a released version, whose runs are stored in a folder of its own.",
            where=source.path,
            remedy="Restore that folder." if own is None else f"Name that folder: --results {own}",
        )
    inputs = Inputs.of(judge.on(run.track), run.system, run.coverage.limit)
    system_folder = options.results / run.track.benchmark.partition("@")[0] / run.system.slug
    if not options.fresh:
        if run.fingerprint == inputs.fingerprint:
            progress.note(f"{source.path}: this judge already graded the run; reused.")
            return source
        done = [folder for folder in finished_runs(system_folder, inputs) if folder.run.answers_from == run.run_id]
        if done:
            progress.note(f"{done[-1].path}: this run has the same answers and judge; reused.")
            return done[-1]
    session = session_of_run(run, data)
    stored = decoded_run(source, session)
    others = [prompt for prompt in stored.prompts() if not is_judges(prompt.name)]
    responses = list(stored.responses())
    given = Rows(responses, list(stored.contexts()), [], list(stored.judgments()), list(stored.calls()), others)
    of_grades = {
        "run_id": "",
        "harness": harness(inputs.track.benchmark),
        "seeds": {name: seed for name, seed in run.seeds.items() if name != "judge"} | judge.seeds,
        "answers_from": run.run_id,
    }
    of_answers = {name: getattr(run, name) for name in Plan.model_fields.keys() & Run.model_fields.keys()}
    plan = Plan(started="", inputs=inputs, **(of_answers | of_grades))
    detail = f"the responses of {run.run_id} by {judge.name}"
    return graded_run(plan, given, session, judge, options, progress, "judged", detail, run.timing.concurrency)


def graded_run(
    plan: Plan,
    given: Rows,
    session: BenchmarkSession,
    judge: ChosenJudge,
    options: RegradeOptions | ImportOptions,
    progress: Progress,
    event: str,
    detail: str,
    concurrency: int = 1,
) -> RunFolder:
    """Grade answers that exist already, and seal a run of them; an interrupted one is resumed.

    ``given``: the rows of the run, without its grades; its judgments are those that are recorded already. ``event`` and
    ``detail``: what the log says of it. Raises ``GatewayStopped`` if the judge's endpoint or key failed, or the budget
    is spent.
    """
    system_folder = options.results / session.benchmark.info.name / plan.system.slug
    cases = [] if judge.model is None else cases_of(session, session.keys, given.responses)
    with (
        interruptible(),
        models_for(options.results, options.models, progress.note, on_disk=judge.model is not None) as models,
    ):
        models.gateway.reuse(given.judgments)
        check_key(judge, cases, models, given.judgments)
        interrupted = [
            folder
            for folder, other in unfinished_runs(system_folder).items()
            if (other.inputs.fingerprint, other.answers_from, other.imported)
            == (plan.inputs.fingerprint, plan.answers_from, plan.imported)
        ]
        folder = interrupted[-1] if interrupted and not options.fresh else start(system_folder, plan)
        with Journal(folder) as journal, CallRecord(journal.path / CALLS) as own:
            plan = Journal.plan(folder)
            models.open_run(plan.run_id, own)
            title = f"judging {plan.system.slug} by {judge.name}"
            recorded = judge.recorded(judgments(judge, cases, models, progress, title))
            reader = plan.inputs.track.reader
            rows = replace(
                given,
                grades=grade_items(session, session.keys, given.responses, recorded, given.contexts, reader),
                judgments=judgment_rows(recorded, own),
                prompts=[*judge.prompt_rows(plan.inputs.track.benchmark), *given.prompts],
            )
            journal.log(LogLine(at=utc_now(), event=event, detail=detail))
            return seal(folder, plan, rows, journal.log_lines, concurrency, session)
