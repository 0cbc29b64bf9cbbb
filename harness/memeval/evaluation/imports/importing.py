"""Import of answers made elsewhere: match them to a benchmark, grade them by its protocol, and seal a run."""

import re
from dataclasses import replace
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.benchmarks.base import Parameters
from memeval.benchmarks.exchange_format import ExchangeFormat, QuestionData
from memeval.benchmarks.formats.reading import UNKNOWN_SOURCE, AnswerFile, ImportedAnswer, ImportedAnswers
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.judge.judges import ChosenJudge
from memeval.evaluation.run.provenance import harness
from memeval.evaluation.run.readers import reader_named
from memeval.evaluation.run.regrade import graded_run
from memeval.evaluation.run.run_folders import finished_runs, unfinished_runs
from memeval.evaluation.withhold.rows import Rows
from memeval.exchange.formats import read_answers
from memeval.execution.progress import Progress
from memeval.execution.secrets import redact
from memeval.grading.evidence import index_of
from memeval.keys import ItemKey
from memeval.options import ImportOptions, Origin
from memeval.records.base import SLUG, SLUG_LENGTH, digest_bytes, digest_of
from memeval.records.errors import BadInput
from memeval.records.imported import Claim, ClaimMetric
from memeval.records.journal import Plan
from memeval.records.names import looks_like
from memeval.records.response import Outcome, ReportedUsage, Response, RetrievedItem, Timings
from memeval.records.run import Inputs, Isolation, SystemIdentity, SystemKind
from memeval.records.track import Limits
from memeval.systems.channel import visible
from memeval.systems.controls import all_controls

MOST_WORDS = 4
"""Largest number of words in an id; a longer one is a sentence and is listed by its digest."""

LONGEST_NAME = 8
"""Largest number of words in a system's name. A longer one may be benchmark text; the slug and a digest replace it."""

LONGEST_SHOWN = 200

_WORD = re.compile(r"[^\W_]+")


def open_benchmark_for(
    form: ExchangeFormat,
    file: Path,
    benchmark: str | None = None,
    data: Path | None = None,
    parameters: Parameters | None = None,
    protocol: str | None = None,
) -> BenchmarkSession:
    """Open the benchmark that a file of answers belongs to.

    ``form``: the file's format. If the files contain questions, these are the data, unless ``data`` is given.
    ``benchmark``: its id; ``None`` for the format's default. ``protocol``: the grading protocol; ``None`` for the
    benchmark's default. Raises ``BadInput`` if the format does not support the benchmark, or the data cannot be opened.
    """
    if benchmark is None and not form.benchmarks:
        raise BadInput(f"format '{form.name}' fits every benchmark.", remedy="Name one with --benchmark.")
    chosen = find(benchmark or form.benchmarks[0])
    if form.benchmarks and chosen.info.id not in form.benchmarks:
        raise BadInput(
            f"format '{form.name}' does not support {chosen.info.id}.",
            remedy=f"It supports {', '.join(form.benchmarks)}.",
        )
    if parameters is None and (data is None or form.data is not QuestionData.INSIDE):
        parameters = dict(form.parameters) or None
    if data is None and form.data is not None:
        data = file if form.data is QuestionData.INSIDE else file.parent
    return BenchmarkSession.open(chosen, data, parameters, protocol=protocol)


