"""Serves models and hosts to the instances of a system on this machine."""

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from memeval.evaluation.run.models import Models
from memeval.execution.preparation import PreparedSystem
from memeval.execution.steps import SystemInstance
from memeval.local import is_local
from memeval.records.call import Caller, Traffic
from memeval.records.track import Limits
from memeval.systems.channel import Log
from memeval.systems.process import SystemProcess
from memeval.systems.sandbox import INSIDE_ORIGIN

NewInstance = Callable[[Log], SystemInstance]
"""Creates an instance of a system, not started. The argument receives the lines that it prints."""


class ExchangeBuffer:
    """Buffers exchanges with hosts, from any thread, until a journal stores them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buffered: list[Traffic] = []
        self._store: Callable[[Traffic], None] = self._buffered.append

    def __call__(self, row: Traffic) -> None:
        with self._lock:
            self._store(row)

    def store_in(self, store: Callable[[Traffic], None]) -> None:
        with self._lock:
            for row in self._buffered:
                store(row)
            self._store = store


@contextmanager
def system_instances(
    prepared: PreparedSystem, limits: Limits, models: Models, traffic: Callable[[Traffic], None] = lambda row: None
) -> Iterator[NewInstance]:
    """Serve models and hosts to a system, and yield a function that creates its instances.

    ``traffic``: receives every exchange with a host, from another thread. Raises ``BadInput`` if the system declares
    models, and their key is missing.
    """
    source = prepared.source
    if not prepared.calls_out:
        yield lambda log: SystemInstance(SystemProcess(source.launch, limits, log, sandbox=prepared.sandbox))
        return
    from memeval.gateway.serving.model_server import ModelServer

    if not all(map(is_local, source.declared_models)):
        models.check_keys([Caller.SYSTEM])
    with ExitStack() as stack:
        sandbox, socket = prepared.sandbox, None
        if sandbox is not None:
            socket = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="memeval-"))) / "gateway.sock"
            sandbox = replace(sandbox, socket=socket)
        server = stack.enter_context(
            ModelServer(
                models.gateway,
                models.endpoint(Caller.SYSTEM),
                source.declared_models,
                limits.scenario_calls,
                models.happened,
                socket=socket,
                origin=None if sandbox is None else INSIDE_ORIGIN,
                hosts=prepared.hosts,
                traffic=traffic,
                local={name: models.endpoint(Caller.SYSTEM, name) for name in source.declared_models if is_local(name)},
            )
        )

        def new_instance(log: Log) -> SystemInstance:
            endpoint = server.endpoint()
            process = SystemProcess(source.launch, limits, log, endpoint.environment, endpoint.waited, sandbox)
            return SystemInstance(process, endpoint)

        yield new_instance


def disk_space_warning(history_bytes: Sequence[int] | None, concurrency: int) -> str | None:
    """Return a warning if a system that stores its histories may run out of disk space; ``None`` otherwise.

    ``history_bytes``: size of each history in bytes; ``None`` if they are short. ``concurrency``: number of histories
    that are ingested at the same time.
    """
    longest = sorted(history_bytes or (), reverse=True)[:concurrency]
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    if sum(longest) <= free:
        return None
    return (
        f"A system that stores everything it ingests needs {sum(longest):,} bytes, "
        f"but {folder} has {free:,} bytes free. Free some space, or set TMPDIR to another folder."
    )
