"""Checks before a run: whether a system follows the adapter contract, and keeps scenarios apart."""

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from memeval.archive import conformance as reports
from memeval.conformance.checks.foundations import ISOLATION, RESET
from memeval.conformance.facts import PlantedFact
from memeval.conformance.subject import CheckedMemory, CheckedSystem, Observation, quoted
from memeval.conformance.suite import MOST_CALLS, SUITE, check_system
from memeval.evaluation.run.models import models_for
from memeval.evaluation.run.runtime import system_instances
from memeval.execution.journal import utc_now
from memeval.execution.preparation import PreparedSystem, prepare
from memeval.execution.progress import Progress
from memeval.execution.setup import SystemSetup
from memeval.execution.steps import SystemInstance
from memeval.gateway.record import CallRecord
from memeval.options import ModelOptions
from memeval.records.conformance import CheckOutcome, Conformance
from memeval.records.errors import BadInput
from memeval.records.track import Limits
from memeval.systems.channel import Log
from memeval.systems.errors import SystemFailure
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

    Its model calls go through the gateway with the caller's budgets, and belong to no run. Raises ``BadInput`` if the
    system does not install or load. Raises ``GatewayStopped`` if a model's endpoint or key failed, or a budget is
    spent.
    """
    prepared = prepare(source, setup or SystemSetup(), progress.note)
    report = _checked(prepared, results, progress, models or ModelOptions(), limits or Limits())
    reports.store(results, report)
    return report


def require_conformance(
    prepared: PreparedSystem,
    adapter: AdapterInfo,
    results: Path,
    progress: Progress,
    models: ModelOptions,
    limits: Limits,
) -> None:
    """Check the conformance of a system before a paid run, from the stored report if there is one.

    Raises ``BadInput`` if the system fails a required check.
    """
    source = prepared.source
    digest = prepared.environment_digest(adapter)
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
            adapter = start_system(source, first.process)
        return Conformance(
            slug=source.slug,
            version=source.version,
            submission_digest=source.submission_digest,
            environment_digest=prepared.environment_digest(adapter),
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


SECONDS = 30.0
"""Time limit for the whole probe."""

BANK = "probe"

WITHOUT_LIMIT = "Its adapter check does it without a limit: memeval submit check."
NOT_PROBED = "was not checked for texts of other scenarios"


def require_isolation(
    prepared: PreparedSystem, new_instance: Callable[[Log], SystemInstance], note: Callable[[str], None]
) -> None:
    """Probe a system before a run. One that calls models is not probed, since its conformance check covers the same.

    ``note``: receives a sentence if the probe came to no result. Raises ``BadInput`` if the system recalled the text of
    another scenario.
    """
    source = prepared.source
    if prepared.calls_out:
        why = "that could cost money" if prepared.pays else "that takes its model minutes"
        reason = f"{source.slug} {NOT_PROBED}: {why}. Its adapter check covers it: memeval submit check."
    else:
        reason = probe_isolation(source.slug, new_instance, source.submission_digest)
    if reason:
        note(reason)


def probe_isolation(
    slug: str, new_instance: Callable[[Log], SystemInstance], seed: str, seconds: float = SECONDS
) -> str:
    """Ingest a text, and ask for it after ``reset`` and in another instance.

    ``seed``: seed of the text, so that no system knows it in advance. ``seconds``: time limit; the instances are then
    killed. Returns a sentence why the probe came to no result; blank if the system recalled nothing. Raises
    ``BadInput`` if the system recalled the text of another scenario.
    """
    subject = CheckedSystem(new_instance, f"isolation-probe/{seed}", deterministic=True)
    subject.begin("isolation")
    timer = threading.Timer(seconds, subject.kill)
    timer.daemon = True
    timer.start()
    try:
        return _probed(slug, subject)
    except SystemFailure as failure:
        if subject.over:
            return f"{slug} {NOT_PROBED}: that takes more than {seconds:g} s. {WITHOUT_LIMIT}"
        return f"{slug} {NOT_PROBED}: {failure.sentence}"
    finally:
        timer.cancel()
        timer.join()
        subject.close_shared()


def _probed(slug: str, subject: CheckedSystem) -> str:
    memory, (fact, unrelated) = subject.memory(), subject.facts.facts(2)
    if not (_has_sessions(memory) or (memory.can("retain") and memory.can("recall"))):
        return f"{slug} {NOT_PROBED}: it has neither query nor search, nor banks."
    _ingest(memory, subject, fact)
    if not _ask(memory, fact).shows(fact.word):
        return f"{slug} {NOT_PROBED}: it did not find the text that it had ingested."
    with subject.another() as other:
        _ingest(other, subject, unrelated)
        when = "in a new instance, while another one had ingested it"
        _refuse_if_shown(slug, _ask(other, fact), fact, when, ISOLATION)
    memory.process.reset()
    _refuse_if_shown(slug, _ask(memory, fact), fact, "after reset, in the next scenario", RESET)
    return ""


def _refuse_if_shown(slug: str, observation: Observation, fact: PlantedFact, when: str, remedy: str) -> None:
    if observation.shows(fact.word):
        raise BadInput(
            f"'{slug}' recalls texts of other scenarios, so its answers may come from the history of another one. "
            f"Asked {quoted(fact.question)} {when}, it returned “{fact.word}”: {observation}.",
            remedy=f"{remedy} Then run it again.",
        )


def _has_sessions(memory: CheckedMemory) -> bool:
    return memory.can("query") or memory.can("search")


def _ingest(memory: CheckedMemory, subject: CheckedSystem, fact: PlantedFact) -> None:
    if _has_sessions(memory):
        memory.ingest_facts(subject.facts.day, fact)
        return
    memory.retain(fact.statement, subject.facts.day, source_id="s001", bank=BANK)
    memory.settle()


def _ask(memory: CheckedMemory, fact: PlantedFact) -> Observation:
    return memory.ask(fact.question) if _has_sessions(memory) else memory.recall(fact.question, bank=BANK)
