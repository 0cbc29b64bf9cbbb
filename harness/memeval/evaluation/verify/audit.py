"""Audits a judge: measures its error rates on calibration answers made from a benchmark's keys."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from memeval.archive.audits import JUDGMENTS, PROBES, AuditFolder, judge_slug, stored_audits, write_audit
from memeval.archive.rows import inner_digest
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.judge.judges import ChosenJudge
from memeval.evaluation.run.models import interruptible, models_for
from memeval.evaluation.run.provenance import harness
from memeval.evaluation.run.verdicts import check_key, judgment_rows, judgments
from memeval.evaluation.verify.findings import Finding
from memeval.evaluation.withhold.encoding import has_verdict, requests_of, withheld_audit
from memeval.execution.progress import Progress
from memeval.gateway.record import CallRecord
from memeval.gateway.replies import is_usable, text_of
from memeval.judging.calibration import CalibrationAnswer, trials
from memeval.judging.phrasing import NAME as CALIBRATION
from memeval.options import AuditOptions, require_at_least
from memeval.records.audit import Agreement, Audit, AuditLine, Probe, ProbeKind, Rate
from memeval.records.base import digest_of
from memeval.records.errors import BadInput, MemevalError
from memeval.records.scores import Interval
from memeval.records.track import Redistribution
from memeval.statistics.agreement import cohen_kappa
from memeval.statistics.intervals import wilson

Part = TypeVar("Part", str, ProbeKind)


def audit_lines(probes: Sequence[Probe]) -> tuple[AuditLine, dict[str, AuditLine], dict[ProbeKind, AuditLine]]:
    """Return a judge's errors in total, by category, and by kind of probe."""
    by_category = _by(probes, lambda probe: probe.category)
    return audit_line(probes), by_category, _by(probes, lambda probe: probe.kind)


def audit_line(probes: Sequence[Probe]) -> AuditLine:
    """Return a judge's errors over some probes.

    A probe without a verdict counts in the denominators of both rates, but as neither accepted nor rejected.
    """
    wrong = [probe for probe in probes if not probe.expected]
    right = [probe for probe in probes if probe.expected]
    return AuditLine(
        false_accepts=rate(sum(probe.verdict is True for probe in wrong), len(wrong)),
        false_rejects=rate(sum(probe.verdict is False for probe in right), len(right)),
        unparsed=rate(sum(probe.verdict is None for probe in probes), len(probes)),
        agreement=agreement((probe.expected, probe.verdict) for probe in probes if probe.verdict is not None),
    )


def agreement(verdicts: Iterable[tuple[bool, bool]]) -> Agreement:
    table = [[0, 0], [0, 0]]
    for first, second in verdicts:
        table[first][second] += 1
    items = sum(map(sum, table))
    kappa = cohen_kappa(table)
    return Agreement(
        items=items,
        equal=rate(table[0][0] + table[1][1], items),
        kappa=kappa.value if kappa else None,
        kappa_low=kappa.low if kappa else None,
        kappa_high=kappa.high if kappa else None,
    )


def rate(count: int, of: int) -> Rate:
    """Return a share with its Wilson interval; both are ``None`` if ``of`` is 0."""
    if of == 0:
        return Rate(count=count, of=of, share=None, interval=None)
    low, high = wilson(count, of)
    return Rate(count=count, of=of, share=count / of, interval=Interval(low=low, high=high))


def _by(probes: Sequence[Probe], part: Callable[[Probe], Part]) -> dict[Part, AuditLine]:
    """Return the errors by part, in order of first appearance."""
    names = dict.fromkeys(map(part, probes))
    return {name: audit_line([probe for probe in probes if part(probe) == name]) for name in names}


REMEDY = "Restore the file, or audit again."


