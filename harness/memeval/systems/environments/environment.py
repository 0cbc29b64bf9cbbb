"""Finds the packages that a submission needs, and builds its environment once."""

import errno
import os
import platform
import shutil
import stat
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memeval.records.base import Digest, Stored, digest_of
from memeval.records.errors import BadInput, MemevalError
from memeval.records.run import EnvironmentIdentity
from memeval.storage import cache_home, locked
from memeval.systems.environments.install import (
    NODE,
    PYTHON,
    Node,
    Python,
    disk_full,
    install_node,
    install_python,
    resolve,
)
from memeval.systems.environments.python_lock import (
    PACKAGE,
    PACKAGE_LOCK,
    REQUIREMENTS,
    check_covered,
    read_package,
    read_package_lock,
    read_pins,
    read_script,
)
from memeval.systems.environments.tools import node_tool

MARKER = "environment.json"

LOCK_BYTES = 5_000_000

UNLOCKED = ("requirements.in", "requirements.txt")
"""Files that list Python packages. Packages are installed from a lock file only."""


class BuiltEnvironment(Stored):
    digest: Digest
    tool: str
    stamp: Digest
    base: str | None
    """The installation folder of its Python; ``None`` without Python packages."""


@dataclass(frozen=True)
class Environment:
    folder: Path
    python: Path | None
    """The Python of the environment; ``None`` if there are only Node packages."""
    path: tuple[Path, ...]
    """Folders with its programs, for ``PATH``."""
    shown: tuple[Path, ...]
    """Folders that the system must be able to read in the sandbox."""
    identity: EnvironmentIdentity
    variables: dict[str, str] = field(default_factory=dict)


def environment_for(
    folder: Path | None, entry: Path | None, *, cache: Path | None = None, note: Callable[[str], None]
) -> Environment | None:
    """Return the environment of a submission, and build it if needed.

    Args:
        folder: the submission's folder, which may hold ``requirements.lock`` and ``package-lock.json``; ``None`` for a
            single file.
        entry: its Python file, which may declare dependencies inline (PEP 723).
        cache: the folder of environments; by default ``MEMEVAL_CACHE``, else the user's cache folder.

    Returns:
        The environment; ``None`` if the submission needs no packages.

    Raises:
        BadInput: a lock is invalid or missing, or a package cannot be installed; with file, line and remedy.
    """
    home = cache or cache_home()
    try:
        python = _python(folder, entry, home, note)
        node = None if folder is None else _node(folder)
        if python is None and node is None:
            return None
        return _cached(home / "environments", python, node, note)
    except OSError as error:
        raise _unwritable(home, error) from None


def _python(folder: Path | None, entry: Path | None, home: Path, note: Callable[[str], None]) -> Python | None:
    source = _read(entry) if entry is not None and entry.suffix == ".py" else None
    script = read_script(source, entry) if entry is not None and source is not None else None
    if script is not None and not script.python.contains(platform.python_version(), prereleases=True):
        raise BadInput(
            f"needs Python {script.python}, and memeval runs on {platform.python_version()}.",
            where=script.where,
            remedy="Run memeval with one of these versions.",
        )
    lock = None if folder is None else folder / REQUIREMENTS
    text = None if lock is None else _read(lock)
    pins = None if lock is None or text is None else read_pins(text, lock)
    if folder is not None and entry is not None and script is None and not pins:
        _check_no_unlocked(folder)
    if lock is not None and pins is not None:
        if script is not None:
            check_covered(script, pins, lock)
        return Python(pins, lock, locked=True)
    return None if script is None else resolve(script, home / "resolved", note)


def _check_no_unlocked(folder: Path) -> None:
    """Raise ``BadInput`` if a file lists packages; for a folder whose lock is missing or pins none."""
    for name in UNLOCKED:
        lines = (line.partition("#")[0].strip() for line in (_read(folder / name) or "").splitlines())
        if any(lines):
            raise BadInput(
                f"lists packages, but {REQUIREMENTS} is missing or pins none.",
                where=folder / name,
                remedy=f"Make the lock with 'uv pip compile --generate-hashes --universal {name} -o {REQUIREMENTS}'.",
            )


def _node(folder: Path) -> Node | None:
    package, lock = folder / PACKAGE, folder / PACKAGE_LOCK
    text = _read(lock)
    package_text = _read(package)
    if text is None:
        if package_text is not None and read_package(package_text, package).get("dependencies"):
            raise BadInput(
                f"has dependencies, but there is no {PACKAGE_LOCK} beside it.",
                where=package,
                remedy="Make it with 'npm install --package-lock-only'.",
            )
        return None
    if package_text is None:
        raise BadInput(f"there is no {PACKAGE} beside it.", where=lock, remedy="Add it.")
    return Node(read_package(package_text, package), read_package_lock(text, lock), lock)


