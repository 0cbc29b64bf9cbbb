"""A pinned model as a process of its own on loopback: started when first needed, ended with the run."""

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

from memeval.local.catalogue import VOCABULARY, Kind, LocalModel
from memeval.local.weights import checked
from memeval.records.errors import BadInput, MemevalError

START_SECONDS = 600
"""Seconds within which a model must be loaded."""

MOST_STARTS = 4
"""A server that ended is started again, until it was started this often."""

_END_SECONDS = 10
_ENDING_SECONDS = 2
"""Time between the last byte of a server that ends by itself and its end, at most."""
_SPARE_BYTES = 400_000_000
"""Memory that a model needs besides its weights and its context: buffers, and Python."""
_CONTEXT_BYTES = 64_000
"""Memory for a token of context, more than the models here need."""
_LINES = 20
"""Last lines of a server's output that are kept for the message if it fails."""


class ServerEnded(MemevalError):
    """A model cannot be served: it does not load, or its server ended too often."""


class LocalServer:
    """Serves a model at an OpenAI-compatible address on 127.0.0.1; use it as a context manager.

    Nothing is started before :meth:`address` is called, from any thread. The process ends with this one, however that
    ends: it waits for the end of its standard input.

    ``port``: the port; 0 for a free one. ``open_to_all``: whether it needs no key.
    """

    def __init__(self, model: LocalModel, *, port: int = 0, open_to_all: bool = False) -> None:
        self.model = model
        self.key = None if open_to_all else secrets.token_urlsafe(24)
        """The key that requests must carry, so that no other program can change its state; ``None`` for none."""
        self._port = port
        self._guard = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._address = ""
        self._starts = 0
        self._closed = False
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._last_lines: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def address(self) -> str:
        """Return the base URL, after starting the server if it does not run.

        Raises BadInput: the weights are not here, or are others. ServerEnded: it does not start, or ended too often.
        """
        with self._guard:
            if self._process is None or self._process.poll() is not None:
                self._start()
            return self._address

    def runs(self) -> bool:
        with self._guard:
            return self._process is not None and self._process.poll() is None

    def broke(self) -> None:
        process = self._process
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_ENDING_SECONDS)

    def close(self) -> None:
        with self._guard:
            self._closed = True
            self._end()

    def _start(self) -> None:
        if self._closed:
            raise ServerEnded(f"the server of '{self.model.name}' is closed.")
        if self._starts >= MOST_STARTS:
            raise ServerEnded(
                f"the server of '{self.model.name}' ended {self._starts} times, the last time {self._ending()}.",
                remedy="Free memory, or choose a smaller model. Progress is saved: run the same command to resume.",
            )
        self._end()
        path = checked(self.model)
        _check_memory(self.model)
        self._starts += 1
        self._folder = tempfile.TemporaryDirectory(prefix="memeval-model-")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "memeval.local.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=engine_environment(),
        )
        process = self._process
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None  # noqa: S101
        self._last_lines = []
        threading.Thread(target=self._keep_lines, args=(process.stderr, self._last_lines), daemon=True).start()
        late = threading.Timer(START_SECONDS, process.kill)
        late.daemon = True
        late.start()
        try:
            process.stdin.write(json.dumps(self._settings(path)) + "\n")
            process.stdin.flush()
            said = json.loads(process.stdout.readline() or "{}")
        except (OSError, ValueError):
            said = {}
        finally:
            late.cancel()
        if "address" not in said:
            reason = said.get("error") or f"The process ended {self._ending()}{self._quoted()}."
            self._end()
            raise ServerEnded(f"the local model '{self.model.name}' does not start. {reason}")
        self._address = f"{said['address']}/v1"

    def _settings(self, path: Path) -> dict[str, Any]:
        assert self._folder is not None  # noqa: S101 - made before
        fields = ("name", "kind", "context", "batch", "threads", "longest_answer")
        settings = {name: getattr(self.model, name) for name in fields}
        return settings | {
            "path": str(path),
            "vocabulary": str(VOCABULARY),
            "folder": self._folder.name,
            "port": self._port,
            "key": self.key,
        }

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                with suppress(OSError):
                    process.stdin.close()
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _ending(self) -> str:
        if self._process is None:
            return "without a reason"
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return "without a reason"
        if code == -signal.SIGKILL:
            return "by signal 9, as the system ends processes when memory runs out"
        return f"by signal {-code}" if code < 0 else f"with code {code}"

    def _quoted(self) -> str:
        return f": {' '.join(self._last_lines[-1].split())[:300]}" if self._last_lines else ""

    @staticmethod
    def _keep_lines(stream: IO[str], lines: list[str]) -> None:
        try:
            for line in stream:
                if line.strip():
                    lines.append(line)
                    del lines[:-_LINES]
        except ValueError:  # closed
            pass


def engine_environment() -> dict[str, str]:
    """Return the environment of an engine's process.

    Threads that wait by turning take the processor from the others: five times slower on a busy machine.
    """
    return os.environ | {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}


def memory_needed(model: LocalModel) -> int:
    """Return the bytes of memory that serving a model needs, about."""
    context = model.context * _CONTEXT_BYTES if model.kind is Kind.CHAT else 0
    return model.bytes + context + _SPARE_BYTES


def _check_memory(model: LocalModel) -> None:
    """Raise BadInput if the machine has too little memory free, where it says how much it has."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return
    if free < (needed := memory_needed(model)):
        raise BadInput(
            f"'{model.name}' needs about {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free.",
            remedy="End other programs, or choose a smaller model: memeval model list",
        )