def audit_judge(
    judge: ChosenJudge, benchmark_session: BenchmarkSession, options: AuditOptions, progress: Progress | None = None
) -> AuditFolder:
    """Measure a judge on calibration answers, or return a stored audit of the same judge and answers.

    A stored audit with a failed judgment is not reused, since the call may succeed now. Raises ``BadInput`` if the
    benchmark has no judged items, or an option is invalid. Raises ``GatewayStopped`` if the judge's endpoint or key
    failed, or the budget is spent. The same call resumes.
    """
    progress = progress or Progress()
    require_at_least("--items", options.items)
    answers = trials(benchmark_session.keys, benchmark_session.scenarios, options.items)
    if not answers:
        raise BadInput(f"{benchmark_session.benchmark.info.id} has no judged items.")
    identity = audit_identity(judge, benchmark_session, answers)
    if (stored := _stored(options.results, identity)) is not None:
        progress.note(f"{stored.path}: this audit has the same judge and answers; reused.")
        return stored
    started = datetime.now(UTC)
    cases = [answer.case for answer in answers]
    uses_models = judge.model is not None
    with interruptible(), models_for(options.results, options.models, progress.note, on_disk=uses_models) as models:
        check_key(judge, cases, models)
        own = CallRecord(None)
        models.open_run(f"audit-{identity}", own)
        title = f"auditing {judge.name} on {benchmark_session.benchmark.info.id}"
        recorded = judge.recorded(judgments(judge, cases, models, progress, title))
        probes = [answer.probe(recorded.rule(answer.case)) for answer in answers]
        rows = judgment_rows(recorded, own)
    overall, categories, kinds = audit_lines(probes)
    redistribution = benchmark_session.benchmark.info.redistribution
    if redistribution is Redistribution.IDS:
        probes, rows = withheld_audit(probes, rows, benchmark_session, requests_of(judge, cases))
    audit = Audit(
        audit_id=f"{started:%Y%m%dT%H%M%SZ}-{identity}",
        benchmark=benchmark_session.benchmark.info.id,
        data_digest=benchmark_session.dataset.digest,
        parameters=dict(benchmark_session.dataset.parameters),
        redistribution=redistribution,
        judge=judge.name,
        judge_endpoint=judge.endpoint,
        judge_label=judge.label,
        prompts={prompt.name: prompt.digest for prompt in judge.prompt_rows(benchmark_session.benchmark.info.id)},
        probes=CALIBRATION,
        overall=overall,
        categories=categories,
        kinds=kinds,
        started=started.isoformat(timespec="milliseconds"),
        harness=harness(),
        files={},
    )
    # Another process may have stored the same audit in the meantime.
    return _stored(options.results, identity) or write_audit(options.results, audit, probes, rows)


def _stored(results: Path, identity: str) -> AuditFolder | None:
    """Return the stored audit of an identity, if none of its judgments failed."""
    for stored in stored_audits(results):
        if stored.audit.audit_id.endswith(f"-{identity}") and all(map(is_usable, stored.judgments())):
            return stored
    return None


def audit_identity(
    judge: ChosenJudge, benchmark_session: BenchmarkSession, answers: Sequence[CalibrationAnswer]
) -> str:
    """Return eight hexadecimal digits that identify the judge, the data and the calibration answers."""
    benchmark = benchmark_session.benchmark.info.id
    prompts = {prompt.name: prompt.digest for prompt in judge.prompt_rows(benchmark)}
    about_judge = [judge.name, judge.endpoint, judge.label, prompts]
    probes = [CALIBRATION, [[each.item.item_id, each.kind, each.case.answer, each.expected] for each in answers]]
    return digest_of([benchmark, benchmark_session.dataset.digest, about_judge, probes])[7:15]


def verify_audit(folder: AuditFolder) -> list[Finding]:
    """Check a stored audit for consistency, without benchmark data and network."""
    head = str(folder.path / folder.HEAD)
    try:
        audit, findings = folder.audit, [*_files(folder, head), *_probes(folder)]
        if audit_lines(list(folder.probes())) != (audit.overall, audit.categories, audit.kinds):
            findings.append(Finding(head, "has error rates that do not match its probes.", REMEDY))
        return findings
    except MemevalError as error:
        return [Finding(error.where or head, error.problem, error.remedy or REMEDY)]


def _files(folder: AuditFolder, head: str) -> Iterator[Finding]:
    audit = folder.audit
    actual_path = folder.path.resolve().parts[-3:]
    expected_path = (audit.benchmark.partition("@")[0], judge_slug(audit.judge), audit.audit_id)
    if actual_path != expected_path:
        problem = f"the audit belongs in {'/'.join(expected_path)}, not in {'/'.join(actual_path)}."
        yield Finding(str(folder.path), problem, "Move the folder back.")
    expected = {PROBES} if audit.judge_endpoint is None else {PROBES, JUDGMENTS}
    if audit.files.keys() != expected:
        problem = f"lists {_listed(audit.files)}, but an audit of this judge has {_listed(expected)}."
        yield Finding(f"{head}: files", problem, REMEDY)
    for name in sorted(expected & audit.files.keys()):
        if inner_digest(folder.file(name)) != audit.files[name]:
            yield Finding(str(folder.file(name)), "does not match its digest in audit.json.", REMEDY)


def _probes(folder: AuditFolder) -> Iterator[Finding]:
    replies = {}
    for number, call in enumerate(folder.judgments(), start=1):
        if folder.audit.redistribution is Redistribution.FULL and call.key != call.request.key:
            yield Finding(f"{folder.file(JUDGMENTS)}:{number}", "has a key that does not match its request.", REMEDY)
        replies[call.key] = text_of(call)  # a failed call precedes the successful call with the same key
    for number, probe in enumerate(folder.probes(), start=1):
        where = f"{folder.file(PROBES)}:{number}"
        if probe.judgment_key is None:
            if folder.audit.judge_endpoint is not None:
                yield Finding(where, f"{probe.item_id} has no judgment, but the judge is a model.", REMEDY)
        elif probe.judgment_key not in replies:
            yield Finding(where, f"{probe.item_id} names a judgment that is missing from {JUDGMENTS}.gz.", REMEDY)
        elif not has_verdict(replies[probe.judgment_key], probe.verdict, folder.audit.redistribution):
            yield Finding(where, f"{probe.item_id}: the verdict does not match the judge's reply.", REMEDY)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
