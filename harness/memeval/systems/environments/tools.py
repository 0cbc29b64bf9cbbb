"""Finds and runs the installers: uv or pip for Python, npm for Node."""

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

MISLEADING = re.compile(
    r"PYTHON.*|VIRTUAL_ENV|UV_(PYTHON|PROJECT|TARGET|PREFIX|SYSTEM|NO_BINARY|NO_BUILD|BUILD|REQUIRE).*"
    r"|PIP_(TARGET|PREFIX|ROOT|USER|PYTHON|NO_BINARY|ONLY_BINARY|REQUIRE.*|CONSTRAINT|REQUIREMENT|DRY_RUN|REPORT|QUIET)"
    r"|(npm_config|NPM_CONFIG)_(prefix|global|omit|include|package_lock.*|ignore_scripts|script_shell)"
)
"""Environment variables that change the target or mode of an installation. Variables for package indexes are kept."""


class ToolFailed(Exception):
    def __init__(self, output: str) -> None:
        super().__init__(output)
        self.output = output


@dataclass(frozen=True)
class Installer:
    name: str
    version: str
    command: tuple[str, ...]
    """The program and its first arguments."""

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def base_python() -> Path:
    """Return the base Python of environments: memeval's Python outside its virtual environment."""
    return Path(getattr(sys, "_base_executable", None) or sys.executable)


def find_uv() -> Installer | None:
    """Return uv from ``PATH`` or from the folder of memeval's Python; ``None`` if absent."""
    beside = Path(sys.executable).with_name("uv")
    found = shutil.which("uv") or (str(beside) if os.access(beside, os.X_OK) else None)
    return _tool("uv", (found,)) if found else None


def find_pip() -> Installer | None:
    """Return the pip of memeval's Python or of its base Python; ``None`` if absent."""
    for python in dict.fromkeys((sys.executable, str(base_python()))):
        if tool := _tool("pip", (python, "-I", "-m", "pip")):
            return tool
    return None


def find_python_installer() -> Installer:
    """Return uv, or pip if there is no uv. Raises BadInput: there is neither."""
    if tool := find_uv() or find_pip():
        return tool
    raise BadInput(
        "neither uv nor pip is installed; the submission needs one of them to install packages.",
        remedy="Run: pip install uv.",
    )


def node_tool(name: str) -> Installer:
    found = shutil.which(name)
    tool = _tool(name, (found,)) if found else None
    if tool is None:
        raise BadInput(
            f"{name} is not installed, but the submission has Node packages.", remedy="Install Node.js with npm."
        )
    return tool


def run_tool(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str] = {}) -> str:
    """Run an installer in a folder, and return its standard output.

    Raises ToolFailed: it failed, took too long, or cannot be started.
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


def uv_settings() -> dict[str, str]:
    """Return variables that give uv the indexes of pip's configuration, which uv does not read.

    Returns: The variables; empty without pip, or if variables of uv name an index.
    """
    pip = find_pip()
    if pip is None or any(
        re.fullmatch(r"UV_(DEFAULT_INDEX|INDEX.*|EXTRA_INDEX_URL|FIND_LINKS)", n) for n in os.environ
    ):
        return {}
    try:
        listed = run_tool([*pip.command, "config", "list"], Path.cwd())
    except ToolFailed:
        return {}
    configured: dict[str, str] = {}
    for key, value in re.findall(r"(?m)^(?:global|install|:env:)\.([a-z-]+)=(.+)$", listed):
        with contextlib.suppress(ValueError, SyntaxError):
            configured[key] = str(ast.literal_eval(value))
    settings = {
        "UV_DEFAULT_INDEX": configured.get("index-url", ""),
        "UV_INDEX": " ".join(configured.get("extra-index-url", "").split()),
        "UV_FIND_LINKS": ",".join(configured.get("find-links", "").split()),
        "SSL_CERT_FILE": "" if "SSL_CERT_FILE" in os.environ else configured.get("cert", ""),
        # Like pip: uv asks every index. The digests decide which file is accepted.
        "UV_INDEX_STRATEGY": "unsafe-best-match" if configured.get("extra-index-url") else "",
    }
    return {name: value for name, value in settings.items() if value}


@functools.cache
def _tool(name: str, command: tuple[str, ...]) -> Installer | None:
    """Return a tool with its version; ``None`` if it cannot be run."""
    try:
        version = re.search(r"\d+(\.\w+)+", run_tool([*command, "--version"], Path.cwd()))
    except ToolFailed:
        return None
    return Installer(name, version[0], command) if version else None
