"""Connects a run to the machines of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from memeval.execution.executor import Executor
from memeval.execution.preparation import PreparedSystem
from memeval.execution.readers import READERS
from memeval.reading import Reader
from memeval.records.errors import BadInput
from memeval.records.track import Limits
from memeval.systems.messages import AdapterInfo
from memeval.systems.source import SystemSource

Cluster: TypeAlias = Any
"""A connection of Dask, ``distributed.Client``, which is optional and hardly typed."""


@dataclass(frozen=True)
class RunOnNodes:
    """What the machines of a cluster must know about a run."""

    source: SystemSource
    """The system, not prepared: every machine prepares it."""
    prepared: PreparedSystem
    """The system as prepared here."""
    hello: AdapterInfo
    """The reply to ``load`` here."""
    limits: Limits
    """Limits of one call to the system."""
    reader: Reader | None
    """The reader; ``None`` if the system answers."""
    search_items: int
    """How many items to request from ``search``."""
    concurrency: int
    """How many questions are in flight at a time, on all machines together."""


@contextmanager
def cluster_of(address: str | None, prepared: PreparedSystem) -> Iterator[Cluster | None]:
    """Connect to the cluster of a run; ``None`` without an address.

    Args:
        address: the address of the scheduler.
        prepared: the system.

    Raises:
        BadInput: the system can call models or hosts, the scheduler does not answer, or versions differ.
    """
    if address is None:
        yield None
        return
    if prepared.pays:
        raise BadInput(
            f"'{prepared.source.slug}' calls models or hosts, and --executor dask cannot pass these calls on.",
            remedy="Use --executor local.",
        )
    from memeval.execution.cluster.executor import connected

    with connected(address) as client:
        yield client


def cluster_executor(
    cluster: Cluster, run: RunOnNodes, note: Callable[[str], None], check: Callable[[], None]
) -> Executor:
    """Return the executor of a run on a cluster.

    Args:
        cluster: the connection.
        run: the run.
        note: receives messages for the user.
        check: raises what stops the run.

    Raises:
        BadInput: the reader calls a model, or belongs to a benchmark.
    """
    from memeval.execution.cluster.executor import DaskExecutor
    from memeval.execution.cluster.parcel import RunParcel, SystemParcel
    from memeval.execution.cluster.versions import own_versions

    if run.reader is not None and run.reader not in READERS:
        raise BadInput(f"the reader '{run.reader.name}' does not run on a cluster.", remedy="Use --executor local.")
    parcel = RunParcel(
        system=SystemParcel.of(run.source),
        sandboxed=run.prepared.sandbox is not None,
        limits=run.limits,
        reader=None if run.reader is None else run.reader.name,
        search_items=run.search_items,
        questions_at_once=run.hello.questions_at_once,
        environment_digest=run.prepared.environment_digest(run.hello),
        versions=own_versions(),
    )
    return DaskExecutor(cluster, parcel, run.concurrency, note, check=check)
