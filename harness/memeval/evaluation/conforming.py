"""Whether a submission keeps to the adapter contract: found out once, stored, and asked for before anything is paid."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from memeval.archive import conformance as reports
from memeval.conformance.suite import MOST_CALLS, SUITE, check_system
from memeval.evaluation.models import ModelOptions, models_for
from memeval.evaluation.runtime import PreparedSystem, SystemSetup, prepare, system_instances
from memeval.execution.journal import utc_now
from memeval.execution.progress import Progress
from memeval.gateway.record import CallRecord
from memeval.records.conformance import CheckOutcome, Conformance
from memeval.records.errors import BadInput
from memeval.records.track import Limits
from memeval.systems.messages import AdapterInfo
from memeval.systems.source import SystemSource, start_system


def check_conformance(
    source: SystemSource,
    results: Path,
    progress: Progress,
    *,
    setup: SystemSetup | None = None,
    models: ModelOptions | None = None,
    limits: Limits | None = None,
) -> Conformance:
    """Run the suite on a system, and store what came of it.

    Its model calls go through the gateway under the caller's caps, and are no run's.

    Args:
        source: the system.
        results: folder the report is stored under.
        progress: is told what a person should know.
        setup: how the system is held and reached.
        models: how models are used.
        limits: what the system is allowed, per call.

    Raises:
        BadInput: the system cannot be prepared or loaded.
        GatewayStopped: a model's endpoint, its key or a budget stopped it.
    """
    prepared = prepare(source, setup or SystemSetup(), progress.note)
    report = _checked(prepared, results, progress, models or ModelOptions(), limits or Limits())
    reports.store(results, report)
    return report


def require_conformance(
    prepared: PreparedSystem,
    hello: AdapterInfo,
    results: Path,
    progress: Progress,
    models: ModelOptions,
    limits: Limits,
) -> None:
    """Refuse a system whose numbers would mean nothing, before a call is paid for; a stored report is enough.

    Raises:
        BadInput: it fails a check that must hold.
    """
    source = prepared.source
    digest = prepared.environment_digest(hello)
    report = reports.find(results, source.slug, source.submission_digest, digest, isolation=prepared.isolation)
    if report is None or report.suite != SUITE:
        progress.note(
            f"{source.slug}: checked for keeping to the contract before its run. Calls that this takes are paid for, "
            f"under the same caps: {MOST_CALLS.sessions} sessions and {MOST_CALLS.questions} questions at most."
        )
        report = _checked(prepared, results, progress, models, limits)
        reports.store(results, report)
    if not report.holds:
        failed = [check for check in report.checks if check.mandatory and check.outcome is CheckOutcome.FAILED]
        raise BadInput(
            f"'{source.slug}' does not keep to the adapter contract ({', '.join(check.name for check in failed)}): "
            f"{failed[0].detail}",
            remedy=f"{failed[0].remedy or 'Mend it.'} Then run memeval submit check.",
        )


def _checked(
    prepared: PreparedSystem, results: Path, progress: Progress, options: ModelOptions, limits: Limits
) -> Conformance:
    source = prepared.source
    with (
        models_for(results, options, progress.note, on_disk=False) as models,
        CallRecord(None) as own,
        system_instances(prepared, limits, models) as new_instance,
    ):
        models.open_run("conformance", own)
        first = new_instance(lambda line: None)
        with closing(first.process):
            hello = start_system(source, first.process)
        return Conformance(
            slug=source.slug,
            version=source.version,
            submission_digest=source.submission_digest,
            environment_digest=prepared.environment_digest(hello),
            suite=SUITE,
            isolation=prepared.isolation,
            network=prepared.network,
            at=utc_now(),
            checks=check_system(
                new_instance,
                deterministic=source.submission is None or source.submission.deterministic,
                seed=source.submission_digest,
                stop=models.gateway.check,
            ),
        )
