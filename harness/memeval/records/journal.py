"""``plan.json``: the head of a run that is not sealed yet."""

from __future__ import annotations

from memeval.records.base import Stored
from memeval.records.imported import Imported
from memeval.records.run import Harness, Inputs, Isolation, Network, SystemIdentity
from memeval.records.track import Redistribution


class Plan(Stored):
    """What a run set out to do; written before the first question."""

    run_id: str
    """The run."""
    started: str
    """UTC start, ISO 8601."""
    inputs: Inputs
    """All that decides the answers."""
    system: SystemIdentity
    """The system."""
    redistribution: Redistribution
    """Whether the benchmark's text may be published."""
    isolation: Isolation
    """What the system can reach."""
    network: Network = Network.OPEN
    """What of the network it can reach."""
    sandbox: str | None = None
    """What holds it in; ``None`` where nothing does."""
    harness: Harness
    """The memeval that runs it."""
    seeds: dict[str, int] = {}
    """Every seed in use."""
    carries_over: str | None = None
    """The finished run whose rows this one starts from, to try failed items again; ``None`` for a run of its own."""
    answers_from: str | None = None
    """The run whose stored responses are graded again; ``None`` for a run of its own answers."""
    imported: Imported | None = None
    """Where the answers come from, if they were made elsewhere."""
    replayed: bool = False
    """Whether all model calls are answered from a record."""
