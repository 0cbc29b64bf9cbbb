"""Probes before a run whether a system recalls a text of another scenario. It takes two starts of the system.

The conformance suite checks the same with more facts. The probe is for systems that need not pass the suite before a
run, because they call no model. Its instances are closed before the run starts: nothing of it reaches the run's rows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from memeval.conformance.checks.foundations import ISOLATION, RESET
from memeval.conformance.facts import PlantedFact
from memeval.conformance.subject import CheckedMemory, CheckedSystem, Observation, quoted
from memeval.execution.preparation import PreparedSystem
from memeval.execution.steps import SystemInstance
from memeval.records.errors import BadInput
from memeval.systems.channel import Log
from memeval.systems.errors import SystemFailure

SECONDS = 30.0
"""Time limit for the whole probe."""

BANK = "probe"

WITHOUT_LIMIT = "Its adapter check does it without a limit: memeval submit check."
NOT_PROBED = "was not checked for texts of other scenarios"


def require_isolation(
    prepared: PreparedSystem, new_instance: Callable[[Log], SystemInstance], note: Callable[[str], None]
) -> None:
    """Probe a system before a run. One that can cost money is not probed, since its conformance check covers the same.

    Args:
        new_instance: makes an instance that is not started.
        note: receives a sentence if the probe came to no result.

    Raises:
        BadInput: the system recalled the text of another scenario.
    """
    source = prepared.source
    if prepared.pays:
        reason = f"{source.slug} {NOT_PROBED}: that could cost money. Its adapter check covers it."
    else:
        reason = probe_isolation(source.slug, new_instance, source.submission_digest)
    if reason:
        note(reason)


def probe_isolation(
    slug: str, new_instance: Callable[[Log], SystemInstance], seed: str, seconds: float = SECONDS
) -> str:
    """Ingest a text, and ask for it after ``reset`` and in another instance.

    Args:
        slug: the system, for messages.
        new_instance: makes an instance that is not started.
        seed: seed of the text, so that no system knows it in advance.
        seconds: time limit; the instances are then killed.

    Returns:
        A sentence why the probe came to no result; blank if the system recalled nothing.

    Raises:
        BadInput: the system recalled the text of another scenario.
    """
    subject = CheckedSystem(new_instance, f"isolation-probe/{seed}", deterministic=True, log=lambda line: None)
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
    if not _can_ask(memory):
        return f"{slug} {NOT_PROBED}: it has neither query nor search, nor banks."
    _ingest(memory, subject, fact)
    if not _ask(memory, fact).shows(fact.word):
        return f"{slug} {NOT_PROBED}: it did not find the text that it had ingested."
    with subject.another() as other:
        _ingest(other, subject, unrelated)
        _refuse_if_shown(
            slug, _ask(other, fact), fact, "in a new instance, while another one had ingested it", ISOLATION
        )
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


def _can_ask(memory: CheckedMemory) -> bool:
    return _has_sessions(memory) or (memory.can("retain") and memory.can("recall"))


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