def _cached(home: Path, python: Python | None, node: Node | None, note: Callable[[str], None]) -> Environment:
    digest = digest_of(
        {
            "platform": [sysconfig.get_platform(), *platform.libc_ver()],
            "python": None
            if python is None
            else [sys.implementation.cache_tag, platform.python_version(), str(python)],
            "node": None if node is None else [node_tool("node").version, node.package, node.lock],
        }
    )
    folder = home / digest.removeprefix("sha256:")
    folder.mkdir(parents=True, exist_ok=True)
    built = _finished(folder, digest)
    if built is None:
        # Build it at its final path, which its programs contain. It is finished when the marker exists.
        with locked(folder):
            built = _finished(folder, digest) or _build(folder, digest, python, node, note)
    return _environment(folder, python, node, built)


def _build(
    folder: Path, digest: Digest, python: Python | None, node: Node | None, note: Callable[[str], None]
) -> BuiltEnvironment:
    _empty(folder)
    tools: list[str] = []
    base: str | None = None
    try:
        if python is not None:
            tools.append(install_python(folder, python, note))
            base = sys.base_prefix
        if node is not None:
            tools.append(install_node(folder, node, note))
        built = BuiltEnvironment(digest=digest, tool=", ".join(tools), stamp=_stamp(folder), base=base)
        (folder / MARKER).write_text(f"{built.to_json()}\n", "utf-8")
    except BaseException:
        _empty(folder)
        raise
    return built


def _empty(folder: Path) -> None:
    """Delete all files of a folder, the marker first."""
    (folder / MARKER).unlink(missing_ok=True)
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _finished(folder: Path, digest: Digest) -> BuiltEnvironment | None:
    """Return the marker of a finished environment; ``None`` if it is missing or was changed."""
    marker = folder / MARKER
    try:
        built = BuiltEnvironment.parse(marker.read_bytes(), marker)
    except (OSError, UnicodeDecodeError, MemevalError):
        return None
    python = folder / PYTHON / "bin" / "python"
    if built.digest != digest or (built.base is not None and not os.access(python, os.X_OK)):
        return None
    return built if _stamp(folder) == built.stamp else None


def _stamp(folder: Path) -> Digest:
    """Return a digest of the paths, sizes and times of all files: reading the files would take too long."""
    return digest_of(sorted(_files(folder, "")))


def _files(folder: Path, below: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(Path(entry.path), f"{below}{entry.name}/")
            elif below or entry.name != MARKER:
                state = entry.stat(follow_symlinks=False)
                yield f"{below}{entry.name}", state.st_size, state.st_mtime_ns


def _environment(folder: Path, python: Python | None, node: Node | None, built: BuiltEnvironment) -> Environment:
    path: list[Path] = []
    shown: list[Path] = [folder]
    variables: dict[str, str] = {}
    if node is not None:
        programs = folder / NODE / "node_modules" / ".bin"
        path += [programs] if programs.is_dir() else []
        program = shutil.which("node")
        if program and not Path(program).resolve().is_relative_to("/usr"):
            path.append(Path(program).resolve().parent)
            shown.append(Path(program).resolve().parents[1])
        variables["NODE_PATH"] = str(folder / NODE / "node_modules")
    if python is not None:
        path.append(folder / PYTHON / "bin")
        if built.base is not None and not Path(built.base).resolve().is_relative_to("/usr"):
            shown.append(Path(built.base))
    interpreter = None if python is None else folder / PYTHON / "bin" / "python"
    locked = python is None or python.locked
    identity = EnvironmentIdentity(digest=built.digest, tool=built.tool, locked=locked)
    return Environment(folder, interpreter, tuple(path), tuple(shown), identity, variables)


def _read(path: Path) -> str | None:
    """Return the text of a plain file; ``None`` if there is no such file."""
    try:
        mode = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode.st_mode):
        raise BadInput("is not a plain file.", where=path, remedy="A submission holds plain files only.")
    if mode.st_size > LOCK_BYTES:
        raise BadInput(f"has more than {LOCK_BYTES:,} bytes.", where=path)
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise BadInput("is not UTF-8 text.", where=path) from None


def _unwritable(home: Path, error: OSError) -> BadInput:
    if error.errno == errno.ENOSPC:
        return disk_full(home)
    return BadInput(
        f"cannot be used ({error.strerror or error}).",
        where=error.filename or home,
        remedy="Set another folder with MEMEVAL_CACHE.",
    )
