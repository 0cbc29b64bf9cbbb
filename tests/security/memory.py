"""What is in the memory of a live process (Linux only)."""

from collections.abc import Iterable
from pathlib import Path

CHUNK = 1 << 20


def memory_holds(pid: int, needles: Iterable[bytes]) -> set[bytes]:
    """Return those of ``needles`` that stand anywhere in a process's readable memory.

    Args:
        pid: a process of the caller's own.
        needles: what to look for, byte for byte; text may lie there in UTF-8 or as 1, 2 or 4 bytes a character, so
            :func:`in_memory` gives what to look for.

    Raises:
        OSError: the process is gone, or its memory may not be read.
    """
    wanted = {needle for needle in needles if needle}
    overlap = max(map(len, wanted), default=1) - 1
    found: set[bytes] = set()
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for start, end in readable_ranges(pid):
            held = b""
            for place in range(start, end, CHUNK):
                try:
                    memory.seek(place)
                    data = held + memory.read(min(CHUNK, end - place))
                except (OSError, ValueError):
                    break  # Such as [vvar]: listed as readable, but not to be read from outside.
                found |= {needle for needle in wanted - found if needle in data}
                held = data[-overlap:] if overlap else b""
    return found


def readable_ranges(pid: int) -> list[tuple[int, int]]:
    """Return the address ranges of a process that can be read, first address and the one after the last."""
    ranges = []
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        addresses, mode = line.split()[:2]
        if mode.startswith("r"):
            start, end = addresses.split("-")
            ranges.append((int(start, 16), int(end, 16)))
    return ranges


def in_memory(text: str) -> set[bytes]:
    """Return the forms in which CPython, or JSON on its way, holds a text."""
    forms = {text.encode("utf-8"), text.encode("utf-16-le"), text.encode("utf-32-le")}
    forms.add(text.encode("ascii", "backslashreplace"))
    return forms
