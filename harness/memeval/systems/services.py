"""The services that a system declares, and their programs on this machine."""

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
    """A kind of service."""

    title: str
    remedy: str


KINDS = {
    ServiceName.POSTGRES: Kind("PostgreSQL", "Install the package 'postgresql' (Debian, Ubuntu), and pgvector for it."),
    ServiceName.REDIS: Kind("Redis", "Install the package 'redis-server' (Debian, Ubuntu)."),
    ServiceName.NEO4J: Kind("Neo4j", "Install 'neo4j' from its vendor; Debian does not package it."),
}


def service_identities(services: Iterable[Service]) -> tuple[ServiceIdentity, ...]:
    """Return the programs of services on this machine, each service once, in order of name."""
    return tuple(_identity(name) for name in sorted({service.name for service in services}))


def _identity(name: ServiceName) -> ServiceIdentity:
    kind = KINDS[name]
    program = inside_services.find(name)
    if program is None:
        raise BadInput(f"the system needs {kind.title}, which is not installed.", remedy=kind.remedy)
    try:
        shown = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=True)
        found = re.search(r"\d+(\.\d+)+", shown.stdout)
        with program.open("rb") as stream:
            digest = f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"
    except (OSError, subprocess.SubprocessError) as error:
        raise BadInput(f"{kind.title} cannot be run ({error}).", where=program, remedy=kind.remedy) from None
    if found is None:
        raise BadInput(f"{kind.title} does not report its version.", where=program, remedy=kind.remedy)
    version = found[0]
    if name is ServiceName.POSTGRES:
        vector = inside_services.vector_version(program)
        version += f" with pgvector {vector}" if vector else " without pgvector"
    return ServiceIdentity(name=name, version=version, digest=digest)
