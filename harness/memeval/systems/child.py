"""The process a system runs in: its folder, its environment, its group, and its end."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memeval.records.errors import BadInput
from memeval.records.submission import Resources, Service
from memeval.storage import unwritable
from memeval.systems.channel import Channel, has_ended
from memeval.systems.output import Log, OutputReader

WORKER = Path(__file__).with_name("worker.py")

HASH_SEED = 42
"""``PYTHONHASHSEED`` of every system, as DeepMemEval asks."""

ENDING_SECONDS = 1.0
"""How long a process may take to end by itself once it was asked to."""


@dataclass(frozen=True)
class Launch:
    """How a system's process is started."""

    file: Path
    """The adapter file: the system's own, or the shipped driver that speaks to its server."""
    class_name: str | None = None
    """The class to load; ``None`` takes the first that fits, as upstream does."""
    interpreter: Path = field(default_factory=lambda: Path(sys.executable))
    """The Python to run it with."""
    own_interpreter: bool = True
    """Whether that is memeval's own Python: its installed packages are then out of sight."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Keyword arguments of the class, plain JSON data."""
    program: tuple[str, ...] = ()
    """A command that speaks memeval's lines by itself, run in place of the worker; blank for a Python class."""
    folder: Path | None = None
    """The submission's folder: what the system sees of its own files, and where a command starts."""
    shown: tuple[Path, ...] = ()
    """Further folders that the system may read under the sandbox: its environment, say."""
    path: tuple[Path, ...] = ()
    """Folders of programs that stand before the system's own in ``PATH``."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that the submission asks for."""
    resources: Resources = field(default_factory=Resources)
    """What it may use."""
    services: tuple[Service, ...] = ()
    """Services that are started beside it."""

    def command(self, worker: Path) -> list[str]:
        """Return the command that runs the copy of the worker at ``worker``.

        ``-I`` and ``-E`` would keep more out, but void ``PYTHONHASHSEED`` too.
        """
        flags = ["-P", "-B", "-S"] if self.own_interpreter else ["-B"]
        return [str(self.interpreter), *flags, str(worker)]


class Child:
    """A running worker: started by the constructor, gone without a trace after :meth:`end`.

    Args:
        launch: how to start it.
        line_limit: the longest line it may write, in bytes.
        log: takes what it prints, line by line, from another thread.
        environment: variables it gets, besides those that every system gets.

    Raises:
        BadInput: the interpreter cannot be run.
    """

    def __init__(self, launch: Launch, line_limit: int, log: Log, environment: Mapping[str, str] = {}) -> None:
        _close_memory()
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="system-"))
        except OSError as error:
            raise unwritable(Path(tempfile.gettempdir()), error) from None
        try:
            worker = _copied(WORKER, self._folder / "worker.py")
            ours, theirs = _pipes()
            try:
                self._process = subprocess.Popen(
                    launch.command(worker),
                    stdin=theirs[0],
                    stdout=theirs[1],
                    stderr=theirs[2],
                    cwd=self._folder,
                    env={**environment, **_environment(self._folder)},
                    start_new_session=True,
                )
            except OSError as error:
                for descriptor in ours:
                    os.close(descriptor)
                raise BadInput(
                    f"the system's Python cannot be run ({error.strerror}).", where=launch.interpreter
                ) from None
            finally:
                for descriptor in theirs:
                    os.close(descriptor)
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self.pid = self._process.pid
        self._pipe_ends = ours[:2]
        self._output = OutputReader(ours[2], log)
        self._output.start()
        self.channel = Channel(self.pid, ours[0], ours[1], line_limit)
        _end_with_memeval(self)

    @property
    def folder(self) -> Path:
        """The private folder."""
        return self._folder

    @property
    def last_line(self) -> str:
        """The last line that was printed."""
        return self._output.last_line

    def ends_by_itself(self) -> bool:
        """Wait a moment for the process to end by itself; return whether it did."""
        deadline = time.monotonic() + ENDING_SECONDS
        while not (ended := has_ended(self.pid)) and time.monotonic() < deadline:
            time.sleep(0.002)
        return ended

    def kill(self) -> None:
        """Kill the process and all in its group. While it is not reaped, nobody else can have its id."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def end(self) -> int:
        """Kill the group, reap the process, delete the folder; return the exit code, negative for a signal."""
        self.kill()
        code = self._process.wait()
        ends, self._pipe_ends = self._pipe_ends, ()
        for descriptor in ends:
            os.close(descriptor)
        self._output.join(ENDING_SECONDS)
        shutil.rmtree(self._folder, ignore_errors=True)
        _LIVE.discard(self)
        return code


def _copied(file: Path, to: Path) -> Path:
    """Copy a file, and return where it lies now.

    Raises:
        BadInput: the disk is full.
    """
    try:
        return Path(shutil.copyfile(file, to))
    except OSError as error:
        raise unwritable(to, error) from None


def _pipes() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return memeval's ends and the child's ends of three pipes: to the child, from it, and what it prints."""
    child_in, to_child = os.pipe()
    from_child, child_out = os.pipe()
    printed, child_print = os.pipe()
    return (to_child, from_child, printed), (child_in, child_out, child_print)


def _environment(folder: Path) -> dict[str, str]:
    return {
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": str(HASH_SEED),
        "PYTHONUTF8": "1",
        "TMPDIR": str(folder),
    }


@functools.cache
def _close_memory() -> None:
    """Close memeval's own memory and environment, keys among it, to processes of the same user. Linux only.

    Root is kept out only where it has no capabilities: see ``give_up_privileges`` in the worker.
    """
    if sys.platform == "linux":
        import ctypes

        pr_set_dumpable = 4
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(pr_set_dumpable, 0, 0, 0, 0)


_LIVE: set[Child] = set()


def _end_with_memeval(child: Child) -> None:
    """See to it that a child ends with memeval, even where nobody closed it."""
    if not _LIVE:
        atexit.unregister(_end_all)
        atexit.register(_end_all)
    _LIVE.add(child)


def _end_all() -> None:
    for child in list(_LIVE):
        child.end()
