"""Other projects' own readers and validators, each installed apart, for what memeval writes for them.

They are no dependencies of the project: inspect-ai wants another botocore than boto3 does, every-eval-ever says that it
wants a newer Python (its validator does without), and pyarrow is 170 MB that one optional format needs. A test asks for
one, and it is installed into ``build/cache`` the first time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memeval.storage import locked

CACHE = Path(__file__).parents[2] / "build" / "cache" / "upstream"

INSPECT = ("inspect-ai==0.3.285",)
EEE = ("every-eval-ever==0.3.0", "--no-deps", "--python-version", "3.12")
PYARROW = ("pyarrow==26.0.1", "--no-deps")


def installed(what: tuple[str, ...]) -> Path:
    """Return the folder of an installed package; skip the test where it cannot be had.

    Args:
        what: the package with its version, and options of the installer.
    """
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

    Args:
        what: see :func:`installed`.
        arguments: of the interpreter.
        folder: where it runs.
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
