"""The programs that install packages: uv, else pip, for Python; npm for Node."""

from __future__ import annotations

import ast
import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memeval.records.errors import BadInput

BUILD_SECONDS = 3600.0
"""How long one call of an installer may take."""

MISLEADING = re.compile(
    r"PYTHON.*|VIRTUAL_ENV|UV_(PYTHON|PROJECT|TARGET|PREFIX|SYSTEM|NO_BINARY|NO_BUILD|BUILD|REQUIRE).*"
    r"|PIP_(TARGET|PREFIX|ROOT|USER|PYTHON|NO_BINARY|ONLY_BINARY|REQUIRE.*|CONSTRAINT|REQUIREMENT|DRY_RUN|REPORT|QUIET)"
    r"|(npm_config|NPM_CONFIG)_(prefix|global|omit|include|package_lock.*|ignore_scripts|script_shell)"
)
"""Variables that say where or how to install. Those that say where packages come from are left as they are."""


class ToolFailed(Exception):
    """An installer gave up.

    Args:
        output: all that it wrote.
    """

    def __init__(self, output: str) -> None:
        super().__init__(output)
        self.output = output


@dataclass(frozen=True)
class Installer:
    """An installer that is here."""

    name: str
    version: str
    command: tuple[str, ...]
    """What its arguments are put behind."""

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def base_python() -> Path:
    """Return the Python that environments are made of: memeval's, outside its own environment."""
    return Path(getattr(sys, "_base_executable", None) or sys.executable)


def find_uv() -> Installer | None:
    """Return uv from ``PATH`` or from beside memeval's Python, or ``None``."""
    beside = Path(sys.executable).with_name("uv")
    found = shutil.which("uv") or (str(beside) if os.access(beside, os.X_OK) else None)
    return _tool("uv", (found,)) if found else None


def find_pip() -> Installer | None:
    """Return the pip of memeval's Python, or of the one that it was made of, or ``None``."""
    for python in dict.fromkeys((sys.executable, str(base_python()))):
        if tool := _tool("pip", (python, "-I", "-m", "pip")):
            return tool
    return None


def find_python_installer() -> Installer:
    """Return uv, or pip where there is no uv.

    Raises:
        BadInput: there is neither.
    """
    if tool := find_uv() or find_pip():
        return tool
    raise BadInput(
        "neither uv nor pip is installed, and one is needed to install packages.", remedy="Run: pip install uv."
    )


def find_npm() -> Installer:
    """Return npm.

    Raises:
        BadInput: it is not here.
    """
    return _of_node("npm")


def find_node() -> Installer:
    """Return Node.

    Raises:
        BadInput: it is not here.
    """
    return _of_node("node")


def _of_node(name: str) -> Installer:
    found = shutil.which(name)
    tool = _tool(name, (found,)) if found else None
    if tool is None:
        raise BadInput(
            f"{name} is not installed, and the submission has Node packages.", remedy="Install Node.js with npm."
        )
    return tool


def run_tool(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str] = {}) -> str:
    """Run an installer in a folder, and return what it wrote to standard output.

    Args:
        command: the program and its arguments.
        folder: where it starts.
        environment: variables it gets, besides memeval's own.

    Raises:
        ToolFailed: it gave up, took too long, or cannot be started.
    """
    inherited = {name: value for name, value in os.environ.items() if not MISLEADING.fullmatch(name)}
    try:
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=folder,
            env={**inherited, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="backslashreplace",
            start_new_session=True,
        )
    except OSError as error:
        raise ToolFailed(f"{command[0]}: {error.strerror}") from None
    try:
        output, errors = process.communicate(timeout=BUILD_SECONDS)
    except subprocess.TimeoutExpired:
        raise ToolFailed(f"{command[0]} was not done after {BUILD_SECONDS:.0f} seconds") from None
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode:
        raise ToolFailed(errors + output)
    return output


def uv_settings(pip: Installer | None) -> dict[str, str]:
    """Return variables that tell uv what pip's configuration says of indexes, which uv does not read.

    Args:
        pip: whose configuration counts; ``None`` where there is no pip.

    Returns:
        Nothing where uv itself is told of an index.
    """
    if pip is None or any(
        re.fullmatch(r"UV_(DEFAULT_INDEX|INDEX.*|EXTRA_INDEX_URL|FIND_LINKS)", n) for n in os.environ
    ):
        return {}
    try:
        listed = run_tool([*pip.command, "config", "list"], Path.cwd())
    except ToolFailed:
        return {}
    said: dict[str, str] = {}
    for key, value in re.findall(r"(?m)^(?:global|install|:env:)\.([a-z-]+)=(.+)$", listed):
        with contextlib.suppress(ValueError, SyntaxError):
            said[key] = str(ast.literal_eval(value))
    settings = {
        "UV_DEFAULT_INDEX": said.get("index-url", ""),
        "UV_INDEX": " ".join(said.get("extra-index-url", "").split()),
        "UV_FIND_LINKS": ",".join(said.get("find-links", "").split()),
        "SSL_CERT_FILE": "" if "SSL_CERT_FILE" in os.environ else said.get("cert", ""),
        # As pip does: every index is asked. Digests say which file it may be.
        "UV_INDEX_STRATEGY": "unsafe-best-match" if said.get("extra-index-url") else "",
    }
    return {name: value for name, value in settings.items() if value}


@functools.cache
def _tool(name: str, command: tuple[str, ...]) -> Installer | None:
    """Return a tool with the version that it says, or ``None`` where it cannot be run."""
    try:
        said = re.search(r"\d+(\.\w+)+", run_tool([*command, "--version"], Path.cwd()))
    except ToolFailed:
        return None
    return Installer(name, said[0], command) if said else None
