"""Prepares a system to run: its environment, sandbox, services and hosts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memeval.execution.setup import SystemSetup
from memeval.local import is_local
from memeval.records.base import Digest, digest_of
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
from memeval.systems.child import Launch
from memeval.systems.folder import described_in, uncovered_folders
from memeval.systems.messages import AdapterInfo
from memeval.systems.sandbox import Sandbox, find_sandbox
from memeval.systems.source import SystemSource

if TYPE_CHECKING:
    from memeval.gateway.serving.hosts import HostRoute


@dataclass(frozen=True)
class PreparedSystem:
    source: SystemSource
    sandbox: Sandbox | None = None
    environment: EnvironmentIdentity | None = None
    services: tuple[ServiceIdentity, ...] = ()
    hosts: Mapping[str, HostRoute] = field(default_factory=dict)
    models: tuple[str, ...] | None = None
    """Its models as a run names them: those on this machine with their setup; ``None`` for the declared names."""

    @property
    def isolation(self) -> Isolation:
        return Isolation.FILES_REACHABLE if self.sandbox is None else Isolation.SANDBOXED

    @property
    def network(self) -> Network:
        if self.sandbox is None:
            return Network.OPEN
        if self.hosts:
            return Network.DECLARED
        return Network.GATEWAY if self.source.declared_models else Network.NONE

    @property
    def calls_out(self) -> bool:
        """Whether it can reach models or hosts."""
        return bool(self.source.declared_models or self.hosts)

    @property
    def pays(self) -> bool:
        """Whether it can cost money: it can reach hosts, or models that are not on this machine."""
        return bool(self.hosts) or not all(map(is_local, self.source.declared_models))

    def environment_digest(self, adapter: AdapterInfo) -> Digest:
        if self.environment is None and not self.services:
            return adapter.environment_digest
        built = None if self.environment is None else self.environment.digest
        return digest_of(
            {"found": adapter.environment_digest, "built": built, "services": [each.data() for each in self.services]}
        )

    def identity(self, adapter: AdapterInfo) -> SystemIdentity:
        source = self.source
        submission = source.submission or Submission.model_construct(
            slug=source.slug, name=source.name, version=source.version
        )
        return SystemIdentity(
            slug=source.slug,
            name=source.name,
            version=source.version,
            kind=source.kind,
            adapter_class=adapter.class_name,
            submission_digest=source.submission_digest,
            environment_digest=self.environment_digest(adapter),
            view=source.view,
            capabilities=adapter.capabilities,
            declared_models=source.declared_models if self.models is None else self.models,
            parameters=dict(source.parameters),
            variant=source.variant,
            adapter_kind=submission.kind,
            deterministic=submission.deterministic,
            self_reported=submission.self_reported,
            mock=submission.mock,
            product=submission.product,
            configuration=submission.configuration,
            vendor=submission.vendor,
            environment=self.environment,
            services=self.services,
            storage=submission.storage,
            hosts=tuple(HostUse(host=host, origin=route.origin) for host, route in sorted(self.hosts.items())),
        )


def prepare(
    source: SystemSource, setup: SystemSetup, note: Callable[[str], None], hidden: tuple[Path, ...] = ()
) -> PreparedSystem:
    """Prepare a system: sandbox, hosts, services and environment.

    ``note``: receives messages for the user, for example that an environment is built. ``hidden``: folders that the
    system cannot see, such as the results. Raises BadInput: the sandbox does not work, the environment cannot be built,
    a service is not installed, or a key or a host is missing.
    """
    if setup.python is not None:
        launch = replace(source.launch, interpreter=setup.python.absolute(), own_interpreter=False)
        source = replace(source, launch=launch)
    sandbox = find_sandbox(setup.sandbox, note)
    if sandbox is not None:
        folder, files = source.launch.folder, source.launch.files
        unseen = (*hidden, *(() if folder is None else (*uncovered_folders(folder), *described_in(files))))
        sandbox = replace(sandbox, hidden=tuple(path.absolute() for path in unseen if path.exists()))
    routes = _routes(source, setup, note)
    services: tuple[ServiceIdentity, ...] = ()
    submission = source.submission
    if submission is not None and submission.services:
        from memeval.systems.launching import service_identities

        services = service_identities(submission.services)
    launch, environment = _in_environment(source, setup, note)
    return PreparedSystem(replace(source, launch=launch), sandbox, environment, services, routes)


def _routes(source: SystemSource, setup: SystemSetup, note: Callable[[str], None]) -> Mapping[str, HostRoute]:
    declared = () if source.submission is None else source.submission.hosts
    if not declared and not setup.hosts:
        return {}
    from memeval.gateway.serving.hosts import host_routes

    routes = host_routes(declared, setup.hosts, os.environ)
    for route in routes.values():
        key = f", with the key in {route.key_variable}" if route.key_variable else ""
        note(f"{source.slug} reaches {route.host} at {route.origin}{key}.")
    return routes


def _in_environment(
    source: SystemSource, setup: SystemSetup, note: Callable[[str], None]
) -> tuple[Launch, EnvironmentIdentity | None]:
    """Return how the system starts in its own environment, and what that environment is."""
    launch = source.launch
    if source.kind is SystemKind.CONTROL or not launch.own_interpreter:
        return launch, None
    from memeval.systems.environments import environment_for

    is_class = source.submission is None or source.submission.kind is AdapterKind.PYTHON
    built = environment_for(launch.folder, launch.file if is_class else None, cache=setup.cache, note=note)
    if built is None:
        return launch, None
    launch = replace(
        launch,
        path=(*built.path, *launch.path),
        shown=(*built.shown, *launch.shown),
        variables={**launch.variables, **built.variables},
    )
    if built.python is not None and is_class:
        launch = replace(launch, interpreter=built.python, own_interpreter=False)
    return launch, built.identity
