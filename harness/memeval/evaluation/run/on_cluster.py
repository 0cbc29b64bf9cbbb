"""Connects a run to the machines of a Dask cluster."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from memeval.evaluation.run.models import Models
from memeval.execution.executor import Executor
from memeval.execution.model_reader import ModelReader
from memeval.execution.preparation import PreparedSystem
from memeval.execution.readers import READERS
from memeval.gateway.endpoints import Endpoint
from memeval.local import is_local
from memeval.reading import Reader
from memeval.records.call import Caller
from memeval.records.errors import BadInput
from memeval.records.track import Limits
from memeval.systems.messages import AdapterInfo
from memeval.systems.source import SystemSource

Cluster: TypeAlias = Any
"""A connection of Dask, ``distributed.Client``, which is optional and hardly typed."""


@dataclass(frozen=True)
class RunOnNodes:
    source: SystemSource
    """The system, not prepared: every machine prepares it."""
    prepared: PreparedSystem
    adapter: AdapterInfo
    limits: Limits
    reader: Reader | None
    """The reader; ``None`` if the system answers."""
    search_items: int
    """How many items to request from ``search``."""
    concurrency: int
    """How many questions are in flight at a time, on all machines together."""


@contextmanager
def cluster_of(address: str | None, prepared: PreparedSystem) -> Iterator[Cluster | None]:
    """Connect to the cluster of a run; ``None`` without an address.

    Raises ``BadInput`` if the system declares hosts, the scheduler does not answer, or versions differ.
    """
    if address is None:
        yield None
        return
    if prepared.hosts:
        raise BadInput(
            f"'{prepared.source.slug}' reaches the host {min(prepared.hosts)}. --executor dask passes on model calls, "
            "but no requests to hosts: their keys stay on this machine.",
            remedy="Use --executor local.",
        )
    from memeval.execution.cluster.executor import connected

    with connected(address) as client:
        yield client


def cluster_executor(
    cluster: Cluster, run: RunOnNodes, note: Callable[[str], None], models: Models, readings: int
) -> Executor:
    """Return the executor of a run on a cluster.

    ``readings``: how many questions a reader with a model answers at the same time. Raises ``BadInput`` if the reader
    belongs to a benchmark.
    """
    from memeval.execution.cluster.executor import DaskExecutor
    from memeval.execution.cluster.node_models import RunModels
    from memeval.execution.cluster.parcel import ModelUse, RunParcel, SystemParcel, own_versions

    allowed: dict[Caller, tuple[Endpoint, tuple[str, ...]]] = {}
    if any(map(is_local, run.source.declared_models)):
        raise BadInput("systems with local models do not run on a cluster.", remedy="Use --executor local.")
    if run.source.declared_models:
        allowed[Caller.SYSTEM] = models.endpoint(Caller.SYSTEM), run.source.declared_models
    settings: dict[str, Any] = {}
    if isinstance(run.reader, ModelReader):
        allowed[Caller.READER] = models.endpoint(Caller.READER, run.reader.name), (run.reader.model,)
        settings = dict(run.reader.settings)
    elif run.reader is not None and run.reader not in READERS:
        raise BadInput(f"the reader '{run.reader.name}' does not run on a cluster.", remedy="Use --executor local.")
    parcel = RunParcel(
        system=SystemParcel.of(run.source),
        sandboxed=run.prepared.sandbox is not None,
        limits=run.limits,
        reader=None if run.reader is None else run.reader.name,
        models=None
        if not allowed
        else ModelUse(
            **{caller.value: endpoint.url for caller, (endpoint, _models) in allowed.items()},
            reader_settings=settings,
            readings=readings,
        ),
        search_items=run.search_items,
        questions_at_once=run.adapter.questions_at_once,
        environment_digest=run.prepared.environment_digest(run.adapter),
        versions=own_versions(),
    )
    calls = RunModels(models.gateway, allowed) if allowed else None
    return DaskExecutor(
        cluster, parcel, run.concurrency, note, check=models.gateway.check, divides=_divides(run), models=calls
    )


def _divides(run: RunOnNodes) -> bool:
    """Return whether workers may share the questions of a scenario, each after ingesting its history.

    Only if the system answers several at a time: then they do not depend on each other. And only if nothing that is
    stored would differ. Calls of a system to models are recorded by scenario, and by their number among equal ones in a
    pass over it; its reports of usage are totals of one instance since the report before.
    """
    return run.adapter.questions_at_once > 1 and not run.source.declared_models and not run.adapter.can("usage")
