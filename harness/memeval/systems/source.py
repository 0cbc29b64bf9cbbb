"""From what the user names to a system that can be started."""

from __future__ import annotations

import datetime
import difflib
import re
import stat
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memeval.records.base import Digest, digest_bytes, digest_of, validated
from memeval.records.errors import BadInput, NewerSchema
from memeval.records.run import SystemKind, View
from memeval.records.submission import Submission
from memeval.systems.child import Launch
from memeval.systems.controls import CONTROLS, Control
from memeval.systems.failures import SystemFailure
from memeval.systems.messages import Hello
from memeval.systems.output import visible
from memeval.systems.process import SystemProcess

MANIFEST = "submission.toml"

SUBMISSIONS = Path("submissions")
"""Where slugs are looked up, below the working folder."""

SLUG_LENGTH = 64


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
    parameters: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    """Its parameters."""
    light: bool = False
    """Whether it runs in seconds with no key and no download."""
    view: View = View.ALL
    """Which sessions it is shown."""
    submission: Submission | None = None
    """All that it says of itself, where it has a ``submission.toml``."""
    control: Control | None = None
    """Its line in the table of controls, where it is one."""


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
        source = folder_source(submissions / named)
        if source.slug != named:
            raise BadInput(
                f"the slug is '{source.slug}', and the folder is called '{named}'.",
                where=submissions / named / MANIFEST,
                remedy="Give both the same name.",
            )
        return source
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
        light=True,
        view=control.view,
        control=control,
    )


def file_source(path: Path, class_name: str | None = None) -> SystemSource:
    """Return the system in a ``.py`` file.

    Raises:
        BadInput: the file is not Python.
    """
    check_python(path)
    return SystemSource(
        slug=_slug_of(path.stem),
        name=path.stem,
        version="0",
        kind=SystemKind.FILE,
        launch=Launch(path.absolute(), class_name),
        submission_digest=files_digest([(path.name, path)]),
    )


def folder_source(folder: Path) -> SystemSource:
    """Return the system in a folder with a ``submission.toml``.

    Raises:
        BadInput: the manifest or the adapter file is missing or not what it should be.
    """
    manifest = folder / MANIFEST
    if not manifest.is_file():
        raise BadInput(
            f"is a folder without a {MANIFEST}.",
            where=folder,
            remedy=f"Name the adapter file itself, or write a {MANIFEST} beside it.",
        )
    submission = read_manifest(manifest)
    if submission.slug in CONTROLS:
        raise BadInput(f"'{submission.slug}' is the name of a shipped control.", where=manifest, remedy="Take another.")
    entry, _, class_name = submission.entry.partition(":")
    files = dict(submission_files(folder))
    adapter = files.get(Path(entry).as_posix())
    if adapter is None:
        raise BadInput(
            f"the entry '{visible(entry)}' is not a file of this folder.",
            where=_at_key(manifest, "entry"),
            remedy=f"Give a path below {folder}.",
        )
    check_python(adapter)
    return SystemSource(
        slug=submission.slug,
        name=submission.name,
        version=submission.version,
        kind=SystemKind.SUBMISSION,
        launch=Launch(adapter.absolute(), class_name or None, parameters=submission.parameters),
        submission_digest=files_digest(files.items()),
        declared_models=submission.declared_models,
        parameters=submission.parameters,
        light=submission.light,
        submission=submission,
    )


def read_manifest(manifest: Path) -> Submission:
    """Read a ``submission.toml``.

    Raises:
        BadInput: it is not one; the line is named where it can be found.
    """
    try:
        data = tomllib.loads(manifest.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise BadInput(f"not valid TOML: {error}.", where=f"{manifest}:{line[1]}" if line else manifest) from None
    except UnicodeDecodeError:
        raise BadInput("is not UTF-8 text.", where=manifest) from None
    version = data.get("schema_version", 1)
    if isinstance(version, int) and version > 1:
        raise NewerSchema(
            f"has schema version {version}, and this memeval reads version 1.",
            where=_at_key(manifest, "schema_version"),
            remedy="Update memeval.",
        )
    for key, value in data.items():
        if isinstance(value, datetime.date | datetime.time):
            raise BadInput(f"'{key}' is a date.", where=_at_key(manifest, key), remedy="Put it in quotes.")
    try:
        return validated(Submission, data, manifest)
    except BadInput as error:
        named = re.search(r"'([^']+)'", error.problem)
        where = _at_key(manifest, named[1]) if named else str(manifest)
        raise BadInput(error.problem, where=where) from None


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
        raise BadInput(f"is not valid Python: {visible(str(error))}.", where=path) from None
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}).", where=path) from None


def submission_files(folder: Path, below: str = "") -> Iterator[tuple[str, Path]]:
    """Yield the files of a submission by their path inside it, without hidden ones and ``__pycache__``.

    Raises:
        BadInput: something is neither a file nor a folder, such as a link.
    """
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if path.name.startswith(".") or path.name == "__pycache__":
            continue
        mode = path.lstat().st_mode
        inside = below + path.name
        if stat.S_ISDIR(mode):
            yield from submission_files(path, inside + "/")
        elif stat.S_ISREG(mode):
            yield inside, path
        else:
            what = "a symbolic link" if stat.S_ISLNK(mode) else "neither a file nor a folder"
            raise BadInput(f"is {what}.", where=path, remedy="A submission holds plain files only.")


def files_digest(files: Any) -> Digest:
    """Return the digest of files: of the JSON of their digests by their paths."""
    return digest_of({name: digest_bytes(path.read_bytes()) for name, path in files})


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
        raise BadInput(failure.sentence, where=source.launch.file) from None


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


def _at_key(manifest: Path, key: str) -> str:
    """Return ``file:line`` of a key in a TOML file, or the file alone where the key is not found."""
    lines = manifest.read_text("utf-8").splitlines()
    for part in reversed(key.split(".")):
        pattern = re.compile(rf"""\s*(\[\s*)?["']?{re.escape(part)}["']?\s*[=\]]""")
        for number, line in enumerate(lines, 1):
            if pattern.match(line):
                return f"{manifest}:{number}"
    return str(manifest)


def _hint(named: str, submissions: Path) -> str:
    known = [*CONTROLS]
    if submissions.is_dir():
        known += sorted(path.name for path in submissions.iterdir() if (path / MANIFEST).is_file())
    near = difflib.get_close_matches(named, known, n=1)
    return f"Did you mean '{near[0]}'?" if near else f"There are: {', '.join(known)}; or name a folder or a .py file."
