"""Installs exactly the packages of a lock into a folder, from wheels, without running their code."""

from __future__ import annotations

import json
import os
import platform
import re
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memeval.records.base import digest_of
from memeval.systems.environments.node_lock import PACKAGE, PACKAGE_LOCK
from memeval.systems.environments.python_lock import Pin, Script, read_pins, write_pins
from memeval.systems.environments.refusals import npm_refusal, python_refusal
from memeval.systems.environments.tools import (
    Installer,
    ToolFailed,
    base_python,
    find_npm,
    find_pip,
    find_python_installer,
    run_tool,
    uv_settings,
)

PYTHON = "python"
"""The virtual environment, inside the folder of an environment."""

NODE = "node"
"""The folder with ``node_modules``, inside the folder of an environment."""

REQUIREMENTS = "requirements.txt"

UV_FLAGS = ("--quiet", "--no-progress", "--color", "never", "--only-binary", ":all:")
PIP_FLAGS = ("--quiet", "--no-input", "--no-color", "--disable-pip-version-check", "--only-binary", ":all:")


@dataclass(frozen=True)
class Python:
    pins: tuple[Pin, ...]
    source: Path
    locked: bool
    """Whether this file is a lock file of the submission."""

    def __str__(self) -> str:
        return write_pins(self.pins)

    def location(self, name: str) -> str:
        """Return the ``file:line`` of a package; the file alone if it does not name the package."""
        normalized = re.split(r"[=<>!~\[; ]", name, maxsplit=1)[0].lower().replace("_", "-").replace(".", "-")
        lines = [pin.line for pin in self.pins if pin.name == normalized] if self.locked else []
        return f"{self.source}:{lines[0]}" if lines else str(self.source)


@dataclass(frozen=True)
class Node:
    package: dict[str, Any]
    lock: dict[str, Any]
    source: Path


def install_python(folder: Path, python: Python, note: Callable[[str], None]) -> str:
    """Build a virtual environment with the packages of a lock, and return the installer with its version.

    Args:
        folder: the empty folder of the environment.

    Raises:
        BadInput: a package of the lock cannot be installed.
    """
    tool = find_python_installer()
    target = folder / PYTHON
    note(f"{python.source}: installing its packages ({len(python.pins)}) with {tool}.")
    try:
        _make_venv(target)
        if python.pins:
            (folder / REQUIREMENTS).write_text(str(python), "utf-8")
            hashed = ("--require-hashes", "-r", REQUIREMENTS)
            interpreter = ("--python", str(target / "bin" / "python"))
            if tool.name == "uv":
                flags = (*UV_FLAGS, "--link-mode", "copy")
                command = [*tool.command, "pip", "install", *flags, *interpreter, *hashed]
                run_tool(command, folder, uv_settings(find_pip()))
            else:
                command = [*tool.command, *interpreter, "install", *PIP_FLAGS, "--no-compile"]
                run_tool([*command, *hashed], folder)
    except ToolFailed as failure:
        first = str(python.pins[0].requirement) if python.pins else "Python"
        raise python_refusal(failure, tool, first, python.location) from None
    _compile(target)
    return str(tool)


def resolve(script: Script, entry: Path, folder: Path, note: Callable[[str], None]) -> Python:
    """Return the locked packages for the inline dependencies of a file, resolved once per Python and platform.

    Raises:
        BadInput: a dependency cannot be installed.
    """
    wanted = sorted(map(str, script.dependencies))
    if not wanted:
        return Python((), entry, locked=False)
    digest = digest_of([wanted, platform.python_version(), sysconfig.get_platform(), *platform.libc_ver()])
    lock = folder / f"{digest.removeprefix('sha256:')}.lock"
    if not lock.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        tool = find_python_installer()
        note(f"{entry}: has no lock; resolving its packages ({len(wanted)}) and their dependencies with {tool}.")
        try:
            text = _resolved(wanted, tool)
        except ToolFailed as failure:
            raise python_refusal(failure, tool, wanted[0], lambda _name: f"{entry}:{script.line}") from None
        part = lock.with_name(f"{lock.name}.{os.getpid()}")
        part.write_text(write_pins(read_pins(text, lock)), "utf-8")
        part.replace(lock)
    return Python(read_pins(lock.read_text("utf-8"), lock), entry, locked=False)


def _resolved(wanted: list[str], tool: Installer) -> str:
    """Return the text of a lock with hashes."""
    with tempfile.TemporaryDirectory(prefix="memeval-resolve-") as name:
        folder = Path(name)
        (folder / "requirements.in").write_text("".join(f"{each}\n" for each in wanted), "utf-8")
        if tool.name == "uv":
            flags = ("--generate-hashes", "--no-header", "--no-annotate", "--python", str(base_python()))
            command = [*tool.command, "pip", "compile", *UV_FLAGS, *flags, "requirements.in"]
            return run_tool(command, folder, uv_settings(find_pip()))
        _make_venv(folder / PYTHON)
        command = [*tool.command, "--python", str(folder / PYTHON / "bin" / "python"), "install", *PIP_FLAGS]
        options = ("--dry-run", "--ignore-installed", "--report", "report.json", "-r", "requirements.in")
        run_tool([*command, *options], folder)
        lines = []
        for chosen in json.loads((folder / "report.json").read_text("utf-8"))["install"]:
            digest = chosen["download_info"]["archive_info"]["hashes"]["sha256"]
            lines.append(f"{chosen['metadata']['name']}=={chosen['metadata']['version']} --hash=sha256:{digest}\n")
        return "".join(lines)


def _make_venv(target: Path) -> None:
    run_tool([base_python(), "-I", "-m", "venv", "--without-pip", "--symlinks", target], target.parent)


def _compile(target: Path) -> None:
    """Compile the modules, because the environment is read-only in the sandbox.

    The base Python compiles them: the environment's own would run the ``.pth`` files of packages. Files for other
    versions of Python, which do not compile, are ignored. The packages' own tests, a sixth of all code, are left out.
    """
    library = target / "lib"
    tests = f"{re.escape(str(library))}.*/tests?/"
    command = [str(base_python()), "-I", "-m", "compileall", "-qq", "-j", "0", "-x", tests, str(library)]
    try:
        run_tool(command, target)
    except ToolFailed as failure:
        if "No space left on device" in failure.output:
            raise python_refusal(failure, Installer("compileall", "", ()), "Python", lambda _name: target) from None


def install_node(folder: Path, node: Node, note: Callable[[str], None]) -> str:
    """Install the packages of a ``package-lock.json``, and return the installer with its version.

    Raises:
        BadInput: a package of the lock cannot be installed.
    """
    npm = find_npm()
    target = folder / NODE
    target.mkdir()
    (target / PACKAGE).write_text(json.dumps(node.package), "utf-8")
    (target / PACKAGE_LOCK).write_text(json.dumps(node.lock), "utf-8")
    note(f"{node.source}: installing its packages ({max(0, len(node.lock['packages']) - 1)}) with {npm}.")
    quiet = ("--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
    # The user chooses the registry, not the lock, which could name any server.
    flags = ("--omit=optional", "--omit=dev", "--ignore-scripts", "--replace-registry-host=always", *quiet)
    try:
        run_tool([*npm.command, "ci", *flags], target)
    except ToolFailed as failure:
        raise npm_refusal(failure, npm, node.source, node.lock) from None
    return str(npm)
