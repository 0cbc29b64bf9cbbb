"""``memeval init``, ``memeval schema`` and ``memeval doctor``."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Sequence
from functools import cache, reduce
from importlib import import_module
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memeval.cli.shared import option_or_prompt, print_table, visible
from memeval.records.errors import BadInput, CheckFailed
from memeval.storage import readable

if TYPE_CHECKING:
    from memeval.records.base import Record
    from memeval.records.call import Caller
    from memeval.records.submission import ServiceName


FILE_RECORDS = {
    "api-boards": "api.ApiBoards",
    "api-index": "api.ApiIndex",
    "api-runs": "api.ApiRuns",
    "api-trends": "api.ApiTrends",
    "api-systems": "api.ApiSystems",
    "archive-index": "journal.ArchivedHead",
    "archive-queue": "journal.QueuedPush",
    "audit": "audit.Audit",
    "benchmark": "benchmark.BenchmarkInfo",
    "calls": "call.Call",
    "check": "check.RegressionCheck",
    "claims": "finding.ClaimsFile",
    "conformance": "conformance.Conformance",
    "contexts": "response.Context",
    "corrections": "finding.CorrectionsFile",
    "errata": "benchmark.Errata",
    "failures": "failure.Failure",
    "findings": "finding.FindingsReport",
    "grades": "grade.Grade",
    "history": "history.VersionHistory",
    "history-declaration": "history.HistoryDeclaration",
    "items": "items.ItemReport",
    "judgments": "call.Call",
    "label-report": "label.LabelReport",
    "label-rows": "label.SampleRow",
    "label-sample": "label.LabelSample",
    "labels": "label.ReadLabel",
    "ledger": "ledger.LedgerEntry",
    "log": "journal.LogLine",
    "matrix": "matrix.Matrix",
    "matrix-result": "matrix.MatrixResult",
    "plan": "journal.Plan",
    "probes": "audit.Probe",
    "prompts": "call.Prompt",
    "published-source": "source.PublishedSource",
    "reading": "label.Reading",
    "regraded": "regraded.RegradedFile",
    "regraded-rows": "regraded.RegradedRow",
    "release": "release.Release",
    "responses": "response.Response",
    "rules-verdicts": "label.RulesVerdicts",
    "run": "run.Run",
    "scenarios": "scenario.Scenario",
    "settings": "settings.Settings",
    "submission": "submission.Submission",
    "submission-check": "conformance.SubmissionCheck",
    "traffic": "call.Traffic",
}
"""The records of all files but the keys, by name: each by its module in ``memeval.records`` and its class."""


def init(
    folder: Annotated[Path, typer.Argument(help="An empty or new folder.")] = Path(),
    title: Annotated[str, typer.Option("--title", help="Title of the board.")] = "Memory leaderboard",
    repository: Annotated[
        str | None, typer.Option("--repository", metavar="URL", help="Web address of its repository.")
    ] = None,
    contact: Annotated[
        str | None, typer.Option("--contact", metavar="ADDRESS", help="E-mail or web address for messages about it.")
    ] = None,
) -> None:
    """Create a leaderboard in an empty folder.

    It contains memeval.toml with the settings, a README, workflows for GitHub, and a first submission that works. On a
    terminal, memeval asks for repository and contact. Press Enter to leave one out; memeval.toml can name it later.

    Example: memeval init my-board --title "My leaderboard"
    """
    from memeval.records.schema import json_schema
    from memeval.records.settings import Settings
    from memeval.site.release.new_board import NewBoard, create_board, first_slug

    board = NewBoard(
        title,
        option_or_prompt(repository, "Web address of its repository (Enter: none yet)") or None,
        option_or_prompt(contact, "E-mail or web address for messages (Enter: none yet)") or None,
    )
    create_board(folder, board, json_schema(Settings, "validation"))
    is_current = folder == Path()
    print(f"created a board in {'this folder' if is_current else visible(str(folder))}. Next steps:")
    steps = [] if is_current else [(f"cd {shlex.quote(str(folder))}", "")]
    steps += [
        (f"memeval run {first_slug()} --benchmark beliefs@2", "the sample system in submissions/"),
        ("memeval run no-memory --benchmark beliefs@2", "the baseline without memory"),
        ("memeval publish", "verify, freeze a release, and build its site"),
        ("memeval site serve --site public", "the board on this machine"),
    ]
    for command, purpose in steps:
        print(visible(f"  {command:50}# {purpose}" if purpose else f"  {command}"))


def schema(
    to: Annotated[Path, typer.Argument(help="Folder for the JSON Schemas.")] = Path("build/schemas"),
    check: Annotated[bool, typer.Option("--check", help="Write nothing. Exit with 1 if the folder differs.")] = False,
) -> None:
    """Write the JSON Schema of every file memeval writes.

    Example: memeval schema build/schemas
    """
    wanted = {
        f"{name}.schema.json": json.dumps(value, sort_keys=True, ensure_ascii=False, indent=1) + "\n"
        for name, value in schemas().items()
    }
    if check:
        with readable(to):
            stored = {path.name: path.read_text("utf-8", errors="replace") for path in to.glob("*.schema.json")}
        if different := sorted(name for name in wanted.keys() | stored.keys() if wanted.get(name) != stored.get(name)):
            raise CheckFailed(
                f"these schemas are out of date: {', '.join(different)}.", where=to, remedy=f"Run memeval schema {to}."
            )
        return
    from memeval.archive.rows import write_files

    write_files({to / name: text.encode() for name, text in wanted.items()})
    print(to)


def schemas() -> dict[str, dict[str, Any]]:
    from memeval.records.finding import ClaimsFile, CorrectionsFile
    from memeval.records.history import HistoryDeclaration
    from memeval.records.schema import json_schema
    from memeval.records.settings import Settings
    from memeval.records.submission import Submission

    written_by_hand = Settings, Submission, ClaimsFile, CorrectionsFile, HistoryDeclaration
    return {
        name: json_schema(model, "validation" if model in written_by_hand else "serialization")
        for name, model in file_records().items()
    }


def file_records() -> dict[str, type[Record]]:
    found = {"keys": _item_key()}
    for name, place in FILE_RECORDS.items():
        module, _, record = place.partition(".")
        found[name] = getattr(import_module(f"memeval.records.{module}"), record)
    return found


@cache
def _item_key() -> type[Record]:
    """Return the record of an item's key with the keys of all benchmarks in memeval."""
    from pydantic import Field, create_model

    from memeval.benchmarks import all_benchmarks
    from memeval.keys import AnswerKey, ItemKey
    from memeval.records.base import subclasses

    all_benchmarks()  # imports their keys
    own = [each for each in subclasses(AnswerKey) if each.__module__.startswith("memeval.")]
    kinds = sorted((each for each in own if "kind" in each.__annotations__), key=lambda each: each.__name__)
    union: Any = reduce(or_, kinds)
    field = (union, Field(discriminator="kind"))
    return create_model("ItemKey", __base__=ItemKey, __doc__=ItemKey.__doc__, __module__=ItemKey.__module__, key=field)


