"""Runs a system on a benchmark: resume, reuse or start; execute; judge; seal."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from memeval.archive.runs import RunFolder
from memeval.archive.sources import keep_source
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.judge.grades import cases_of, grade_items, is_done
from memeval.evaluation.judge.judges import ChosenJudge, choose_judge, judge_of
from memeval.evaluation.run.models import CALLS, Models, interruptible, models_for
from memeval.evaluation.run.on_cluster import Cluster, RunOnNodes, cluster_executor, cluster_of
from memeval.evaluation.run.provenance import harness
from memeval.evaluation.run.readers import choose_reader, protocols_for
from memeval.evaluation.run.run_folders import find_run_folder, start
from memeval.evaluation.run.runtime import ExchangeBuffer, NewInstance, disk_space_warning, system_instances
from memeval.evaluation.run.seal import in_plan_order, seal, used_contexts
from memeval.evaluation.run.verdicts import EarlyJudging, by_scenario, call_rows, judgment_rows, judgments
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.evaluation.withhold.rows import Rows
from memeval.execution.executor import EarlyStop, Executor, execute
from memeval.execution.journal import Journal, utc_now
from memeval.execution.local import LocalExecutor
from memeval.execution.model_reader import PREFIXES, SEED, ModelReader
from memeval.execution.preparation import PreparedSystem, prepare
from memeval.execution.progress import Progress
from memeval.execution.readers import NATIVE
from memeval.execution.steps import FinishedItems, SystemInstance
from memeval.gateway.record import CallRecord
from memeval.gateway.stops import GatewayStopped
from memeval.grading.base import last_attempts
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey
from memeval.local import is_local
from memeval.local.catalogue import address_of, find_model, setup_of
from memeval.options import RunOptions as RunOptions
from memeval.reading import Reader
from memeval.records.beside import BesideTimes
from memeval.records.call import Caller, Prompt
from memeval.records.errors import BadInput, NotApplicable
from memeval.records.journal import LogLine, Plan
from memeval.records.run import Inputs, SystemIdentity, SystemKind
from memeval.systems.child import HASH_SEED
from memeval.systems.messages import AdapterInfo
from memeval.systems.source import SystemSource, start_system


def run_system(
    source: SystemSource, benchmark_session: BenchmarkSession, options: RunOptions, progress: Progress | None = None
) -> RunFolder:
    """Run a system on a benchmark, or return the finished run with the same inputs.

    Raises ``BadInput`` if an option names nothing that exists, the adapter does not load, or an unfinished run of this
    system has other inputs. Raises ``StoppedEarly`` if the first items all failed with the same error; the same call
    with ``retry_errors`` resumes. Raises ``GatewayStopped`` if a model's endpoint or key failed, or a budget is spent,
    and ``KeyboardInterrupt`` if interrupted: finished items are on disk, and the same call resumes.
    """
    progress = progress or Progress()
    options, judge = settled(options, benchmark_session)
    if not benchmark_session.dataset.runnable:
        raise BadInput(
            "this data has questions and answers, but no histories to ingest. It only grades answers made elsewhere.",
            remedy=benchmark_session.benchmark.remedy(),
        )
    if warning := disk_space_warning(benchmark_session.dataset.history_bytes, options.concurrency):
        progress.note(warning)
    prepared = prepare(source, options.setup, progress.note, hidden=(options.results,))
    replay = options.models.replay
    if any(map(is_local, source.declared_models)):
        named = _with_setup(source.declared_models) if replay is None else replay.run.system.declared_models
        prepared = replace(prepared, models=named)
    if replay is not None and prepared.hosts:
        raise BadInput(
            f"'{source.slug}' uses its own hosts, and their replies are not recorded.",
            remedy="Run it without --replay.",
        )
    uses_models = judge.model is not None or bool(source.declared_models) or (options.reader or "").startswith(PREFIXES)
    traffic = ExchangeBuffer()
    with (
        cluster_of(options.scheduler, prepared) as cluster,
        models_for(options.results, options.models, progress.note, on_disk=uses_models) as models,
        system_instances(prepared, options.limits, models, traffic) as new_instance,
    ):
        # What the adapter can do decides the reader, and so the track. Later, this instance runs scenarios too.
        first = new_instance(lambda line: None)
        with closing(first.process):
            adapter = start_system(prepared.source, first.process)
            setting = _Setting(
                unprepared=source,
                prepared=prepared,
                adapter=adapter,
                first=first,
                new_instance=new_instance,
                cluster=cluster,
                benchmark_session=benchmark_session,
                options=options,
                judge=judge,
                models=models,
                traffic=traffic,
                progress=progress,
            )
            is_checked = prepared.source.kind is SystemKind.SUBMISSION and prepared.pays
            if is_checked and replay is None and not options.skip_conformance:
                from memeval.evaluation.run.conforming import require_conformance

                require_conformance(prepared, adapter, options.results, progress, options.models, options.limits)
            return _run(setting)


@dataclass(frozen=True)
class _Setting:
    """What the steps of a run share. It does not change from the start of the system to the stored run."""

    unprepared: SystemSource
    """The system before it was prepared on this machine; each machine of a cluster prepares it by itself."""
    prepared: PreparedSystem
    adapter: AdapterInfo
    first: SystemInstance
    """The instance that loaded the adapter already."""
    new_instance: NewInstance
    cluster: Cluster | None
    """The machines that run the scenarios; ``None`` for this one."""
    benchmark_session: BenchmarkSession
    options: RunOptions
    judge: ChosenJudge
    models: Models
    traffic: ExchangeBuffer
    progress: Progress

    @property
    def source(self) -> SystemSource:
        return self.prepared.source


def _with_setup(declared: Sequence[str]) -> tuple[str, ...]:
    """Return a system's models, those on this machine with their setup, which decides their answers.

    Raises ``BadInput`` if there is no such model.
    """
    return tuple(address_of(find_model(name).name, setup_of(name)) if is_local(name) else name for name in declared)


def settled(options: RunOptions, benchmark_session: BenchmarkSession) -> tuple[RunOptions, ChosenJudge]:
    """Check the options, and return them with a replayed run decoded and the reader's limit of context; and the judge.

    A reader on this machine has a limit of its own, since it computes a long context for minutes. A replay keeps judge
    and limit of its run. Raises ``BadInput`` if a number is too small, judge or model do not exist, or the replayed run
    used other data and its text is withheld.
    """
    replay = options.models.replay
    name = options.reader or (None if replay is None else replay.run.track.reader)
    if replay is not None:
        replay = decoded_run(replay, benchmark_session)
        options = replace(options, models=replace(options.models, replay=replay))
    if name is not None and is_local(name):
        own = find_model(name.partition("@")[0]) if replay is None else replay.run.track.limits
        options = replace(options, limits=options.limits.model_copy(update={"reader_tokens": own.reader_tokens}))
    options.check()
    if replay is not None and options.judge is None:
        return options, judge_of(replay.run.track, replay.prompts())
    return options, choose_judge(options.judge or RulesJudge.name, options.judge_label, options.prompts)


def _require_isolation(setting: _Setting) -> None:
    """Raise ``BadInput`` if a system recalls texts of other scenarios, as a short probe shows."""
    options = setting.options
    if not options.skip_conformance and setting.source.kind is not SystemKind.CONTROL and options.models.replay is None:
        from memeval.evaluation.run.conforming import require_isolation

        require_isolation(setting.prepared, setting.new_instance, setting.progress.note)


def _run(setting: _Setting) -> RunFolder:
    """Return the finished run with the same inputs; else resume or start one, grade it and store it."""
    options, benchmark_session, progress = setting.options, setting.benchmark_session, setting.progress
    source = setting.source
    reader = _reader(setting)
    identity = setting.prepared.identity(setting.adapter)
    track = setting.judge.on(benchmark_session.track(reader=reader, limits=options.limits))
    inputs = Inputs.of(track, identity, options.limit)
    system_folder = options.results / benchmark_session.benchmark.info.name / source.slug
    folder, retried = None, None
    if not options.fresh:
        folder, retried = find_run_folder(
            system_folder,
            inputs,
            replayed=options.models.replay is not None,
            retry_errors=options.retry_errors,
            progress=progress,
        )
    if folder is not None and (folder / "run.json").exists():
        return RunFolder(folder)
    uses_key = {
        Caller.JUDGE: setting.judge.model is not None and not setting.judge.model.is_local,
        Caller.READER: isinstance(reader, ModelReader) and not is_local(reader.name),
    }
    setting.models.check_keys(caller for caller, uses in uses_key.items() if uses)
    if folder is None:
        _require_isolation(setting)
        folder = start(system_folder, _plan(setting, inputs, identity, reader, retried))
    if reason := keep_source(options.results, source):
        progress.note(f"The files of {source.slug} are not stored with the run: {reason}.")
    items = benchmark_session.selected(options.limit)
    with interruptible(), Journal(folder) as journal, CallRecord(journal.path / CALLS) as own:
        plan = Journal.plan(folder)
        setting.models.open_run(plan.run_id, own)
        setting.traffic.store_in(journal.exchanged)
        retryable = frozenset(journal.responses) if options.retry_errors else frozenset()
        if plan.carries_over is not None:
            retried = decoded_run(RunFolder(system_folder / plan.carries_over), benchmark_session)
            retryable = _carry_over(retried, journal)
        executor = _executor(setting, reader, plan.inputs.track.limits.search_items)
        early = _answer_items(setting, executor, items, retryable, journal)
        rows = _graded_rows(setting, items, journal, own, reader, retried, early)
        beside = _beside(setting, items, reader, plan)
        return seal(folder, plan, rows, journal.log_lines, options.concurrency, benchmark_session, beside)


def _beside(setting: _Setting, items: Sequence[ItemKey], reader: Reader | None, plan: Plan) -> BesideTimes | None:
    """Return the times of a finished run beside a control; ``None`` if they are not wanted or not known.

    Its calls and exchanges are not the run's.
    """
    options = setting.options
    if not (options.times_beside or setting.source.product_version):
        return None
    from memeval.evaluation.run.beside import CONTROL, times_beside

    new_instance, session, note = setting.new_instance, setting.benchmark_session, setting.progress.note
    limits, models = plan.inputs.track.limits, setting.models
    setting.traffic.store_in(lambda row: None)
    try:
        models.open_run(f"{plan.run_id}-beside", CallRecord(None))
        return times_beside(new_instance, session, items, reader, limits, options.setup, models, note)
    except GatewayStopped as stopped:
        note(f"No times beside {CONTROL}: {stopped.problem}")
        return None


def _answer_items(
    setting: _Setting,
    executor: Executor,
    items: Sequence[ItemKey],
    retryable: frozenset[tuple[str, int]],
    journal: Journal,
) -> EarlyJudging | None:
    """Have the system answer the items that are not on disk yet. Returns the judging that a model began meanwhile.

    ``retryable``: the responses, by question and attempt, that are asked again if they failed.
    """
    benchmark_session, source, progress = setting.benchmark_session, setting.source, setting.progress
    open_items, attempts = _open_items(items, journal, retryable)
    done = len(items) - len(open_items)
    for note in benchmark_session.dataset.notes:
        progress.note(note)
        journal.log(LogLine(at=utc_now(), event="data", detail=note))
    progress.start(f"{source.slug} on {benchmark_session.benchmark.info.id}", len(items), done)
    if done > 0:
        progress.note(f"Resumed: {done} of {len(items)} items are already on disk.")
        journal.log(LogLine(at=utc_now(), event="resumed", detail=f"{done} of {len(items)} items on disk"))
    early = None
    try:
        if setting.judge.model is not None:
            early = EarlyJudging(setting.judge.model, benchmark_session, items, setting.models)
        stops_early = _early_stop(setting, items, open_items, journal)

        def watch(finished: Sequence[FinishedItems]) -> None:
            stops_early(finished)
            if early is not None:
                early.watch(finished)

        works = benchmark_session.works(open_items, source.view, attempts)
        execute(executor, works, journal, progress, spent=setting.models.spent, watch=watch)
    finally:
        progress.stop()
        journal.log(*setting.models.lines())
    return early


def _executor(setting: _Setting, reader: Reader | None, search_items: int) -> Executor:
    options, check = setting.options, setting.models.gateway.check
    readings = options.models.model_concurrency if isinstance(reader, ModelReader) else 0
    if reader is not None and is_local(reader.name):
        readings = 1  # it answers one request at a time, and a time of reading has no queue in it
    if setting.cluster is None:
        first, concurrency = setting.first, options.concurrency
        new_instance = setting.new_instance
        return LocalExecutor(first, new_instance, reader, search_items, concurrency, check=check, readings=readings)
    prepared, adapter, limits = setting.prepared, setting.adapter, options.limits
    run = RunOnNodes(setting.unprepared, prepared, adapter, limits, reader, search_items, options.concurrency)
    return cluster_executor(setting.cluster, run, setting.progress.note, setting.models, readings)


def _early_stop(
    setting: _Setting, items: Sequence[ItemKey], open_items: Sequence[ItemKey], journal: Journal
) -> Callable[[Sequence[FinishedItems]], None]:
    """Return a watcher that stops a run whose first items all fail with the same error.

    Controls and runs with ``keep_going`` are never stopped.
    """
    source = setting.source
    if setting.options.keep_going or source.kind is SystemKind.CONTROL:
        return lambda finished: None
    open_ids = {item.item_id for item in open_items}
    earlier = [row for row in last_attempts(journal.responses.values()).values() if row.item_id not in open_ids]
    return EarlyStop(len(items), earlier, f"{source.slug} on {setting.benchmark_session.benchmark.info.id}").watch


def _reader(setting: _Setting) -> Reader | None:
    """Return the reader; a replayed run keeps its reader unless the options name another."""
    replay, asked = setting.options.models.replay, setting.options.reader
    if replay is not None and asked is None:
        asked = replay.run.track.reader

    def model_reader(name: str) -> ModelReader:
        endpoint = setting.models.endpoint(Caller.READER, name)
        return ModelReader(name, endpoint, setting.models.gateway, setting.options.limits.reader_tokens)

    protocol, slug = setting.benchmark_session.protocol_info, setting.source.slug
    try:
        return choose_reader(asked, setting.adapter.capabilities, slug, model_reader, protocol)
    except NotApplicable as error:
        info = setting.benchmark_session.benchmark.info
        others = protocols_for(setting.adapter.capabilities, info)
        if not others or protocol.name in others:  # the chosen reader is the cause
            raise
        remedy = f"{slug} supports {info.id} with --protocol {' or '.join(others)}."
        refused = NotApplicable(error.problem, remedy=remedy)
        refused.protocols = tuple(others)
        raise refused from None


def _plan(
    setting: _Setting, inputs: Inputs, system: SystemIdentity, reader: Reader | None, retried: RunFolder | None
) -> Plan:
    has_model_reader = isinstance(reader, ModelReader)
    return Plan(
        run_id="",
        started="",
        inputs=inputs,
        system=system,
        redistribution=setting.benchmark_session.benchmark.info.redistribution,
        isolation=setting.prepared.isolation,
        network=setting.prepared.network,
        sandbox=None if setting.prepared.sandbox is None else str(setting.prepared.sandbox),
        harness=harness(inputs.track.benchmark),
        seeds={"PYTHONHASHSEED": HASH_SEED} | setting.judge.seeds | ({"reader": SEED} if has_model_reader else {}),
        carries_over=retried.run.run_id if retried else None,
        product_version=setting.source.product_version,
        replayed=setting.options.models.replay is not None,
    )


def _graded_rows(
    setting: _Setting,
    items: Sequence[ItemKey],
    journal: Journal,
    own: CallRecord,
    reader: Reader | None,
    retried: RunFolder | None,
    early: EarlyJudging | None,
) -> Rows:
    judge, benchmark_session, progress = setting.judge, setting.benchmark_session, setting.progress
    responses = in_plan_order(items, journal.responses.values())
    title = f"judging {setting.source.slug} on {benchmark_session.benchmark.info.id}"
    calls, others = ({}, items) if early is None else early.calls(items, progress, title)
    cases = [] if judge.model is None else cases_of(benchmark_session, others, responses)
    recorded = judge.recorded(calls | judgments(judge, cases, setting.models, progress, title))
    contexts = used_contexts(responses, journal.contexts)
    answering = NATIVE if reader is None else reader.name
    grades = grade_items(benchmark_session, items, responses, recorded, contexts, answering)
    prompts = judge.prompt_rows(benchmark_session.benchmark.info.id)
    if isinstance(reader, ModelReader):
        prompts += [Prompt(name=name, text=text) for name, text in reader.texts.items()]
    return Rows(
        responses=responses,
        contexts=contexts,
        grades=grades,
        judgments=judgment_rows(recorded, own),
        calls=call_rows(benchmark_session, responses, setting.models, own, retried),
        prompts=prompts,
        traffic=by_scenario(journal.exchanges, benchmark_session),
    )


def _carry_over(source: RunFolder, journal: Journal) -> frozenset[tuple[str, int]]:
    """Copy the missing rows of a finished run into the journal of the run that retries it.

    Returns question id and attempt of all rows of the finished run.
    """
    rows = {(row.question_id, row.attempt): row for row in source.responses()}
    missing = tuple(row for key, row in rows.items() if key not in journal.responses)
    if missing:
        journal.write([FinishedItems((), missing, tuple(source.contexts()))])
        journal.log(LogLine(at=utc_now(), event="carried over", detail=f"the rows of {source.run.run_id}"))
    return frozenset(rows)


def _open_items(
    items: Sequence[ItemKey], journal: Journal, retryable: frozenset[tuple[str, int]]
) -> tuple[list[ItemKey], dict[str, int]]:
    """Return the items that still need to run, and the attempt number of each.

    ``retryable``: question id and attempt of the rows that are retried if they failed.
    """
    last = last_attempts(journal.responses.values())
    attempts: dict[str, int] = {}
    for item in items:
        rows = [last[question] for question in item.question_ids if question in last]
        attempt = max((row.attempt for row in rows), default=1)
        if not is_done(item, last):
            attempts[item.item_id] = attempt
        elif any(row.outcome.is_error and (row.question_id, row.attempt) in retryable for row in rows):
            attempts[item.item_id] = attempt + 1
    return [item for item in items if item.item_id in attempts], attempts
