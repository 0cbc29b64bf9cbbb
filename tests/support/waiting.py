"""Waiting for what other processes and threads do."""

import time
from collections.abc import Callable
from pathlib import Path


def wait_until(holds: Callable[[], object], seconds: float = 60) -> None:
    """Wait until something holds; fail if it does not hold after so many seconds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"it does not hold after {seconds:g} s"
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    """Return whether a process is there and has not ended, on Linux."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
