"""``memeval`` as its users start it: a process of its own, with no key and no endpoint but those a test gives it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.request import urlopen

ROOT = Path(__file__).parents[2]
OURS = ("OPENAI_", "MEMEVAL_JUDGE_", "MEMEVAL_READER_", "MEMEVAL_MODEL_", "MEMEVAL_RESULTS", "ANTHROPIC_")


@dataclass(frozen=True)
class Said:
    """How a process ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def folder(self) -> Path:
        """The one folder that it printed."""
        (line,) = self.out.splitlines()
        return Path(line)


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment without what names models, and with ``more``."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return kept | {"PYTHONPATH": str(ROOT)} | dict(more)


def start(*words: str, where: Path, **variables: str) -> subprocess.Popen[str]:
    """Start ``memeval`` in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "memeval", *words],
        cwd=where,
        env=environment(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str], timeout: float = 120) -> Said:
    """Wait for a process that :func:`start` began."""
    with process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert "Traceback" not in err, err
    return Said(process.returncode, out, err)


def memeval(*words: str, where: Path, **variables: str) -> Said:
    """Call ``memeval`` in a folder and wait for it; ``variables`` are added to its environment."""
    return ended(start(*words, where=where, **variables))


class ServerProcess:
    """A model server in a process of its own, which can be killed; see :mod:`tests.support.model_server`.

    Args:
        words: options of the server.
    """

    def __init__(self, *words: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.model_server", *words],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()

    @property
    def port(self) -> str:
        """Where it listens."""
        return self.url.rpartition(":")[2].partition("/")[0]

    def seen(self) -> dict[str, Any]:
        """Return what the server has counted."""
        with urlopen(f"http://127.0.0.1:{self.port}/seen", timeout=10) as reply:
            counts: dict[str, Any] = json.load(reply)
            return counts

    def kill(self) -> None:
        """End it without a word."""
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(ProcessLookupError):
            self.kill()
        assert self._process.stdout is not None
        self._process.stdout.close()
