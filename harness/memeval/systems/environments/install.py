"""Installs exactly the packages of a lock into a folder, from wheels, without running their code; explains refusals."""

import json
import os
import platform
import re
import sysconfig
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memeval.records.base import digest_of
from memeval.records.errors import BadInput, MemevalError
from memeval.systems.channel import visible
from memeval.systems.environments.python_lock import PACKAGE, PACKAGE_LOCK, Pin, Script, read_pins, write_pins
from memeval.systems.environments.tools import (
    Installer,
    ToolFailed,
    base_python,
    find_python_installer,
    node_tool,
    run_tool,
    uv_settings,
)

COMPILE_AGAIN = "Compile the lock again, with all dependencies."
OFFLINE = "Connect to the network, or set a reachable index (PIP_INDEX_URL, UV_DEFAULT_INDEX)."
NPM_NEEDS_NETWORK = "Connect to the network."
TRY_LATER = "Try later."
FREE_DISK = "Free disk space, or set another folder with MEMEVAL_CACHE."

PYTHON_REFUSALS: tuple[tuple[str, str, str], ...] = (
    (
        r"[Hh]ash mismatch for `(?P<name>[^`]+)`|DO NOT MATCH THE HASHES[^\n]*\n\s*(?P<name2>\S+)",
        "the file of '{name}' does not match its digest in the lock.",
        "Find out why before you compile the lock again.",
    ),
    (
        r"no trusted hash was provided for: `(?P<name>[^`]+)`"
        r"|versions pinned with ==\. These do not:\n\s*(?P<name2>[\w.\[\]-]+)"
        r"|are missing from some requirements[^\n]*\n\s*(?P<name3>[\w.-]+)",
        "the lock does not pin the dependency '{name}'.",
        COMPILE_AGAIN,
    ),
    (
        r"current Python version \([^)]*\) does not satisfy\s+(?P<range>Python\S+)(?:.|\n)*?\s"
        r"(?P<name>[\w.-]+==[^\s,]+)\s+depends\s+on",
        "'{name}' needs another version of Python ({range}).",
        "Run memeval with this version, or pin another version of the package.",
    ),
    (
        r"(?P<name>[\w.-]+(==\S+)?) has no (usable )?wheels",
        "'{name}' has no wheel for this Python and platform. memeval builds none, because that would run its code.",
        "Pin a version with a wheel.",
    ),
    (
        r"dns error|error sending request|Failed to fetch|NewConnectionError|ConnectTimeout|ProxyError"
        r"|Failed to establish a new connection|Temporary failure in name resolution",
        "the package index cannot be reached, so '{package}' cannot be installed.",
        OFFLINE,
    ),
    (
        r"Because (?P<name>[\w.-]+) was not found in the (package registry|provided)"
        r"|there is no version of (?P<name2>[\w.-]+==[^\s,]+)",
        "there is no '{name}' in the package index.",
        "Check its name and version, and compile the lock again.",
    ),
    (
        r"No matching distribution found for (?P<name>[^\s;]+)",
        "there is no wheel of '{name}' in the package index for this Python and platform.",
        "Check its name and version. memeval builds no wheels, because that would run its code.",
    ),
    (
        r"Cannot install (?P<name>[^\n]+?) because these package"
        r"|you require (?P<name2>[\w.-]+==\S+ and [\w.-]+==\S+?),",
        "{name} are not compatible.",
        COMPILE_AGAIN,
    ),
    (
        r"(you require|depends on) (?P<name>[^\s,]+),\s+we\s+can\s+conclude\s+that\s+your\s+requirements",
        "no version of '{name}' in the package index is compatible.",
        "Check its name and version.",
    ),
)
"""Pattern, message and remedy, the most specific first. ``{name}`` is replaced by the match of the pattern."""

NPM_REFUSALS = {
    "E404": ("there is no '{name}' in the package registry.", "Check its name and version."),
    "ETARGET": ("there is no '{name}' in the package registry.", "Check its name and version."),
    "EINTEGRITY": (
        "the file of '{name}' does not match its integrity in the lock.",
        "Find out why before you make the lock again.",
    ),
    "EUSAGE": (
        "package-lock.json does not match package.json.",
        "Make the lock again with 'npm install --package-lock-only'.",
    ),
}

NPM_OFFLINE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ECONNRESET", "ENOTCACHED")


def python_refusal(failure: ToolFailed, tool: Installer, first: str, location: Callable[[str], object]) -> BadInput:
    """Return the error for a failure of uv or pip.

    ``first``: the first package of the lock, which is named if the output names none. ``location``: returns the file
    and line of a package by its name.
    """
    output = failure.output
    if "No space left on device" in output:
        return disk_full(location(""))
    for pattern, sentence, remedy in PYTHON_REFUSALS:
        if found := re.search(pattern, output):
            groups = {key: value for key, value in found.groupdict().items() if value}
            name = visible(next((value for key, value in groups.items() if key.startswith("name")), first))
            problem = sentence.format(name=name, package=first, range=visible(groups.get("range", "")))
            return BadInput(problem, where=location(name), remedy=remedy)
    return BadInput(f"{tool} failed at '{first}': {error_line(output)}", where=location(""), remedy=COMPILE_AGAIN)