def doctor() -> None:
    """Show what works on this machine, and what is missing.

    Example: memeval doctor
    """
    from memeval.benchmarks import all_benchmarks
    from memeval.cli.archive import archive_state
    from memeval.cli.data import readiness, state_of
    from memeval.evaluation.run.provenance import memeval_version
    from memeval.records.call import Caller
    from memeval.records.submission import ServiceName
    from memeval.systems.environments.tools import find_pip, find_uv
    from memeval.systems.sandbox import SandboxMode, find_sandbox

    free = shutil.disk_usage(".").free / 1e9
    warnings: list[str] = []
    sandbox = find_sandbox(SandboxMode.AUTO, warnings.append)
    benchmarks = list(all_benchmarks())
    models = {caller: _endpoint(caller) for caller in Caller}
    print(f"memeval {memeval_version()}, Python {sys.version.split()[0]}, {free:.1f} GB free")
    print(readiness(benchmarks))
    keys = ", ".join(caller for caller, (found, _) in models.items() if found)
    print(f"Models: {f'endpoint for {keys}' if keys else 'no key, so only local:NAME, and what needs no model'}.")
    print(f"Sandbox: {sandbox or 'none'}.")
    if (state := _settings_state()) is not None:
        print(f"Settings: {visible(state)}")
    if (archive := archive_state()) is not None:
        print(f"Archive: {archive}")
    for warning in warnings:
        print(f"  {warning}")
    browser = next((name for name in ("chromium", "chromium-browser", "google-chrome") if shutil.which(name)), None)
    _print_part("benchmarks", [(benchmark.info.id, state_of(benchmark)) for benchmark in benchmarks])
    _print_part(
        "judge and models",
        [("judge rules", "ready, offline"), *((f"{caller} model", state) for caller, (_, state) in models.items())],
    )
    _print_part("models on this machine", _local_models())
    _print_part(
        "for submissions",
        [
            ("Python packages", str(find_uv() or find_pip() or "missing: install uv or pip")),
            ("Node packages", "npm" if shutil.which("npm") else "missing: install npm"),
            *((str(name), _installed(name)) for name in ServiceName),
        ],
    )
    _print_part("for memeval's own tests", [("browser", browser or "missing: browser tests are skipped")])


def _settings_state() -> str | None:
    """Return whether the settings of the board in this folder are valid; ``None`` if there are none."""
    from memeval.cli.shared import DEFAULT_RESULTS
    from memeval.leaderboard.board_settings import board_settings

    try:
        toml = board_settings(DEFAULT_RESULTS).toml
    except BadInput as error:
        return str(error)
    return None if toml is None else f"{toml.where} is valid."


def _local_models() -> list[tuple[str, str]]:
    """Return the state of each pinned model, and of the packages that compute their answers."""
    from memeval.local.catalogue import installed_engine, known_models
    from memeval.local.weights import path_of

    try:
        models = known_models()
    except BadInput as error:
        return [("models", str(error))]
    rows = []
    for model in models:
        path, pull = path_of(model), f"memeval model pull {model.name}"
        state = f"missing: {pull}"
        if path.is_file():
            whole = path.stat().st_size == model.bytes
            state = f"ready: local:{model.name}" if whole else f"the file has another size; fetch it again: {pull}"
        rows.append((model.name, state))
    for kind in sorted({model.kind for model in models}):
        try:
            rows.append((f"engine for {kind}", installed_engine(kind)))
        except BadInput as error:
            rows.append((f"engine for {kind}", f"missing. {error.remedy}"))
    return rows


def _print_part(title: str, rows: Sequence[tuple[str, str]]) -> None:
    print(f"\n{title}")
    print_table(rows, right=())


def _installed(name: ServiceName) -> str:
    """Return the version of a service on this machine, or how to get it."""
    from memeval.records.submission import Service
    from memeval.systems.launching import service_identities

    try:
        (found,) = service_identities([Service(name=name, variable="SERVICE_URL")])
    except BadInput as error:
        return f"missing. {error.remedy or error.problem}"
    return found.version


def _endpoint(caller: Caller) -> tuple[bool, str]:
    """Return whether an endpoint is configured, and its address or the problem. Sends nothing and shows no key."""
    from memeval.gateway.endpoints import endpoint_for

    try:
        endpoint = endpoint_for(caller)
    except BadInput as error:
        return False, error.problem
    return True, f"{endpoint.url} ({'with' if endpoint.key else 'without'} a key)"
