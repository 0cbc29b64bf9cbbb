"""Makes the launch of a submission from its entry, command or endpoint, and finds the programs of its services."""

import hashlib
import re
import subprocess
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from memeval.records.errors import BadInput
from memeval.records.run import ServiceIdentity
from memeval.records.submission import AdapterKind, Service, ServiceName, Submission
from memeval.systems import inside_services
from memeval.systems.channel import visible
from memeval.systems.child import Launch
from memeval.systems.manifest import MANIFEST, line_of

DRIVERS_FOLDER = Path(__file__).with_name("drivers")

DRIVERS = {
    AdapterKind.HTTP: ("http_contract.py", "HttpContract"),
    AdapterKind.DAEMON: ("jeffs_brain.py", "JeffsBrain"),
    AdapterKind.MCP: ("mcp_server.py", "McpServer"),
}
"""The file and the class of the shipped adapter that speaks to each kind of server."""


def submission_launch(submission: Submission, folder: Path, files: Mapping[str, Path]) -> Launch:
    """Return the launch of a submission.

    ``files``: its files, by their path inside the folder. Raises BadInput: its entry or its program is not a file of
    the folder, or its endpoint is not a URL.
    """
    launch = Launch(
        file=folder.absolute() / MANIFEST,
        folder=folder.absolute(),
        parameters=submission.parameters,
        variables=submission.variables,
        resources=submission.resources,
        services=submission.services,
        stores=submission.storage is not None,
    )
    if submission.kind is AdapterKind.PYTHON:
        entry, _, class_name = submission.entry.partition(":")
        adapter = files.get(PurePosixPath(entry).as_posix())
        if adapter is None:
            raise BadInput(
                f"the entry '{visible(entry)}' is not a file of this folder.",
                where=line_of(folder / MANIFEST, ("entry",)),
                remedy=f"Use a path inside {folder}.",
            )
        check_python(adapter)
        return replace(launch, file=adapter.absolute(), class_name=class_name or None)
    if submission.command:
        _check_program(submission.command[0], folder, files)
    if submission.kind is AdapterKind.COMMAND:
        return replace(launch, program=submission.command)
    driver, class_name = DRIVERS[submission.kind]
    keywords: dict[str, Any] = {
        "command": list(submission.command),
        "folder": str(folder.absolute()),
        "start_seconds": submission.resources.start_seconds,
        "endpoint_variable": None,
        "endpoint_path": "",
        "key_variable": None,
        "parameters": dict(submission.parameters),
    }
    if submission.endpoint is not None:
        try:
            address = urlsplit(submission.endpoint)
        except ValueError:
            where = line_of(folder / MANIFEST, ("endpoint",))
            raise BadInput("'endpoint' is not a URL.", where=where, remedy="Correct it.") from None
        host = next((host for host in submission.hosts if host.host == address.hostname), None)
        if host is not None:
            keywords |= {"endpoint_variable": host.variable, "key_variable": host.key}
        keywords["endpoint_path"] = address.path.rstrip("/")
    if submission.kind is AdapterKind.MCP:
        keywords["tools"] = {call: tool.data() for call, tool in submission.tools.items()}
        launch = replace(launch, restarts="reset" not in submission.tools)
    file = DRIVERS_FOLDER / driver
    return replace(launch, file=file, class_name=class_name, parameters=keywords, shown=(DRIVERS_FOLDER,))


def _check_program(program: str, folder: Path, files: Mapping[str, Path]) -> None:
    """Refuse a program with a path that is not a file of the submission. A bare name is looked up in ``PATH``."""
    path = PurePosixPath(program)
    if "/" in program and (path.is_absolute() or path.as_posix() not in files):
        raise BadInput(
            f"the program '{visible(program)}' is not a file of this folder.",
            where=line_of(folder / MANIFEST, ("command",)),
            remedy="Write ./NAME for a file of the folder, or the bare name of a program.",
        )


def check_python(path: Path) -> None:
    """Refuse a file that is not Python source. Raises BadInput: it is not Python, with the line of a syntax error."""
    if path.suffix != ".py":
        raise BadInput("is not a Python file: its name does not end in .py.", where=path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        where = f"{path}:{error.lineno}" if error.lineno else path
        raise BadInput(f"invalid Python: {visible(str(error.msg))}.", where=where) from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        why = visible(str(error)) or "it is nested too deeply"
        raise BadInput(f"invalid Python: {why}.", where=path) from None
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}).", where=path) from None


SERVICES = {
    ServiceName.POSTGRES: ("PostgreSQL", "Install the package 'postgresql' (Debian, Ubuntu), and pgvector for it."),
    ServiceName.REDIS: ("Redis", "Install the package 'redis-server' (Debian, Ubuntu)."),
    ServiceName.NEO4J: ("Neo4j", "Install 'neo4j' from its vendor; Debian does not package it."),
}
"""The title of each service, and how to install it."""


def service_identities(services: Iterable[Service]) -> tuple[ServiceIdentity, ...]:
    """Return the programs of services on this machine, each service once, in order of name."""
    return tuple(_identity(name) for name in sorted({service.name for service in services}))


def _identity(name: ServiceName) -> ServiceIdentity:
    title, remedy = SERVICES[name]
    program = inside_services.find(name)
    if program is None:
        raise BadInput(f"the system needs {title}, which is not installed.", remedy=remedy)
    try:
        shown = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=True)
        found = re.search(r"\d+(\.\d+)+", shown.stdout)
        with program.open("rb") as stream:
            digest = f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"
    except (OSError, subprocess.SubprocessError) as error:
        raise BadInput(f"{title} cannot be run ({error}).", where=program, remedy=remedy) from None
    if found is None:
        raise BadInput(f"{title} does not report its version.", where=program, remedy=remedy)
    version = found[0]
    if name is ServiceName.POSTGRES:
        vector = inside_services.vector_version(program)
        version += f" with pgvector {vector}" if vector else " without pgvector"
    return ServiceIdentity(name=name, version=version, digest=digest)
