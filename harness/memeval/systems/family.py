"""Finds, limits and kills all processes of a system. Linux only; elsewhere it finds none."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from memeval.records.submission import Resources

CHECK_SECONDS = 0.25

PAUSE_FACTOR = 50
"""The pause after a check is at least this many times its CPU time, so that checks cost little."""

OWN_PROCESSES = 3
"""Processes of memeval in a sandbox, which do not count as the system's."""

PAGE = os.sysconf("SC_PAGE_SIZE")


class Process(NamedTuple):
    pid: int
    parent: int
    threads: int
    resident: int
    """Memory in bytes, shared memory included."""
    started: int
    """When it started, in clock ticks since the machine did."""


def processes() -> dict[int, Process]:
    found = {}
    for pid in _ids():
        # Read one small file per process: a library for that takes several times as long.
        fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        if fields and fields[0] not in (b"Z", b"X"):
            found[pid] = Process(pid, int(fields[1]), int(fields[17]), int(fields[21]) * PAGE, int(fields[19]))
    return found


def family(pid: int, running: Mapping[int, Process]) -> list[Process]:
    children: dict[int, list[int]] = {}
    for member in running.values():
        children.setdefault(member.parent, []).append(member.pid)
    found, next_ones = [], [pid]
    while next_ones:
        one = next_ones.pop()
        if one in running:
            found.append(running[one])
        next_ones += children.get(one, ())
    return found


def handles(pid: int, number: int) -> bool:
    """Whether a process has its own handler for a signal; false if unknown."""
    for row in _read(f"/proc/{pid}/status").splitlines():
        name, _, mask = row.partition(b":")
        if name == b"SigCgt":
            return bool(int(mask, 16) >> (number - 1) & 1)
    return False


def memory_of(members: Iterable[Process]) -> int:
    """Return the memory of processes in bytes: shared memory counts once, file-backed memory not at all."""
    total = 0
    for member in members:
        rows = (row.split() for row in _read(f"/proc/{member.pid}/smaps_rollup").splitlines())
        own = [int(row[1]) for row in rows if row[0] in (b"Pss_Anon:", b"Pss_Shmem:")]
        total += sum(own) * 1024 if own else member.resident
    return total


def marked(pid: int, mark: str) -> set[int]:
    """Return the ids of a process, its descendants, and all processes with ``mark`` in their environment.

    A detached process, with another session and parent, can be found by its environment only. That of an older process
    is not read. ``mark``: ``NAME=value``; blank for none.
    """
    own = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    since = int(own[19]) if own else 0
    running = processes()
    found = {member.pid for member in family(pid, running)}
    if mark:
        variable = f"\0{mark}\0".encode()
        later = (other.pid for other in running.values() if other.started >= since)
        found |= {other for other in later if variable in b"\0" + _read(f"/proc/{other}/environ") + b"\0"}
    return found


def kill_leftovers(pid: int, mark: str) -> None:
    """Kill all processes that :func:`marked` finds."""
    for _ in range(5):  # the system may start new processes meanwhile
        strays = marked(pid, mark)
        for stray in strays:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(stray, signal.SIGKILL)
        if not strays - {pid}:
            return


class Watch:
    """Checks the resource use of all systems regularly, in one thread."""

    def __init__(self) -> None:
        self._watched: dict[int, tuple[Resources, Callable[[str], None]]] = {}
        self._changed = threading.Condition()
        self._runs = False

    def add(self, pid: int, resources: Resources, on_excess: Callable[[str], None]) -> None:
        """Watch a process and its descendants.

        ``on_excess``: called once, from the watching thread, with the exceeded limit in words.
        """
        with self._changed:
            self._watched[pid] = resources, on_excess
            self._changed.notify()
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._run, name="memeval-system-watch", daemon=True).start()

    def drop(self, pid: int) -> None:
        """Stop watching a process. Call it before the process is reaped."""
        with self._changed:
            self._watched.pop(pid, None)

    def _run(self) -> None:
        pause = CHECK_SECONDS
        while True:
            time.sleep(pause)
            with self._changed:
                while not self._watched:
                    self._changed.wait()
            began = time.thread_time()
            self._check()
            pause = max(CHECK_SECONDS, PAUSE_FACTOR * (time.thread_time() - began))

    def _check(self) -> None:
        running = processes()
        with self._changed:
            for pid, (resources, on_excess) in list(self._watched.items()):
                excess = excess_of(family(pid, running), resources)
                if excess:
                    del self._watched[pid]
                    on_excess(excess)


def excess_of(members: list[Process], resources: Resources) -> str:
    """Return the limit that processes exceed, in words; blank if none."""
    if sum(member.threads for member in members) > resources.processes + OWN_PROCESSES:
        return f"it ran more than {resources.processes} processes and threads at once"
    most = resources.memory_mb << 20
    if sum(member.resident for member in members) > most and memory_of(members) > most:
        return f"it used more than {resources.memory_mb} MiB of memory"
    return ""


def _ids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    except OSError:
        return []


def _read(path: str) -> bytes:
    """Return the content of a small file; empty if it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 1 << 17)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


WATCH = Watch()
