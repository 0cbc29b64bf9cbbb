"""From what the user names to a system that can be started."""

from __future__ import annotations

import difflib
import re
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from memeval.records.base import Digest
from memeval.records.errors import BadInput
from memeval.records.run import SystemKind, View
from memeval.records.submission import AdapterKind, Submission
from memeval.systems.child import Launch
from memeval.systems.controls import CONTROLS, Control
from memeval.systems.failures import SystemFailure
from memeval.systems.folder import examined_files, files_digest, text_of
from memeval.systems.manifest import MANIFEST as MANIFEST
from memeval.systems.manifest import examined_manifest, line_of
from memeval.systems.messages import Hello
from memeval.systems.output import visible
from memeval.systems.process import SystemProcess

SUBMISSIONS = Path("submissions")
"""Where slugs are looked up, below the working folder."""

SLUG_LENGTH = 64


@dataclass(frozen=True)
class Driver:
    """A shipped adapter class that speaks to a server."""

    file: Path
    """Where it is."""
    class_name: str
    """What it is called."""


_FOLDER = Path(__file__).with_name("drivers")

DRIVERS = {
    AdapterKind.HTTP: Driver(_FOLDER / "http_contract.py", "HttpContract"),
    AdapterKind.DAEMON: Driver(_FOLDER / "jeffs_brain.py", "JeffsBrain"),
    AdapterKind.MCP: Driver(_FOLDER / "mcp_server.py", "McpServer"),
}
"""What speaks to each kind of server."""


@dataclass(frozen=True)
class SystemSource:
    """A system, found and checked, not yet started."""

    slug: str
    """Its name in paths and URLs."""
    name: str
    """Its name for people; text from outside."""
    version: str
    """Its version; text from outside. ``0`` for a bare file."""
    kind: SystemKind
    """Where it comes from."""
    launch: Launch
    """How it is started."""
    submission_digest: Digest
    """Digest of its files."""
    declared_models: tuple[str, ...] = ()
    """Models it says it uses."""
    view: View = View.ALL
    """Which sessions it is shown."""
    submission: Submission | None = None
    """All that it says of itself, where it has a ``submission.toml``."""
    control: Control | None = None
    """Its line in the table of controls, where it is one."""

    @property
    def parameters(self) -> Mapping[str, str | int | float | bool]:
        """Its parameters."""
        return self.submission.parameters if self.submission else {}

    @property
    def light(self) -> bool:
        """Whether it runs in seconds with no key and no download."""
        return self.submission.light if self.submission else self.control is not None


def find_system(named: str, submissions: Path = SUBMISSIONS) -> SystemSource:
    """Return the system that ``named`` stands for.

    Args:
        named: a control's name, a slug under ``submissions``, a folder with a ``submission.toml``, or a ``.py`` file
            with, after a colon, the class to load. A name goes before a folder of that name; ``./name`` is the folder.
        submissions: the folder that slugs are looked up in.

    Raises:
        BadInput: there is no such system, or it cannot be what it should be.
    """
    if named in CONTROLS:
        return control_source(CONTROLS[named])
    if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", named) and (submissions / named).is_dir():
        return folder_source(submissions / named)
    path, class_name = _split_class(named)
    if path.is_dir():
        return folder_source(path)
    if path.is_file():
        return file_source(path, class_name)
    if path.suffix == ".py" or "/" in named:
        raise BadInput("there is no such file or folder.", where=path, remedy="Check the path.")
    raise BadInput(f"there is no system called '{visible(named)}'.", remedy=_hint(named, submissions))


def control_source(control: Control) -> SystemSource:
    """Return a shipped control as a system."""
    return SystemSource(
        slug=control.slug,
        name=control.title,
        version="1",
        kind=SystemKind.CONTROL,
        launch=Launch(control.file, control.class_name),
        submission_digest=files_digest([(control.filename, control.file)]),
        view=control.view,
        control=control,
    )


