"""What travels between memeval and the workers of a cluster: the system, scenarios, rows and errors, as JSON."""

from __future__ import annotations

import base64
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pydantic import JsonValue

from memeval.execution.steps import FinishedItems, ScenarioWork
from memeval.records.base import Digest, Record
from memeval.records.call import Call, Caller, ModelRequest, Phase
from memeval.records.errors import BadInput, ExitCode, MemevalError
from memeval.records.journal import LogLine
from memeval.records.response import Context, Response
from memeval.records.run import SystemKind
from memeval.records.scenario import Question, Scenario, Session, Step, Steps
from memeval.records.submission import Submission
from memeval.records.track import Limits
from memeval.storage import package_digest
from memeval.systems.controls import all_controls
from memeval.systems.source import SystemSource, control_source, file_source, folder_source, with_submission


class PackedFile(Record):
    content: str
    """Its bytes, in base64."""
    executable: bool = False

    @classmethod
    def of(cls, path: Path) -> PackedFile:
        content = base64.b64encode(path.read_bytes()).decode()
        return cls(content=content, executable=os.access(path, os.X_OK))


class SystemParcel(Record):
    """A system that can be unpacked on another machine. A control has no files: memeval ships it."""

    kind: SystemKind
    slug: str
    digest: Digest
    files: dict[str, PackedFile] = {}
    entry: str | None = None
    class_name: str | None = None
    submission: Submission | None = None
    variant: str | None = None
    declared_models: tuple[str, ...] = ()
    interpreter: str | None = None
    """The path of the user's own Python; ``None`` for memeval's or a built one."""

    @classmethod
    def of(cls, source: SystemSource) -> SystemParcel:
        launch, is_control = source.launch, source.kind is SystemKind.CONTROL
        return cls(
            kind=source.kind,
            slug=source.slug,
            digest=source.submission_digest,
            files={} if is_control else {name: PackedFile.of(path) for name, path in launch.files.items()},
            entry=launch.file.name if source.kind is SystemKind.FILE else None,
            class_name=launch.class_name,
            submission=source.submission,
            variant=source.variant,
            declared_models=source.declared_models,
            interpreter=None if launch.own_interpreter else str(launch.interpreter),
        )

    def unpack(self, folder: Path) -> SystemSource:
        """Write the files into an empty folder, and return the system."""
        source = self._unpacked(folder)
        if source.submission_digest != self.digest:
            raise BadInput(f"{self.slug} has other files here.", remedy="Install the same memeval on every machine.")
        if self.interpreter is not None:
            launch = replace(source.launch, interpreter=Path(self.interpreter), own_interpreter=False)
            source = replace(source, launch=launch)
        return replace(source, declared_models=self.declared_models)

    def _unpacked(self, folder: Path) -> SystemSource:
        if self.kind is SystemKind.CONTROL:
            control = all_controls().get(self.slug)
            if control is None:
                raise BadInput(f"there is no control '{self.slug}'.", remedy="Install the same memeval here.")
            return control_source(control)
        for name, packed in self.files.items():
            path = folder / name
            if not path.resolve().is_relative_to(folder.resolve()):
                raise BadInput("a path leads out of the folder.", where=name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(base64.b64decode(packed.content, validate=True))
            path.chmod(0o755 if packed.executable else 0o644)
        if self.entry is not None:
            return file_source(folder / self.entry, self.class_name)
        source = folder_source(folder)
        return source if self.submission is None else with_submission(source, self.submission, self.variant)


class ModelUse(Record):
    """The models of a run, without keys: the machine that started it makes the calls."""

    system: str | None = None
    """Base URL of the endpoint of the system's models; ``None`` if it declares none."""
    reader: str | None = None
    """Base URL of the endpoint of the reader's model; ``None`` for a reader without one."""
    reader_settings: dict[str, JsonValue] = {}
    readings: int = 0
    """How many questions the reader answers at the same time on each worker."""


class RunParcel(Record):
    system: SystemParcel
    sandboxed: bool
    limits: Limits
    reader: str | None
    models: ModelUse | None
    search_items: int
    questions_at_once: int
    environment_digest: Digest
    """Digest of the system's environment, which must be equal on every machine."""
    versions: dict[str, str]


class Assignment(Record):
    index: int
    """Its place in the order in which the run hands them out."""
    scenario: Scenario
    streamed: bool
    """Whether its steps are generated on demand; stored contexts depend on this."""
    items: dict[str, tuple[str, ...]]
    attempt: int
    at_once: int = 1
    """The most questions that may be in flight at the same time, if the system answers several."""
    counts_ingestion: bool = True

    @classmethod
    def of(cls, index: int, work: ScenarioWork, at_once: int) -> Assignment:
        scenario = work.scenario
        if scenario.is_streamed:
            scenario = Scenario.model_validate_json("".join(scenario.json_pieces()))
        return cls(
            index=index,
            scenario=scenario,
            streamed=work.scenario.is_streamed,
            items=dict(work.items),
            attempt=work.attempt,
            at_once=at_once,
            counts_ingestion=work.counts_ingestion,
        )

    def work(self) -> ScenarioWork:
        scenario = self.scenario
        if self.streamed:
            scenario = scenario.model_copy(update={"steps": ReceivedSteps(scenario)})
        return ScenarioWork(scenario, self.items, self.attempt, self.counts_ingestion)


class ReceivedSteps(Steps):
    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario

    def __len__(self) -> int:
        return len(self._scenario.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self._scenario.steps)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]  # overloads of Sequence
        return self._scenario.steps[index]

    def session(self, session_id: str) -> Session:
        return self._scenario.session(session_id)

    def questions(self) -> tuple[Question, ...]:
        return self._scenario.questions()

    def only(self, session_ids: frozenset[str]) -> tuple[Step, ...]:
        return self._scenario.only(session_ids).steps


