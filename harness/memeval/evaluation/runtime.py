"""Prepares a system to run: its environment, sandbox, services, and access to models and hosts."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memeval.evaluation.models import Models
from memeval.execution.model_access import SystemInstance
from memeval.records.base import Digest, digest_of
from memeval.records.call import Caller
from memeval.records.errors import BadInput
from memeval.records.run import (
    EnvironmentIdentity,
    HostUse,
    Isolation,
    Network,
    ServiceIdentity,
    SystemIdentity,
    SystemKind,
)
from memeval.records.submission import AdapterKind, Submission
from memeval.records.track import Limits
from memeval.systems.folder import left_out
from memeval.systems.messages import AdapterInfo
from memeval.systems.output import Log
from memeval.systems.process import SystemProcess
from memeval.systems.sandbox import INSIDE_ORIGIN, Sandbox, SandboxMode, find_sandbox
from memeval.systems.source import SystemSource

if TYPE_CHECKING:
    from memeval.gateway.serving.hosts import HostRoute
    from memeval.records.traffic import Traffic

NewInstance = Callable[[Log], SystemInstance]
"""Creates an instance of a system, not started. The argument receives the lines that it prints."""


class ExchangeBuffer:
    """Buffers exchanges with hosts, from any thread, until a journal stores them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buffered: list[Traffic] = []
        self._store: Callable[[Traffic], None] = self._buffered.append

    def __call__(self, row: Traffic) -> None:
        """Store an exchange."""
        with self._lock:
            self._store(row)

    def store_in(self, store: Callable[[Traffic], None]) -> None:
        """Send the buffered and all later exchanges to ``store``."""
        with self._lock:
            for row in self._buffered:
                store(row)
            self._store = store


def default_sandbox_mode(environment: Mapping[str, str]) -> SandboxMode:
    """Return the sandbox mode of the environment: ``MEMEVAL_SANDBOX``, or ``auto``.

    Raises:
        BadInput: ``MEMEVAL_SANDBOX`` is not a sandbox mode.
    """
    mode = environment.get("MEMEVAL_SANDBOX") or SandboxMode.AUTO.value
    try:
        return SandboxMode(mode)
    except ValueError:
        raise BadInput(f"MEMEVAL_SANDBOX is '{mode}'.", remedy=f"Set it to one of: {', '.join(SandboxMode)}.") from None


@dataclass(frozen=True)
class SystemSetup:
    """The caller's settings for running a system."""

    sandbox: SandboxMode = field(default_factory=lambda: default_sandbox_mode(os.environ))
    """Sandbox mode; the default is ``MEMEVAL_SANDBOX``, or ``auto``: sandboxed if bubblewrap works."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Base URLs that replace declared hosts, for example the caller's own server."""
    cache: Path | None = None
    """Folder for environments; ``None`` for the user's cache folder."""


@dataclass(frozen=True)
class PreparedSystem:
    """A system that is ready to start."""

    source: SystemSource
    """The system, with its launch in its own environment."""
    sandbox: Sandbox | None = None
    """Its sandbox; ``None`` if not sandboxed."""
    environment: EnvironmentIdentity | None = None
    """The environment built for it; ``None`` if it needs none."""
    services: tuple[ServiceIdentity, ...] = ()
    """Services that run with it."""
    hosts: Mapping[str, HostRoute] = field(default_factory=dict)
    """Routes of requests to its declared hosts."""

    @property
    def isolation(self) -> Isolation:
        """Which files of the machine it can reach."""
        return Isolation.FILES_REACHABLE if self.sandbox is None else Isolation.SANDBOXED

    @property
    def network(self) -> Network:
        """Which part of the network it can reach."""
        if self.sandbox is None:
            return Network.OPEN
        if self.hosts:
            return Network.DECLARED
        return Network.GATEWAY if self.source.declared_models else Network.NONE

    @property
    def pays(self) -> bool:
        """Whether it can reach models or hosts, and so cost money."""
        return bool(self.source.declared_models or self.hosts)

    def environment_digest(self, hello: AdapterInfo) -> Digest:
        """Return the digest of its environment and services."""
        if self.environment is None and not self.services:
            return hello.environment_digest
        built = None if self.environment is None else self.environment.digest
        return digest_of(
            {"found": hello.environment_digest, "built": built, "services": [each.data() for each in self.services]}
        )

    def identity(self, hello: AdapterInfo) -> SystemIdentity:
        """Return the recorded identity of the system."""
        source = self.source
        submission = source.submission or Submission.model_construct(
            slug=source.slug, name=source.name, version=source.version
        )
        return SystemIdentity(
            slug=source.slug,
            name=source.name,
            version=source.version,
            kind=source.kind,
            adapter_class=hello.class_name,
            submission_digest=source.submission_digest,
            environment_digest=self.environment_digest(hello),
            view=source.view,
            capabilities=hello.capabilities,
            declared_models=source.declared_models,
            parameters=dict(source.parameters),
            variant=source.variant,
            adapter_kind=submission.kind,
            deterministic=submission.deterministic,
            self_reported=submission.self_reported,
            label=submission.label,
            vendor=submission.vendor,
            environment=self.environment,
            services=self.services,
            hosts=tuple(HostUse(host=host, origin=route.origin) for host, route in sorted(self.hosts.items())),
        )