def file_source(path: Path, class_name: str | None = None) -> SystemSource:
    """Return the system in a ``.py`` file.

    Raises:
        BadInput: the file is not Python.
    """
    check_python(path)
    files = {path.name: path.absolute()}
    digest = files_digest(files.items())
    return SystemSource(
        slug=_slug_of(path.stem),
        name=path.stem,
        version="0",
        kind=SystemKind.FILE,
        launch=Launch(path.absolute(), class_name, files=files, digest=digest),
        submission_digest=digest,
    )


def folder_source(folder: Path) -> SystemSource:
    """Return the system in a folder with a ``submission.toml``.

    Raises:
        BadInput: the first of what :func:`examined_folder` finds.
    """
    source, faults = examined_folder(folder)
    if source is None or faults:
        raise faults[0]
    return source


def examined_folder(folder: Path) -> tuple[SystemSource | None, list[BadInput]]:
    """Return the system in a folder with a ``submission.toml``, and all that is wrong with the folder.

    Returns:
        The system, or ``None`` where its manifest or its files cannot be what they should be; and the faults: none
        where all is well.
    """
    manifest = folder / MANIFEST
    if folder.is_symlink():
        remedy = "Name the folder itself; a submission holds plain files only."
        return None, [BadInput("is a symbolic link.", where=folder, remedy=remedy)]
    if not manifest.is_file():
        remedy = f"Name the adapter file itself, or write a {MANIFEST} beside it."
        return None, [BadInput(f"is a folder without a {MANIFEST}.", where=folder, remedy=remedy)]
    submission, faults = examined_manifest(manifest)
    files, unfit = examined_files(folder)
    faults += unfit
    if submission is None:
        return None, faults
    faults += _slug_clashes(submission.slug, folder)
    try:
        launch = submission_launch(submission, folder, files)
    except BadInput as fault:
        return None, [*faults, *([] if fault.where in {each.where for each in faults} else [fault])]
    if unfit:
        return None, faults
    digest = files_digest(files.items())
    here = {inside: path.absolute() for inside, path in files.items()}
    source = SystemSource(
        slug=submission.slug,
        name=submission.name,
        version=submission.version,
        kind=SystemKind.SUBMISSION,
        launch=replace(launch, files=here, digest=digest),
        submission_digest=digest,
        declared_models=submission.declared_models,
        submission=submission,
    )
    return source, faults


def submission_launch(submission: Submission, folder: Path, files: Mapping[str, Path]) -> Launch:
    """Return how a submission is started.

    Args:
        submission: what it says of itself.
        folder: where it lies.
        files: its files, by their path inside it.

    Raises:
        BadInput: its entry or its program is not there.
    """
    launch = Launch(
        file=folder.absolute() / MANIFEST,
        folder=folder.absolute(),
        parameters=submission.parameters,
        variables=submission.variables,
        resources=submission.resources,
        services=submission.services,
    )
    if submission.kind is AdapterKind.PYTHON:
        entry, _, class_name = submission.entry.partition(":")
        adapter = files.get(PurePosixPath(entry).as_posix())
        if adapter is None:
            raise BadInput(
                f"the entry '{visible(entry)}' is not a file of this folder.",
                where=line_of(folder / MANIFEST, ("entry",)),
                remedy=f"Give a path below {folder}.",
            )
        check_python(adapter)
        return replace(launch, file=adapter.absolute(), class_name=class_name or None)
    if submission.command:
        _check_program(submission.command[0], folder, files)
    if submission.kind is AdapterKind.COMMAND:
        return replace(launch, program=submission.command)
    driver = DRIVERS[submission.kind]
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
        address = urlsplit(submission.endpoint)
        host = next((host for host in submission.hosts if host.host == address.hostname), None)
        if host is not None:
            keywords |= {"endpoint_variable": host.variable, "key_variable": host.key}
        keywords["endpoint_path"] = address.path.rstrip("/")
    if submission.kind is AdapterKind.MCP:
        keywords["tools"] = {call: tool.data() for call, tool in submission.tools.items()}
    return replace(
        launch, file=driver.file, class_name=driver.class_name, parameters=keywords, shown=(driver.file.parent,)
    )