def import_file(
    file: AnswerFile,
    form: ExchangeFormat,
    benchmark_session: BenchmarkSession,
    judge: ChosenJudge,
    options: ImportOptions,
    progress: Progress | None = None,
) -> RunFolder:
    """Grade a file of answers and seal a run of it.

    Answers to unknown questions are dropped and listed. Questions without answers make the run partial. Returns the
    sealed run; the stored one if the same judge already graded the same file. Raises ``BadInput`` if the file is
    invalid, or contains no answer to a question of the benchmark. Raises ``GatewayStopped`` if the judge's endpoint,
    its key or a budget stopped the import; the same call resumes it.
    """
    progress = progress or Progress()
    answers = _matched(read_answers(form, file, benchmark_session), benchmark_session, options.origin)
    _refuse_taken(answers, options.results)
    fixed = benchmark_session.protocol_info.reader
    track = benchmark_session.track(reader=None if fixed is None else reader_named(fixed), limits=Limits())
    inputs = Inputs.of(judge.on(track), _system(answers, form), None)
    system_folder = options.results / benchmark_session.benchmark.info.name / answers.slug
    done = [] if options.fresh else finished_runs(system_folder, inputs)
    if done:
        same = done[-1].run.imported == answers.imported
        hint = "" if same else " Its recorded origin differs. Record the new origin with --fresh."
        progress.note(f"{done[-1].path}: reused; the same judge already graded this file.{hint}")
        return done[-1]
    by_question = {answer.question_id: answer for answer in answers.answers}
    responses = [
        response_to(by_question[question], key, benchmark_session, answers.imported.made_at, own_ids=form.own_ids)
        for key in benchmark_session.keys
        if by_question.keys() >= set(key.question_ids)
        for question in key.question_ids
    ]
    plan = Plan(
        run_id="",
        started="",
        inputs=inputs,
        system=_system(answers, form),
        redistribution=benchmark_session.benchmark.info.redistribution,
        isolation=Isolation.ELSEWHERE,
        harness=harness(inputs.track.benchmark),
        seeds=judge.seeds,
        imported=answers.imported,
    )
    given, detail = Rows(responses, [], []), f"{len(responses)} answers of {form.name}"
    return graded_run(plan, given, benchmark_session, judge, options, progress, "imported", detail)


def _matched(answers: ImportedAnswers, benchmark_session: BenchmarkSession, origin: Origin) -> ImportedAnswers:
    slug = answers.slug if origin.slug is None else origin.slug
    if len(slug) > SLUG_LENGTH or not SLUG.fullmatch(slug):
        raise BadInput(
            f"invalid slug '{visible(slug[:SLUG_LENGTH])}'.", remedy="Use words of a-z and 0-9, separated by dashes."
        )
    if slug in all_controls():
        raise BadInput(f"'{slug}' is a control of memeval.", remedy="Choose another --slug.")
    answered = {answer.question_id for answer in answers.answers}
    known = {question for key in benchmark_session.all_keys for question in key.question_ids}
    planned = [question for key in benchmark_session.keys for question in key.question_ids]
    if answered.isdisjoint(planned):
        raise BadInput(
            f"none of the {len(answered)} answers belongs to a question of {benchmark_session.benchmark.info.id}.",
            where=answers.imported.file,
            remedy="Name the right benchmark or data with --benchmark, --parameter or --data.",
        )
    if benchmark_session.protocol_info.grades_rankings and not answers.has_rankings:
        raise BadInput(
            f"the file lists no retrieved items, and protocol '{benchmark_session.protocol}' grades only those.",
            where=answers.imported.file,
            remedy="Choose another --protocol.",
        )
    claims = answers.imported.claims
    if origin.claimed is not None:
        weighted = any(
            category.weight
            for category in benchmark_session.benchmark.table(benchmark_session.protocol, benchmark_session.tier)
        )
        metric = ClaimMetric.COMPOSITE if weighted else ClaimMetric.ACCURACY
        claims = (Claim(score=origin.claimed, metric=metric, items=len(answered)), *claims)
    origin_fields = {"source": origin.source, "commit": origin.commit, "licence": origin.licence}
    imported = answers.imported.model_copy(
        update={
            **{name: value for name, value in origin_fields.items() if value is not None},
            "claims": claims,
            "missing": tuple(question for question in planned if question not in answered),
            "unknown": tuple(
                _listed(question)
                for question in dict.fromkeys(answer.question_id for answer in answers.answers)
                if question not in known
            ),
        }
    )
    return replace(answers, slug=slug, imported=imported)