def prepare(
    source: SystemSource, setup: SystemSetup, note: Callable[[str], None], hidden: tuple[Path, ...] = ()
) -> PreparedSystem:
    """Prepare a system: sandbox, hosts, services and environment.

    Args:
        source: the system.
        setup: the caller's settings.
        note: receives messages for the user, for example that an environment is built.
        hidden: folders that the system cannot see, such as the results.

    Raises:
        BadInput: the sandbox does not work, the environment cannot be built, a service is not installed, or a key or
            a host is missing.
    """
    sandbox = find_sandbox(setup.sandbox, note)
    if sandbox is not None:
        hidden_folders = (*hidden, *(() if source.launch.folder is None else left_out(source.launch.folder)))
        sandbox = replace(sandbox, hidden=tuple(folder.absolute() for folder in hidden_folders if folder.is_dir()))
    routes: Mapping[str, HostRoute] = {}
    services: tuple[ServiceIdentity, ...] = ()
    submission = source.submission
    declared = () if submission is None else submission.hosts
    if declared or setup.hosts:
        from memeval.gateway.serving.hosts import host_routes

        routes = host_routes(declared, setup.hosts, os.environ)
        for route in routes.values():
            key = f", with the key in {route.key_variable}" if route.key_variable else ""
            note(f"{source.slug} reaches {route.host} at {route.origin}{key}.")
    if submission is not None and submission.services:
        from memeval.systems.services import service_identities

        services = service_identities(submission.services)
    launch, environment = source.launch, None
    if source.kind is not SystemKind.CONTROL and launch.own_interpreter:
        from memeval.systems.environments import environment_for

        is_class = submission is None or submission.kind is AdapterKind.PYTHON
        entry = launch.file if is_class else None
        built = environment_for(launch.folder, entry, cache=setup.cache, note=note)
        if built is not None:
            environment = built.identity
            launch = replace(
                launch,
                path=(*built.path, *launch.path),
                shown=(*built.shown, *launch.shown),
                variables={**launch.variables, **built.variables},
            )
            if built.python is not None and is_class:
                launch = replace(launch, interpreter=built.python, own_interpreter=False)
    return PreparedSystem(replace(source, launch=launch), sandbox, environment, services, routes)


@contextmanager
def system_instances(
    prepared: PreparedSystem, limits: Limits, models: Models, traffic: Callable[[Traffic], None] = lambda row: None
) -> Iterator[NewInstance]:
    """Serve models and hosts to a system, and yield a function that creates its instances.

    Args:
        prepared: the system.
        limits: limits of one call to the system.
        models: the gateway.
        traffic: receives every exchange with a host, from another thread.

    Raises:
        BadInput: the system declares models, and their key is missing.
    """
    source = prepared.source
    if not prepared.pays:
        yield lambda log: SystemInstance(SystemProcess(source.launch, limits, log, sandbox=prepared.sandbox))
        return
    from memeval.gateway.serving.model_server import ModelServer

    if source.declared_models:
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
            )
        )

        def new_instance(log: Log) -> SystemInstance:
            endpoint = server.endpoint()
            process = SystemProcess(source.launch, limits, log, endpoint.environment, endpoint.waited, sandbox)
            return SystemInstance(process, endpoint)

        yield new_instance
