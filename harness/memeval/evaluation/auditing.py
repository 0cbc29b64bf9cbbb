"""Auditing a judge: calibration answers made from a benchmark's keys, what the judge says of them, and its errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from memeval.archive.audits import JUDGMENTS, PROBES, AuditFolder, judge_slug, stored_audits, write_audit
from memeval.archive.rows import inner_digest
from memeval.evaluation.findings import Finding
from memeval.evaluation.judges import ChosenJudge
from memeval.evaluation.models import ModelOptions, models_for
from memeval.evaluation.plan import BenchmarkSession
from memeval.evaluation.provenance import harness
from memeval.evaluation.stopping import interruptible
from memeval.evaluation.verdicts import check_key, judgment_rows, judgments
from memeval.evaluation.withholding import asked_of, says, withheld_audit
from memeval.execution.progress import Progress, Silent
from memeval.gateway.record import CallRecord
from memeval.gateway.replies import text_of
from memeval.grading.audit import audit_lines
from memeval.judging.calibration import CalibrationAnswer, trials
from memeval.judging.phrasing import NAME as CALIBRATION
from memeval.records.audit import Audit
from memeval.records.base import digest_of
from memeval.records.errors import BadInput, MemevalError
from memeval.records.track import Redistribution

REMEDY = "Restore the file, or audit again."


@dataclass(frozen=True)
class AuditOptions:
    """How a judge is audited."""

    results: Path = Path("results")
    """Folder the audit is stored under."""
    items: int = 20
    """Items of each category that calibration answers are made for."""
    models: ModelOptions = field(default_factory=ModelOptions)
    """How the judge is asked."""


def audit_judge(
    judge: ChosenJudge, benchmark_session: BenchmarkSession, options: AuditOptions, progress: Progress | None = None
) -> AuditFolder:
    """Measure a judge against calibration answers, or return the audit that measured the very same before.

    An audit in which a judgment failed is not returned: the call may succeed now.

    Args:
        judge: the judge.
        benchmark_session: the benchmark with its data open.
        options: how.
        progress: is told how it goes.

    Raises:
        BadInput: the benchmark has nothing that is judged, or an option cannot be.
        GatewayStopped: the judge's endpoint, its key or a budget stopped it; the same call goes on.
    """
    progress = progress or Silent()
    if options.items < 1:
        raise BadInput(f"--items is {options.items}.", remedy="Give a number of at least 1.")
    made = trials(benchmark_session.keys, benchmark_session.scenarios, options.items)
    if not made:
        raise BadInput(f"{benchmark_session.benchmark.info.id} has no items that a judge rules on.")
    identity = _identity(judge, benchmark_session, made)
    if (stored := _stored(options.results, identity)) is not None:
        progress.note(f"{stored.path}: measured before with the very same answers; reused.")
        return stored
    started = datetime.now(UTC)
    cases = [trial.case for trial in made]
    asks = judge.model is not None
    with interruptible(), models_for(options.results, options.models, progress.note, on_disk=asks) as models:
        check_key(judge, cases, models)
        own = CallRecord(None)
        models.open_run(f"audit-{identity}", own)
        title = f"auditing {judge.name} on {benchmark_session.benchmark.info.id}"
        recorded = judge.recorded(judgments(judge, cases, models, progress, title))
        probes = [trial.probe(recorded.rule(trial.case)) for trial in made]
        rows = judgment_rows(recorded, own)
    lines = audit_lines(probes)
    redistribution = benchmark_session.benchmark.info.redistribution
    if redistribution is Redistribution.IDS:
        probes, rows = withheld_audit(probes, rows, benchmark_session, asked_of(judge, cases))
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
        overall=lines.overall,
        categories=lines.categories,
        kinds=lines.kinds,
        started=started.isoformat(timespec="milliseconds"),
        harness=harness(),
        files={},
    )
    # Another process may have measured the same meanwhile.
    return _stored(options.results, identity) or write_audit(options.results, audit, probes, rows)


def _stored(results: Path, identity: str) -> AuditFolder | None:
    """Return the stored audit of an identity, where it has every judgment."""
    for stored in stored_audits(results):
        if stored.audit.audit_id.endswith(f"-{identity}") and all(call.error is None for call in stored.judgments()):
            return stored
    return None


def _identity(judge: ChosenJudge, benchmark_session: BenchmarkSession, made: Sequence[CalibrationAnswer]) -> str:
    """Return eight digits that stand for all that decides an audit."""
    parts = [
        benchmark_session.benchmark.info.id,
        benchmark_session.dataset.digest,
        [
            judge.name,
            judge.endpoint,
            judge.label,
            {p.name: p.digest for p in judge.prompt_rows(benchmark_session.benchmark.info.id)},
        ],
        [CALIBRATION, [[trial.item.item_id, trial.kind, trial.case.answer, trial.expected] for trial in made]],
    ]
    return digest_of(parts)[7:15]


def verify_audit(folder: AuditFolder) -> list[Finding]:
    """Check a stored audit against its own rows; no benchmark data and no network are needed.

    Args:
        folder: the audit.

    Returns:
        What does not hold; empty where all does.
    """
    head = str(folder.path / folder.HEAD)
    try:
        return [*_files(folder, head), *_probes(folder), *_rates(folder, head)]
    except MemevalError as error:
        return [Finding(error.where or head, error.problem, error.remedy or REMEDY)]


def _files(folder: AuditFolder, head: str) -> Iterator[Finding]:
    """The folder is where the audit belongs, and every file is the one that was stored."""
    audit = folder.audit
    stands = folder.path.resolve().parts[-3:]
    belongs = (audit.benchmark.partition("@")[0], judge_slug(audit.judge), audit.audit_id)
    if stands != belongs:
        problem = f"the audit belongs in {'/'.join(belongs)}, not in {'/'.join(stands)}."
        yield Finding(str(folder.path), problem, "Move the folder back.")
    expected = {PROBES} if audit.judge_endpoint is None else {PROBES, JUDGMENTS}
    if audit.files.keys() != expected:
        yield Finding(
            f"{head}: files", f"names {_listed(audit.files)}, and such an audit has {_listed(expected)}.", REMEDY
        )
    for name in sorted(expected & audit.files.keys()):
        if inner_digest(folder.file(name)) != audit.files[name]:
            yield Finding(str(folder.file(name)), "does not match its digest in audit.json.", REMEDY)


def _probes(folder: AuditFolder) -> Iterator[Finding]:
    """What a model judge said of an answer is what it replied, under the key of what it was asked."""
    said = {}
    for number, call in enumerate(folder.judgments(), start=1):
        if folder.audit.redistribution is Redistribution.FULL and call.key != call.request.key:
            yield Finding(f"{folder.file(JUDGMENTS)}:{number}", "does not stand under the key of its request.", REMEDY)
        said[call.key] = text_of(call)  # a failed call stands before the good one of its key
    for number, probe in enumerate(folder.probes(), start=1):
        where = f"{folder.file(PROBES)}:{number}"
        if probe.judgment_key is None:
            if folder.audit.judge_endpoint is not None:
                yield Finding(where, f"{probe.item_id} names no judgment, and the judge is a model.", REMEDY)
        elif probe.judgment_key not in said:
            yield Finding(where, f"{probe.item_id} rests on a judgment that is not in {JUDGMENTS}.gz.", REMEDY)
        elif not says(said[probe.judgment_key], probe.verdict, folder.audit.redistribution):
            yield Finding(where, f"{probe.item_id}: the verdict is not what the judge said.", REMEDY)


def _rates(folder: AuditFolder, head: str) -> Iterator[Finding]:
    """The error rates follow from the probes."""
    audit, lines = folder.audit, audit_lines(list(folder.probes()))
    if (lines.overall, lines.categories, lines.kinds) != (audit.overall, audit.categories, audit.kinds):
        yield Finding(head, "holds other error rates than its probes make.", REMEDY)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
