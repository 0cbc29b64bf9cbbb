"""What a system is given to run with: its environment, a sandbox, services, and doors to models and hosts."""

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
"""Makes an instance of a system, not started; given what takes the lines it prints."""


class ExchangeBuffer:
    """Takes exchanges with hosts from any thread, and keeps them until there is a journal to store them in."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held: list[Traffic] = []
        self._store: Callable[[Traffic], None] = self._held.append

    def __call__(self, row: Traffic) -> None:
        """Take an exchange."""
        with self._guard:
            self._store(row)

    def store_in(self, store: Callable[[Traffic], None]) -> None:
        """Hand on what was taken so far, and all that comes from now on."""
        with self._guard:
            for row in self._held:
                store(row)
            self._store = store


def default_sandbox_mode(environment: Mapping[str, str]) -> SandboxMode:
    """Return whether systems are held in where a caller does not say.

    Raises:
        BadInput: ``MEMEVAL_SANDBOX`` names no such mode.
    """
    named = environment.get("MEMEVAL_SANDBOX") or SandboxMode.AUTO.value
    try:
        return SandboxMode(named)
    except ValueError:
        raise BadInput(
            f"MEMEVAL_SANDBOX is '{named}'.", remedy=f"Set it to one of: {', '.join(SandboxMode)}."
        ) from None


@dataclass(frozen=True)
class SystemSetup:
    """How the caller wants a system to be held and reached. Nothing of it is the system's own."""

    sandbox: SandboxMode = field(default_factory=lambda: default_sandbox_mode(os.environ))
    """Whether it is held in; unless said, as ``MEMEVAL_SANDBOX`` says, and else where bubblewrap works."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Declared hosts whose requests go elsewhere, each with a base URL: a server of the caller's own, say."""
    cache: Path | None = None
    """Where environments are kept; ``None`` for the user's cache folder."""


@dataclass(frozen=True)
class PreparedSystem:
    """A system with all that it needs, ready to be started."""

    source: SystemSource
    """The system, its launch in its own environment."""
    sandbox: Sandbox | None = None
    """What holds it in; ``None`` for nothing."""
    environment: EnvironmentIdentity | None = None
    """The environment built for it."""
    services: tuple[ServiceIdentity, ...] = ()
    """Services that will run beside it."""
    hosts: Mapping[str, HostRoute] = field(default_factory=dict)
    """Where requests to the hosts it declares go."""

    @property
    def isolation(self) -> Isolation:
        """What it can reach of the machine."""
        return Isolation.FILES_REACHABLE if self.sandbox is None else Isolation.SANDBOXED

    @property
    def network(self) -> Network:
        """What it can reach of the network."""
        if self.sandbox is None:
            return Network.OPEN
        if self.hosts:
            return Network.DECLARED
        return Network.GATEWAY if self.source.declared_models else Network.NONE

    @property
    def pays(self) -> bool:
        """Whether it reaches models or hosts, which can cost money."""
        return bool(self.source.declared_models or self.hosts)

    def environment_digest(self, hello: AdapterInfo) -> Digest:
        """Return the digest of what it runs with."""
        if self.environment is None and not self.services:
            return hello.environment_digest
        built = None if self.environment is None else self.environment.digest
        return digest_of(
            {"found": hello.environment_digest, "built": built, "services": [each.data() for each in self.services]}
        )

    def identity(self, hello: AdapterInfo) -> SystemIdentity:
        """Return what is recorded of the system."""
        source = self.source
        told = source.submission or Submission.model_construct(
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
            adapter_kind=told.kind,
            deterministic=told.deterministic,
            self_reported=told.self_reported,
            label=told.label,
            vendor=told.vendor,
            environment=self.environment,
            services=self.services,
            hosts=tuple(HostUse(host=host, origin=route.origin) for host, route in sorted(self.hosts.items())),
        )


def prepare(
    source: SystemSource, setup: SystemSetup, note: Callable[[str], None], hidden: tuple[Path, ...] = ()
) -> PreparedSystem:
    """Build or find what a system needs.

    Args:
        source: the system.
        setup: how it is held and reached.
        note: told what a person should know, such as that an environment is being built.
        hidden: folders that the system never sees, even where one that it does see holds them: the results, say.

    Raises:
        BadInput: there is no sandbox and one was asked for, the environment cannot be built, a service is not
            installed, or a key or a host is missing.
    """
    sandbox = find_sandbox(setup.sandbox, note)
    if sandbox is not None:
        covered = (*hidden, *(() if source.launch.folder is None else left_out(source.launch.folder)))
        sandbox = replace(sandbox, hidden=tuple(folder.absolute() for folder in covered if folder.is_dir()))
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
    """Open the doors through which a system reaches models and hosts, and yield what makes its instances.

    Args:
        prepared: the system.
        limits: what it is allowed, per call.
        models: the gateway.
        traffic: told of every exchange with a host, from another thread.

    Raises:
        BadInput: it declares models, and there is no key to reach them with.
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
            socket = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="memeval-"))) / "door.sock"
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
