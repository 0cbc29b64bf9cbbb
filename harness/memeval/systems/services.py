"""Services that a system asks for: which programs they are on this machine."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

from memeval.records.errors import BadInput
from memeval.records.run import ServiceIdentity
from memeval.records.submission import Service, ServiceName
from memeval.systems import inside_services


@dataclass(frozen=True)
class Kind:
    """What memeval knows of a service."""

    title: str
    """Its name for people."""
    remedy: str
    """What to do where it is missing."""


KINDS = {
    ServiceName.POSTGRES: Kind("PostgreSQL", "Install the package 'postgresql' (Debian, Ubuntu), and pgvector for it."),
    ServiceName.REDIS: Kind("Redis", "Install the package 'redis-server' (Debian, Ubuntu)."),
    ServiceName.NEO4J: Kind("Neo4j", "Install 'neo4j' as its makers describe; it is in no Debian release."),
}


def service_identities(services: Iterable[Service]) -> tuple[ServiceIdentity, ...]:
    """Return which programs stand for services on this machine, each service once, in order of name.

    Args:
        services: what a submission asks for.

    Raises:
        BadInput: one is not installed, with what to install; or it does not say its version.
    """
    return tuple(_identity(name) for name in sorted({service.name for service in services}))


def _identity(name: ServiceName) -> ServiceIdentity:
    kind = KINDS[name]
    program = inside_services.find(name)
    if program is None:
        raise BadInput(f"the system needs {kind.title}, and it is not installed here.", remedy=kind.remedy)
    try:
        told = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=True)
        found = re.search(r"\d+(\.\d+)+", told.stdout)
        with program.open("rb") as stream:
            digest = f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"
    except (OSError, subprocess.SubprocessError) as error:
        raise BadInput(f"{kind.title} cannot be run ({error}).", where=program, remedy=kind.remedy) from None
    if found is None:
        raise BadInput(f"{kind.title} does not say its version.", where=program, remedy=kind.remedy)
    version = found[0]
    if name is ServiceName.POSTGRES:
        vector = inside_services.vector_version(program)
        version += f" with pgvector {vector}" if vector else " without pgvector"
    return ServiceIdentity(name=name, version=version, digest=digest)
