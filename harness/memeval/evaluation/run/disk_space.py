"""Warns if the disk has too little space for the histories that a system ingests."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence


def disk_space_warning(history_bytes: Sequence[int] | None, concurrency: int) -> str | None:
    """Return a warning if a system that stores its histories may run out of disk space; ``None`` otherwise.

    Args:
        history_bytes: size of each history in bytes; ``None`` if they are short.
        concurrency: number of histories that are ingested at the same time.
    """
    longest = sorted(history_bytes or (), reverse=True)[:concurrency]
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    if sum(longest) <= free:
        return None
    return (
        f"A system that stores everything it ingests needs {sum(longest):,} bytes, "
        f"but {folder} has {free:,} bytes free. Free some space, or set TMPDIR to another folder."
    )