def _refuse_taken(answers: ImportedAnswers, results: Path) -> None:
    """Refuse a slug under which another system has runs, of any benchmark: boards and trends know systems by slug.

    Raises ``BadInput`` if the slug belongs to a system of another name, or the name looks like another one.
    """
    name = _name(answers)
    if (other := looks_like(name)) is not None:
        raise BadInput(
            f"the system's name {name!a} looks like '{other}', but has other characters.",
            remedy=f"Name it in the letters that it shows: --system '{other}'.",
        )
    for folder in sorted(results.glob(f"*/{answers.slug}")):
        heads = [RunFolder(head.parent).run.system for head in sorted(folder.glob("*/run.json"))]
        heads += [plan.system for plan in unfinished_runs(folder).values()]
        other = next((head.name for head in heads if head.name != name), None)
        if other is not None:
            raise BadInput(
                f"the slug '{answers.slug}' belongs to the system '{visible(other)}', not to '{visible(name)}'.",
                where=folder,
                remedy=f"Choose another with --slug. If it is the same system, say so: --system '{visible(other)}'.",
            )


def _name(answers: ImportedAnswers) -> str:
    """Return the system's name for the record; the slug and a digest replace one that may be benchmark text."""
    if len(_WORD.findall(answers.system)) <= LONGEST_NAME:
        return visible(answers.system)[:LONGEST_SHOWN]
    return f"{answers.slug} {digest_bytes(answers.system.encode())[7:15]}"


def _listed(name: str) -> str:
    """Return an id or a column's name for the record; its digest if it is a sentence, which may be benchmark text."""
    return digest_bytes(name.encode()) if len(_WORD.findall(name)) > MOST_WORDS else visible(name)


def _system(answers: ImportedAnswers, form: ExchangeFormat) -> SystemIdentity:
    return SystemIdentity(
        slug=answers.slug,
        name=_name(answers),
        version=answers.version,
        kind=SystemKind.IMPORTED,
        adapter_class=f"none: answers in the format {form.name}",
        submission_digest=answers.imported.digest,
        environment_digest=digest_of(form.name),
        parameters={} if answers.column is None else {"answers": _listed(answers.column)},
    )


def response_to(
    answer: ImportedAnswer,
    key: ItemKey,
    benchmark_session: BenchmarkSession,
    made_at: str | None = None,
    *,
    own_ids: bool,
) -> Response:
    """Return an imported answer as the response to its question.

    The id of a turn stands for the turn's text; an unknown id stays marked as unknown. ``own_ids``: whether a retrieved
    id can be memeval's own, and not only one of the benchmark's data.
    """
    items = None
    if answer.sources is not None:
        ordinals = benchmark_session.dataset.ordinals(key.scenario_id)
        index = index_of(benchmark_session.scenarios[key.scenario_id])
        own = {each: each for each in answer.sources if own_ids and index.knows(each)}
        ordinal = {**own, **ordinals}
        named = (ordinal.get(each, UNKNOWN_SOURCE + each) for each in answer.sources)
        items = tuple(
            RetrievedItem(turn_id=each if each in index.turns else None, source_ids=(each,)) for each in named
        )
    is_ranked = items is not None and benchmark_session.protocol_info.grades_rankings
    outcome = Outcome.OK if is_ranked or answer.text.strip() else Outcome.EMPTY
    usage = ReportedUsage(
        prompt_tokens=answer.prompt_tokens, completion_tokens=answer.completion_tokens, cost_usd=answer.cost_usd
    )
    return Response(
        item_id=key.item_id,
        scenario_id=key.scenario_id,
        question_id=answer.question_id,
        outcome=Outcome.ADAPTER_ERROR if answer.error is not None else outcome,
        answer="" if answer.error is not None else answer.text,
        error=None if answer.error is None else redact(answer.error),
        items=items,
        reported_tokens=answer.reported_tokens,
        usage=None if usage == ReportedUsage() else usage,
        timings=Timings(started=made_at or "", ask_seconds=answer.seconds),
    )
