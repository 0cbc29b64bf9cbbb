"""All processes of a system together: what they use, and which of them are left (Linux; elsewhere none are seen)."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from memeval.records.submission import Resources

LOOK_SECONDS = 0.25
"""How often it is looked what systems use."""

LOOK_SHARE = 50
"""A look that takes long is followed by a pause so many times as long, so that looking costs next to nothing."""

OWN_PROCESSES = 3
"""Processes of memeval's own in a sandbox, which are not the system's."""

PAGE = os.sysconf("SC_PAGE_SIZE")


class Process(NamedTuple):
    """One process."""

    pid: int
    parent: int
    threads: int
    resident: int
    """Memory in bytes, shared memory included."""


def processes() -> dict[int, Process]:
    """Return all processes of the machine."""
    found = {}
    for pid in _ids():
        # One small file each: a library that looks at processes one by one takes several times as long.
        told = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        if told and told[0] not in (b"Z", b"X"):
            found[pid] = Process(pid, int(told[1]), int(told[17]), int(told[21]) * PAGE)
    return found


def family(pid: int, everybody: Mapping[int, Process]) -> list[Process]:
    """Return a process, where it lives, and all that descend from it."""
    children: dict[int, list[int]] = {}
    for member in everybody.values():
        children.setdefault(member.parent, []).append(member.pid)
    found, next_ones = [], [pid]
    while next_ones:
        one = next_ones.pop()
        if one in everybody:
            found.append(everybody[one])
        next_ones += children.get(one, ())
    return found


def handles(pid: int, number: int) -> bool:
    """Whether a process has a handler of its own for a signal; false where that cannot be seen."""
    for row in _read(f"/proc/{pid}/status").splitlines():
        name, _, mask = row.partition(b":")
        if name == b"SigCgt":
            return bool(int(mask, 16) >> (number - 1) & 1)
    return False


def memory_of(members: Iterable[Process]) -> int:
    """Return the memory of processes in bytes, with what they share counted once and files of the disk not at all."""
    total = 0
    for member in members:
        rows = (row.split() for row in _read(f"/proc/{member.pid}/smaps_rollup").splitlines())
        own = [int(row[1]) for row in rows if row[0] in (b"Pss_Anon:", b"Pss_Shmem:")]
        total += sum(own) * 1024 if own else member.resident
    return total


def kill_leftovers(pid: int, mark: str) -> None:
    """Kill all that descend from a process, itself included, and all whose environment holds ``mark``.

    A process that gave itself a session and a parent of its own is known by its environment only.
    """
    for _ in range(5):  # as many as it takes a system that starts new ones meanwhile, within reason
        everybody = processes()
        held = f"\0{mark}\0".encode()
        strays = {member.pid for member in family(pid, everybody)}
        strays |= {other for other in everybody if held in b"\0" + _read(f"/proc/{other}/environ") + b"\0"}
        for stray in strays:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(stray, signal.SIGKILL)
        if not strays - {pid}:
            return


class Watch:
    """Looks now and then at what systems use, from one thread for all of them."""

    def __init__(self) -> None:
        self._watched: dict[int, tuple[Resources, Callable[[str], None]]] = {}
        self._changed = threading.Condition()
        self._runs = False

    def add(self, pid: int, resources: Resources, beyond: Callable[[str], None]) -> None:
        """Watch a process and its descendants.

        Args:
            pid: the process.
            resources: what all of them may use together.
            beyond: told, once, what they used more of, from the watching thread.
        """
        with self._changed:
            self._watched[pid] = resources, beyond
            self._changed.notify()
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._run, name="memeval-system-watch", daemon=True).start()

    def drop(self, pid: int) -> None:
        """Watch a process no longer: called before it is reaped."""
        with self._changed:
            self._watched.pop(pid, None)

    def _run(self) -> None:
        pause = LOOK_SECONDS
        while True:
            time.sleep(pause)
            with self._changed:
                while not self._watched:
                    self._changed.wait()
            began = time.thread_time()
            self._look()
            pause = max(LOOK_SECONDS, LOOK_SHARE * (time.thread_time() - began))

    def _look(self) -> None:
        everybody = processes()
        with self._changed:
            for pid, (resources, beyond) in list(self._watched.items()):
                excess = excess_of(family(pid, everybody), resources)
                if excess:
                    del self._watched[pid]
                    beyond(excess)


def excess_of(members: list[Process], resources: Resources) -> str:
    """Return what processes use more of than they may, in words; blank where they keep to it."""
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
    """Return a small file, empty where it cannot be read."""
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
"""The watch over all systems of this process."""
