"""``plan.json``, the head of an unfinished run; ``log.jsonl``, its event log; and the lines of archive and queue."""

from memeval.records.base import Stored
from memeval.records.history import ProductVersion
from memeval.records.imported import Imported
from memeval.records.run import Harness, Inputs, Isolation, Network, SystemIdentity
from memeval.records.track import Redistribution

CRASHED = "crashed"
"""The event of a log line for a process of the system that ended by itself."""


class LogLine(Stored):
    """One event of a run."""

    at: str
    event: str
    """The event, in one or two words."""
    detail: str | None = None
    """Details. Text from a system is shortened, and secrets are redacted."""
    scenario_id: str | None = None
    """The scenario; ``None`` outside a scenario."""


class Plan(Stored):
    """The settings of a run, written before the first question."""

    run_id: str
    started: str
    inputs: Inputs
    """Everything that affects the answers."""
    system: SystemIdentity
    redistribution: Redistribution
    isolation: Isolation
    network: Network = Network.OPEN
    sandbox: str | None = None
    harness: Harness
    """The version of memeval that runs it."""
    seeds: dict[str, int] = {}
    carries_over: str | None = None
    """The finished run whose failed items this run retries; ``None`` for other runs."""
    answers_from: str | None = None
    """The run whose stored responses are graded again; ``None`` if this run makes its own answers."""
    imported: Imported | None = None
    product_version: ProductVersion | None = None
    """The released version of the product, in a history of versions; ``None`` for all other runs."""
    replayed: bool = False
    """Whether all model calls are answered from a record."""


class ArchivedHead(Stored):
    """A line of ``index.jsonl.gz``: the ``run.json`` of an archived run.

    The key holds the digest of the text, so a damaged line is found and left out. Then the object itself is read.
    """

    key: str
    """The key of its object in the archive."""
    head: str
    """The text of ``run.json``."""


class QueuedPush(Stored):
    """A line of ``results/.record/archive-queue.jsonl``: a run that is not in the archive yet."""

    run: str
    """The run's folder below the results folder: benchmark, system and run id, separated by slashes."""
    at: str
    """UTC time of the failed push, ISO 8601."""
    problem: str
    """Why the push failed."""