def npm_refusal(failure: ToolFailed, tool: Installer, where: Path, lock: Mapping[str, Any]) -> BadInput:
    output = failure.output
    code = next(iter(re.findall(r"npm (?:error|ERR!) code (\w+)", output)), "")
    if code == "ENOSPC" or "No space left on device" in output:
        return disk_full(where)
    if code in NPM_OFFLINE:
        return BadInput("the package registry cannot be reached.", where=where, remedy=NPM_NEEDS_NETWORK)
    if code in NPM_REFUSALS:
        sentence, remedy = NPM_REFUSALS[code]
        name = _npm_name(output, lock)
        return BadInput(sentence.format(name=visible(name)), where=where, remedy=remedy)
    return BadInput(f"{tool} failed: {error_line(output)}", where=where, remedy="Make the lock again.")


def _npm_name(output: str, lock: Mapping[str, Any]) -> str:
    """Return the package at which npm failed. For a wrong file, the output has only the digest."""
    wanted = re.search(r"wanted (sha\d+-\S+)", output)
    if wanted:
        for path, package in lock["packages"].items():
            if wanted[1] in str(package.get("integrity", "")):
                return str(path).rpartition("node_modules/")[2]
    named = re.search(r"'((?:@[\w.-]+/)?[\w.-]+@[^'\s]+)'|for ((?:@[\w.-]+/)?[\w.-]+@\S+?)\.?\s", output)
    return (named[1] or named[2]) if named else "one of its packages"


def disk_full(where: object) -> BadInput:
    return BadInput("the disk is full, so the environment cannot be built.", where=where, remedy=FREE_DISK)


def is_of_the_machine(error: MemevalError) -> bool:
    """Return whether an error says nothing about the packages: the disk is full, or the index gives no answer."""
    return error.remedy in (OFFLINE, NPM_NEEDS_NETWORK, TRY_LATER, FREE_DISK)


def error_line(output: str) -> str:
    """Return the line of an installer's output with the error, without control characters."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(error|cause|npm error|ERROR|npm ERR!)\b", line)]
    line = (errors or lines or ["it printed no reason"])[-1]
    return visible(line if len(line) <= 300 else line[:299] + "…")


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

    ``folder``: the empty folder of the environment. Raises BadInput: a package of the lock cannot be installed.
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
                run_tool(command, folder, uv_settings())
            else:
                command = [*tool.command, *interpreter, "install", *PIP_FLAGS, "--no-compile"]
                run_tool([*command, *hashed], folder)
    except ToolFailed as failure:
        first = str(python.pins[0].requirement) if python.pins else "Python"
        raise python_refusal(failure, tool, first, python.location) from None
    _compile(target)
    return str(tool)


def resolve(script: Script, folder: Path, note: Callable[[str], None]) -> Python:
    """Return the locked packages for the inline dependencies of a file, resolved once per Python and platform.

    Raises BadInput: a dependency cannot be installed.
    """
    wanted = sorted(map(str, script.dependencies))
    if not wanted:
        return Python((), script.file, locked=False)
    digest = digest_of([wanted, platform.python_version(), sysconfig.get_platform(), *platform.libc_ver()])
    lock = folder / f"{digest.removeprefix('sha256:')}.lock"
    if not lock.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        tool = find_python_installer()
        note(f"{script.file}: has no lock; resolving its packages ({len(wanted)}) and their dependencies with {tool}.")
        try:
            text = _resolved(wanted, tool)
        except ToolFailed as failure:
            raise python_refusal(failure, tool, wanted[0], lambda _name: script.where) from None
        part = lock.with_name(f"{lock.name}.{os.getpid()}")
        part.write_text(write_pins(read_pins(text, lock)), "utf-8")
        part.replace(lock)
    return Python(read_pins(lock.read_text("utf-8"), lock), script.file, locked=False)


def _resolved(wanted: list[str], tool: Installer) -> str:
    with tempfile.TemporaryDirectory(prefix="memeval-resolve-") as name:
        folder = Path(name)
        (folder / "requirements.in").write_text("".join(f"{each}\n" for each in wanted), "utf-8")
        if tool.name == "uv":
            flags = ("--generate-hashes", "--no-header", "--no-annotate", "--python", str(base_python()))
            command = [*tool.command, "pip", "compile", *UV_FLAGS, *flags, "requirements.in"]
            return run_tool(command, folder, uv_settings())
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
            raise disk_full(target) from None


def install_node(folder: Path, node: Node, note: Callable[[str], None]) -> str:
    """Install the packages of a ``package-lock.json``, and return the installer with its version.

    Raises BadInput: a package of the lock cannot be installed.
    """
    npm = node_tool("npm")
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