def _check_program(program: str, folder: Path, files: Mapping[str, Path]) -> None:
    """Refuse a program that is named by a path and is no file of the submission; others are looked up in ``PATH``."""
    path = PurePosixPath(program)
    if "/" in program and (path.is_absolute() or path.as_posix() not in files):
        raise BadInput(
            f"the program '{visible(program)}' is not a file of this folder.",
            where=line_of(folder / MANIFEST, ("command",)),
            remedy="Name a file in it as ./NAME, or a program by its bare name.",
        )


def _slug_clashes(slug: str, folder: Path) -> Iterator[BadInput]:
    """Yield what else bears the name of a submission: a control, or a folder beside it."""
    where = line_of(folder / MANIFEST, ("slug",))
    if slug in CONTROLS:
        yield BadInput(f"'{slug}' is the name of a shipped control.", where=where, remedy="Take another.")
    if folder.absolute().parent.name != SUBMISSIONS.name:
        return
    name = folder.absolute().name
    if name != slug:
        yield BadInput(
            f"the slug is '{slug}', and the folder is called '{visible(name)}'.",
            where=where,
            remedy="Give both the same name.",
        )
    for other in sorted(folder.absolute().parent.iterdir()):
        if other.name == name or not (other / MANIFEST).is_file():
            continue
        if other.name.casefold() == slug or _slug_in(other / MANIFEST) == slug:
            yield BadInput(
                f"'{slug}' is also the name of the submission in {visible(other.name)}.",
                where=where,
                remedy="Take another.",
            )


def _slug_in(manifest: Path) -> object:
    """Return the slug that another submission gives itself, whatever else is wrong with it."""
    try:
        return tomllib.loads(text_of(manifest)).get("slug")
    except (BadInput, ValueError, RecursionError):
        return None


def check_python(path: Path) -> None:
    """Refuse a file that is not Python source.

    Raises:
        BadInput: with the line, where it has a syntax error.
    """
    if path.suffix != ".py":
        raise BadInput("is not a Python file: its name does not end in .py.", where=path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        where = f"{path}:{error.lineno}" if error.lineno else path
        raise BadInput(f"is not valid Python: {visible(str(error.msg))}.", where=where) from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        why = visible(str(error)) or "it is nested too deep"
        raise BadInput(f"is not valid Python: {why}.", where=path) from None
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}).", where=path) from None


def greet(source: SystemSource, process: SystemProcess) -> Hello:
    """Start a system's process, and return what it said of itself.

    Args:
        source: the system.
        process: its process, not started yet; the caller closes it.

    Raises:
        BadInput: it cannot be loaded; a run would be nothing but errors.
    """
    try:
        return process.start()
    except SystemFailure as failure:
        launch = source.launch
        where = launch.folder / MANIFEST if launch.folder and launch.file.parent == _FOLDER else launch.file
        raise BadInput(failure.sentence, where=where) from None


def candidates_warning(hello: Hello, launch: Launch) -> str | None:
    """Return a sentence where a file holds several adapter classes and none was named; else ``None``."""
    if launch.class_name is not None or len(hello.candidates) < 2:
        return None
    others = ", ".join(hello.candidates)
    return (
        f"{launch.file}: several adapter classes ({others}); {hello.class_name} is run. "
        f"Name another with {launch.file.name}:CLASS."
    )


def _split_class(named: str) -> tuple[Path, str | None]:
    head, colon, class_name = named.rpartition(":")
    if colon and head.endswith(".py") and class_name.isidentifier() and not Path(named).exists():
        return Path(head), class_name
    return Path(named), None


def _slug_of(stem: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:SLUG_LENGTH].strip("-") or "system"
    return f"{slug[: SLUG_LENGTH - 5]}-file" if slug in CONTROLS else slug


def _hint(named: str, submissions: Path) -> str:
    known = [*CONTROLS]
    if submissions.is_dir():
        known += sorted(path.name for path in submissions.iterdir() if (path / MANIFEST).is_file())
    near = difflib.get_close_matches(named, known, n=1)
    return f"Did you mean '{near[0]}'?" if near else f"There are: {', '.join(known)}; or name a folder or a .py file."
