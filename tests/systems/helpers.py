"""Adapters written to a file, and processes that run them."""

import os
import socket
import subprocess
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memeval.records.track import Limits
from memeval.systems.child import WorkerProcess
from memeval.systems.process import SystemProcess

PATIENT = Limits(
    load_seconds=60.0,
    reset_seconds=60.0,
    take_in_seconds=60.0,
    settle_seconds=60.0,
    ask_seconds=60.0,
    reply_bytes=1_000_000,
)
"""Limits that no healthy process reaches, however busy the machine; a test of a time limit sets a shorter one."""

ADAPTER = """
import asyncio, os, signal, subprocess, sys, threading, time

class System:
    def reset(self):
        self.taken = []
    def ingest_session(self, session, timestamp):
        self.taken.append((session, timestamp))
    def query(self, question, timestamp="now"):
{query}
"""

Start = Callable[..., SystemProcess]
"""Starts a system from the body of its ``query`` or from whole source; see the fixture ``system``."""


def adapter(query: str, more: str = "") -> str:
    """Return the source of an adapter whose ``query`` has the given body, with more methods, or others of a name."""
    methods = textwrap.indent(textwrap.dedent(more), " " * 4)
    return ADAPTER.format(query=textwrap.indent(textwrap.dedent(query), " " * 8)) + methods


def write(folder: Path, source: str, name: str = "adapter.py") -> Path:
    """Write an adapter file, at one stroke: another instance may be loading it at that moment."""
    path, part = folder / name, folder / f"{name}.{threading.get_ident()}"
    part.write_text(textwrap.dedent(source), "utf-8")
    return part.replace(path)


def child_of(process: SystemProcess) -> WorkerProcess:
    assert process.child is not None
    return process.child


def session(number: int, content: str = "Uses Drone CI.") -> dict[str, Any]:
    name = f"s{number:03d}"
    return {
        "session_id": name,
        "date": "2025-01-02",
        "turns": [{"turn_id": f"{name}:t01", "role": "user", "content": content}],
    }


def sessions(count: int, content: str = "Uses Drone CI.") -> list[tuple[dict[str, Any], str]]:
    """Return sessions with their timestamps, as ``ingest`` wants them."""
    return [(session(number, content), "2025-01-02") for number in range(1, count + 1)]


@contextmanager
def elsewhere(command: Sequence[str | Path], port: int, **variables: str) -> Iterator[None]:
    """Run a server that no driver starts, from when it listens; no driver may end it either."""
    with subprocess.Popen(command, env={**os.environ, **variables}, stderr=subprocess.DEVNULL) as server:
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    assert server.poll() is None
                    time.sleep(0.05)
            yield
            assert server.poll() is None
        finally:
            server.kill()


def gone(pid: int, seconds: float = 5.0) -> bool:
    """Wait for a process to be gone (or dead and not reaped); return whether it is."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False
