"""Other people's programs, installed only for tests with the marker ``products``: `make test-products` runs these.

They are the packages of submissions (1.5 GB), and the readers and validators of formats that memeval writes. The
latter are no dependencies of the project: inspect-ai wants another botocore than boto3 does, every-eval-ever says that
it wants a newer Python (its validator does without), and pyarrow is 170 MB that one optional format needs.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from memeval.records.submission import Submission
from memeval.storage import locked
from memeval.systems.environments import Environment, environment_for
from memeval.systems.source import find_system

ROOT = Path(__file__).parents[2]
SUBMISSIONS = ROOT / "submissions"
PIN = re.compile(r"([A-Za-z0-9._-]+)==(\S+)(?: ;.*?)?(?: --hash=sha256:[0-9a-f]{64})+")
CACHE = ROOT / "build" / "cache" / "upstream"

INSPECT = ("inspect-ai==0.3.285",)
EEE = ("every-eval-ever==0.3.0", "--no-deps", "--python-version", "3.12")
PYARROW = ("pyarrow==26.0.1", "--no-deps")


LOAD_ADAPTER = """
import importlib.util, json, sys
sys.path.insert(0, sys.argv[1].rpartition("/")[0])
spec = importlib.util.spec_from_file_location("adapter", sys.argv[1])
adapter = importlib.util.module_from_spec(spec)
spec.loader.exec_module(adapter)
"""
"""How a script for :func:`drive` begins that needs the submission's adapter."""


class _Running:
    marked = True
    """Outside of tests, whoever asks for a product may have it."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    _Running.marked = item.get_closest_marker("products") is not None


def _check_marked(name: str) -> None:
    if not _Running.marked:
        pytest.fail(f"this test needs {name}: mark it with pytest.mark.products, so that `make test` does without.")


def product(slug: str) -> Environment:
    """Return the environment of a submission, built from its lock file unless that was done before."""
    _check_marked(slug)
    folder = SUBMISSIONS / slug
    entry = folder / "adapter.py"
    environment = environment_for(folder, entry if entry.is_file() else None, note=lambda _: None)
    assert environment is not None
    return environment


def submission_of(slug: str) -> Submission:
    """Return the description of a shipped submission."""
    found = find_system(slug, SUBMISSIONS).submission
    assert found is not None
    return found


def adapter_of(folder: Path) -> ModuleType:
    """Return the adapter of a submission that needs no package, imported here."""
    spec = importlib.util.spec_from_file_location(folder.name.replace("-", "_"), folder / "adapter.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pins(slug: str) -> dict[str, str]:
    """Return the version of each package in the lock of a submission; every one has to have digests."""
    text = (SUBMISSIONS / slug / "requirements.lock").read_text("utf-8").replace("\\\n", " ")
    lines = [" ".join(line.split()) for line in text.splitlines() if line and not line.startswith("#")]
    found = [PIN.fullmatch(line) for line in lines]
    assert [line for line, match in zip(lines, found, strict=True) if match is None] == []
    return {match[1]: match[2] for match in found if match}


def drive(slug: str, script: str, *arguments: str, told: Any = None) -> Any:
    """Run a script in the environment of a submission, and return the JSON that it prints.

    Args:
        slug: the submission; the path of its adapter is the script's first argument.
        script: the Python code.
        arguments: its other arguments.
        told: what it reads from its standard input, as JSON.
    """
    python = product(slug).python
    assert python is not None
    command = [str(python), "-c", script, str(SUBMISSIONS / slug / "adapter.py"), *arguments]
    done = subprocess.run(command, input=json.dumps(told), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def installed(what: tuple[str, ...]) -> Path:
    """Return the folder of an installed package; skip the test where it cannot be had.

    ``what``: the package with its version, and options of the installer.
    """
    _check_marked(what[0])
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = CACHE / what[0]
    with locked(CACHE):
        done = folder / ".done"
        if not done.exists():
            command = [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", sys.executable]
            command += ["--target", str(folder), "--only-binary", ":all:", *what]
            made = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
            if made.returncode:
                pytest.skip(f"{what[0]} cannot be installed: {made.stderr[-500:]}")
            done.touch()
    return folder


def run_with(what: tuple[str, ...], *arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run Python with a package at hand.

    ``what``: see :func:`installed`. ``arguments``: of the interpreter. ``folder``: where it runs.
    """
    environment = {**os.environ, "PYTHONPATH": str(installed(what))}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def inspect_says(*logs: Path) -> list[dict[str, Any]]:
    """Return what Inspect reads in logs; see ``read_inspect_logs.py``."""
    done = run_with(INSPECT, str(Path(__file__).with_name("read_inspect_logs.py")), *map(str, logs))
    assert done.returncode == 0, done.stderr[-2000:]
    said: list[dict[str, Any]] = json.loads(done.stdout)
    return said
