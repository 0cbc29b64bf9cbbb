"""Checks whether a system follows the adapter contract, and requires that before a paid run."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from memeval.archive import conformance as reports
from memeval.conformance.suite import MOST_CALLS, SUITE, check_system
from memeval.evaluation.run.models import models_for
from memeval.evaluation.run.runtime import system_instances
from memeval.execution.journal import utc_now
from memeval.execution.preparation import PreparedSystem, prepare
from memeval.execution.progress import Progress
from memeval.execution.setup import SystemSetup
from memeval.gateway.record import CallRecord
from memeval.options import ModelOptions
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
    """Run the conformance checks on a system, and store the report.

    Its model calls go through the gateway with the caller's budgets, and belong to no run.

    Args:
        results: results folder for the report.
        setup: sandbox, hosts and environment cache.
        models: limits and budgets of model calls.
        limits: limits of one call to the system.

    Raises:
        BadInput: the system does not install or load.
        GatewayStopped: a model's endpoint or key failed, or a budget is spent.
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
    """Check the conformance of a system before a paid run, from the stored report if there is one.

    Raises:
        BadInput: the system fails a required check.
    """
    source = prepared.source
    digest = prepared.environment_digest(hello)
    report = reports.find(results, source.slug, source.submission_digest, digest, isolation=prepared.isolation)
    if report is None or report.suite != SUITE:
        progress.note(
            f"{source.slug}: checking the adapter contract before the run. "
            "This can cost money, within the same budgets: "
            f"at most {MOST_CALLS.sessions} sessions and {MOST_CALLS.questions} questions."
        )
        report = _checked(prepared, results, progress, models, limits)
        reports.store(results, report)
    if not report.holds:
        failed = [check for check in report.checks if check.mandatory and check.outcome is CheckOutcome.FAILED]
        raise BadInput(
            f"'{source.slug}' does not follow the adapter contract ({', '.join(check.name for check in failed)}): "
            f"{failed[0].detail}",
            remedy=f"{failed[0].remedy or 'Fix the failed check.'} Then run memeval submit check.",
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