class Delivery(Record):
    index: int
    items: tuple[str, ...] = ()
    responses: tuple[Response, ...] = ()
    contexts: tuple[Context, ...] = ()
    lines: tuple[LogLine, ...] = ()

    def checked(self, open_items: dict[str, tuple[str, ...]], scenario_id: str) -> FinishedItems | None:
        """Return the rows of items that are still open, and close these items; ``None`` without such rows.

        A scenario runs twice if its worker was lost, so items can arrive twice. The first rows count.

        Raises BadInput: the rows are not those of the items.
        """
        rows: dict[str, list[Response]] = {}
        for row in self.responses:
            rows.setdefault(row.item_id, []).append(row)
        if rows.keys() != set(self.items) or {row.scenario_id for row in self.responses} - {scenario_id}:
            raise BadInput(f"a worker sent rows that do not belong to {scenario_id}.")
        fresh = [item for item in self.items if item in open_items]
        kept = [row for item in fresh for row in rows[item]]
        for item in fresh:
            if tuple(row.question_id for row in rows[item]) != open_items.pop(item):
                raise BadInput(f"a worker sent rows that do not belong to {item}.")
        named = {row.context_digest for row in kept}
        contexts = tuple(context for context in self.contexts if context.digest in named)
        return FinishedItems(tuple(fresh), tuple(kept), contexts) if fresh else None


class TaskEnd(Record):
    """How a task ended: done, or with an error that stops the run."""

    problem: str | None = None
    """What stops the run; ``None`` if the task is done."""
    where: str | None = None
    remedy: str | None = None
    exit_code: int = int(ExitCode.BAD_INPUT)

    @classmethod
    def of(cls, error: MemevalError, worker: str | None = None) -> TaskEnd:
        """Return the end of a task that failed, on a worker unless it is ``None``."""
        where = error.where
        if worker is not None:
            where = f"worker {worker}: {where}" if where else f"worker {worker}"
        return cls(problem=error.problem, where=where, remedy=error.remedy, exit_code=int(error.exit_code))

    def error(self) -> MemevalError | None:
        """Return the error that stops the run; ``None`` if the task is done."""
        if self.problem is None:
            return None
        error = BadInput(self.problem, where=self.where, remedy=self.remedy)
        error.exit_code = ExitCode(self.exit_code)
        return error


class NodeCall(Record):
    worker: str
    number: int
    caller: Caller
    phase: Phase
    request: ModelRequest
    scenario_id: str | None = None
    """The scenario of a system's call; ``None`` while the system loads."""
    ordinal: int = 0
    """How many equal requests the system made before it in this pass over the scenario."""


class NodeReply(Record):
    number: int
    call: Call | None = None
    """The call; ``None`` if the run must stop."""
    stop: TaskEnd | None = None


class FromWorker(Record):
    delivery: Delivery | None = None
    asked: NodeCall | None = None
    refused: Call | None = None


PACKAGES = ("memeval-leaderboard", "bpe-openai", "distributed", "pydantic", "regex")
"""Packages on which rows, or their way here, depend."""


@cache
def own_versions() -> dict[str, str]:
    """Return the versions of this machine: Python, packages, and the digest of memeval's own code."""
    return {
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
        "code of memeval": package_digest().removeprefix("sha256:")[:12],
    }


def check_versions(here: Mapping[str, str], there: Mapping[str, str], where: str) -> None:
    """Refuse a machine with other versions.

    ``there``: the versions of the other machine, at least those that it can tell. Raises BadInput: a version differs.
    """
    differing = [name for name in here if name in there and there[name] != here[name]]
    if differing:
        name = differing[0]
        raise BadInput(
            f"{name} is {there[name]} on the worker and {here[name]} here.",
            where=where,
            remedy=f"Install the same Python and memeval-leaderboard[dask]=={here.get('memeval-leaderboard', '')} "
            "on every machine, with the pins of requirements.lock.",
        )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
