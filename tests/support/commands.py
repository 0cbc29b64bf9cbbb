"""``memeval`` as its users start it: a process of its own, with no key and no endpoint but those a test gives it.

A fresh Python spends a second or two on imports before it does anything. So processes are forked here from one that
has imported everything already, and has done nothing else; that ``python -m memeval`` starts is tested elsewhere.
"""

import atexit
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self
from urllib.request import urlopen

from tests.support.calling import Said

ROOT = Path(__file__).parents[2]
OURS = (
    "OPENAI_",
    "MEMEVAL_JUDGE_",
    "MEMEVAL_READER_",
    "MEMEVAL_MODEL_",
    "MEMEVAL_RESULTS",
    "MEMEVAL_SIGN",
    "ANTHROPIC_",
)
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.support.preloaded"])


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment without what names models, and with ``more``."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return kept | {"PYTHONPATH": str(ROOT)} | dict(more)


class Started:
    """A ``memeval`` that runs in a folder."""

    def __init__(self, words: tuple[str, ...], where: Path, variables: dict[str, str]) -> None:
        self._said = tempfile.TemporaryDirectory(prefix="memeval-said-")
        self._process = FORKS.Process(target=_run, args=(words, where, variables, self._said.name))
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float = 240) -> int:
        """Return its exit code once it has ended; kill it where that takes longer than ``timeout`` seconds."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            self.kill()
            raise subprocess.TimeoutExpired("memeval", timeout)
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def interrupt(self) -> None:
        os.kill(self.pid, signal.SIGINT)

    def said(self) -> Said:
        code = self.wait()
        out, err = ((Path(self._said.name) / name).read_text(encoding="utf-8") for name in ("out", "err"))
        self._said.cleanup()
        assert "Traceback" not in err, err
        return Said(code, out, err)


def _run(words: tuple[str, ...], where: Path, variables: dict[str, str], said: str) -> None:
    os.environ.clear()
    os.environ.update(variables)
    for number, (name, how) in enumerate(((os.devnull, "r"), ("out", "w"), ("err", "w"))):
        with Path(said, name).open(how) as file:
            os.dup2(file.fileno(), number)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w", errors="backslashreplace")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and so would this
    os.chdir(where)
    sys.argv = ["memeval", *words]
    from memeval.__main__ import main

    try:
        main()
    finally:
        atexit._run_exitfuncs()


def start(*words: str, where: Path, **variables: str) -> Started:
    """Start ``memeval`` in a folder; ``variables`` are added to its environment."""
    return Started(words, where, environment(variables))


def memeval(*words: str, where: Path, **variables: str) -> Said:
    return start(*words, where=where, **variables).said()


class ServerProcess:
    """A model server in a process of its own, which can be killed; see :mod:`tests.support.model_server`."""

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
        return self.url.rpartition(":")[2].partition("/")[0]

    def seen(self) -> dict[str, Any]:
        with urlopen(f"http://127.0.0.1:{self.port}/seen", timeout=10) as reply:
            counts: dict[str, Any] = json.load(reply)
            return counts

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.kill()
        assert self._process.stdout is not None
        self._process.stdout.close()
