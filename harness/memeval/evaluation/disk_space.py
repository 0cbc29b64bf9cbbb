"""Whether there is room on disk for what a system is about to take in."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence


def disk_space_warning(history_bytes: Sequence[int] | None, concurrency: int) -> str | None:
    """Return a sentence where a system that keeps all that it takes in may run out of disk; ``None`` where it will not.

    Args:
        history_bytes: bytes of each history; ``None`` where they are short.
        concurrency: how many histories are taken in at once.
    """
    longest = sorted(history_bytes or (), reverse=True)[:concurrency]
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    if sum(longest) <= free:
        return None
    return (
        f"A system that keeps all it takes in needs {sum(longest):,} bytes, and {folder} has room for {free:,}: "
        "make room, or set TMPDIR to another folder."
    )
