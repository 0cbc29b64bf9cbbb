"""``memeval init``, ``memeval schema`` and ``memeval doctor``: a new leaderboard, the schemas, this machine."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memeval.records.errors import BadInput, CheckFailed

if TYPE_CHECKING:
    from memeval.records.call import Caller
    from memeval.records.submission import ServiceName


def add_to(app: typer.Typer) -> None:
    """Add the commands of this group."""
    app.command("init")(init)
    app.command("schema")(schema)
    app.command("doctor")(doctor)


GITIGNORE = ".record/\nbuild/\njournal/\n"


def init(folder: Annotated[Path, typer.Argument(help="An empty or new folder.")] = Path()) -> None:
    """Start a leaderboard in an empty folder.

    Example: memeval init my-board
    """
    if folder.exists() and not folder.is_dir():
        raise BadInput("this is a file.", where=folder, remedy="Name a folder.")
    if folder.exists() and any(folder.iterdir()):
        raise BadInput("the folder is not empty.", where=folder, remedy="Name an empty or new folder.")
    for name in ("results", "submissions"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / ".gitkeep").touch()
    (folder / ".gitignore").write_text(GITIGNORE, encoding="utf-8")
    print(f"{folder}: ready. Run a system with 'memeval run no-memory', then 'memeval site build'.")


def schema(
    to: Annotated[Path, typer.Argument(help="Folder the JSON Schemas are written to.")] = Path("build/schemas"),
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail where the folder differs.")] = False,
) -> None:
    """Export the JSON Schema of every file memeval writes.

    Example: memeval schema build/schemas
    """
    wanted = {f"{name}.schema.json": _pretty(text) for name, text in schemas().items()}
    if check:
        here = {path.name: path.read_text(encoding="utf-8") for path in to.glob("*.schema.json")}
        if different := sorted(name for name in wanted.keys() | here.keys() if wanted.get(name) != here.get(name)):
            raise CheckFailed(
                f"the schemas differ from the records: {', '.join(different)}.",
                where=to,
                remedy=f"Run memeval schema {to}.",
            )
        return
    to.mkdir(parents=True, exist_ok=True)
    for name, text in wanted.items():
        (to / name).write_text(text, encoding="utf-8")
    print(to)


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas of all files, by the name of the file."""
    from memeval.keys import ItemKey
    from memeval.records.audit import Audit, Bridge, Probe
    from memeval.records.base import Record
    from memeval.records.benchmark import BenchmarkInfo
    from memeval.records.call import Call
    from memeval.records.conformance import Conformance
    from memeval.records.errata import Errata
    from memeval.records.failure import Failure
    from memeval.records.grade import Grade
    from memeval.records.journal import Plan
    from memeval.records.ledger import LedgerEntry
    from memeval.records.log import LogLine
    from memeval.records.matrix import Matrix, MatrixResult
    from memeval.records.prompt import Prompt
    from memeval.records.release import Release
    from memeval.records.response import Context, Response
    from memeval.records.run import Run
    from memeval.records.scenario import Scenario
    from memeval.records.schema import json_schema
    from memeval.records.submission import Submission
    from memeval.records.submitting import SubmissionCheck
    from memeval.records.traffic import Traffic

    files: dict[str, type[Record]] = {
        "audit": Audit,
        "benchmark": BenchmarkInfo,
        "bridge": Bridge,
        "calls": Call,
        "conformance": Conformance,
        "contexts": Context,
        "errata": Errata,
        "failures": Failure,
        "grades": Grade,
        "judgments": Call,
        "keys": ItemKey,
        "ledger": LedgerEntry,
        "log": LogLine,
        "matrix": Matrix,
        "matrix-result": MatrixResult,
        "plan": Plan,
        "probes": Probe,
        "prompts": Prompt,
        "release": Release,
        "responses": Response,
        "run": Run,
        "scenarios": Scenario,
        "submission": Submission,
        "submission-check": SubmissionCheck,
        "traffic": Traffic,
    }
    return {
        name: json_schema(model, "validation" if model is Submission else "serialization")
        for name, model in files.items()
    }


def _pretty(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, indent=1) + "\n"


def doctor() -> None:
    """Say what works on this machine and what is missing.

    Example: memeval doctor
    """
    from memeval.benchmarks import all_benchmarks
    from memeval.evaluation.provenance import memeval_version
    from memeval.records.call import Caller
    from memeval.records.submission import ServiceName
    from memeval.systems.environments.tools import find_pip, find_uv
    from memeval.systems.sandbox import SandboxMode, find_sandbox

    print(
        f"memeval {memeval_version()}, Python {sys.version.split()[0]}, {shutil.disk_usage('.').free / 1e9:.1f} GB free"
    )
    for benchmark in all_benchmarks():
        state = "ready" if benchmark.available() else f"no data: {benchmark.remedy()}"
        if benchmark.info.brought:
            state = "its data is a file of your own"
        print(f"benchmark {benchmark.info.id}: {state}")
    print("judge rules: ready, offline")
    for caller in Caller:
        print(f"models for the {caller}: {_reachable(caller)}")
    sandbox = find_sandbox(SandboxMode.AUTO, print)
    print(f"sandbox: {sandbox or 'none; a run says files reachable, and cannot become repeated'}")
    print(f"environments of Python: {find_uv() or find_pip() or 'neither uv nor pip is installed'}")
    print(f"environments of Node: {'npm' if shutil.which('npm') else 'npm is not installed'}")
    for service in ServiceName:
        print(f"service {service}: {_installed(service)}")
    browser = next((name for name in ("chromium", "chromium-browser", "google-chrome") if shutil.which(name)), None)
    print(f"browser for the tests: {browser or 'none; the browser tests will say so'}")


def _installed(name: ServiceName) -> str:
    """Say which version of a service is here, or how to get it."""
    from memeval.records.submission import Service
    from memeval.systems.services import service_identities

    try:
        (found,) = service_identities([Service(name=name, variable="SERVICE_URL")])
    except BadInput as error:
        return f"none: {error.problem} {error.remedy or ''}".rstrip()
    return found.version


def _reachable(caller: Caller) -> str:
    """Say where a caller's models are, and whether there is a key; nothing is sent, and no key is shown."""
    from memeval.gateway.endpoints import endpoint_for

    try:
        endpoint = endpoint_for(caller)
    except BadInput as error:
        return f"none: {error.problem}"
    return f"{endpoint.url}, {'with' if endpoint.key else 'without'} a key"
