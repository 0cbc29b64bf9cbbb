"""Puts runs into batches and shares: what one process opens or generates for its runs, no other process needs."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.processes import cores
from memeval.records.base import canonical_json
from memeval.records.errors import MemevalError
from memeval.records.run import SystemKind

BATCH = 8
"""Maximum number of runs that a process checks at a time. Their data is opened once."""

SHARES = 3
"""Number of shares of each process, at least: the more, the more evenly are the processes busy."""

FEW = 16
"""Number of runs below which one process is done before others have started."""


def processes(asked: int | None, runs: int) -> int:
    """Return the number of processes for some runs: as asked, else one per core if there are many runs."""
    return asked if asked is not None else cores() if runs >= FEW else 1


@dataclass(frozen=True)
class Batch:
    """Runs on the same data."""

    data: str
    """Names the data."""
    places: tuple[int, ...]
    """Their places among all runs."""
    paths: tuple[Path, ...]


def batches_of(folders: Sequence[RunFolder]) -> list[Batch]:
    """Return the runs in batches, those on the same data one after another: each process then opens it once.

    The data with most rows comes first: a long batch at the end would leave the other processes idle.
    """
    by_data: dict[str, list[int]] = defaultdict(list)
    controls = set()
    for place, folder in enumerate(folders):
        data = ""
        with contextlib.suppress(MemevalError):
            track = folder.run.track
            data = canonical_json([track.benchmark, track.data_digest])
            find(track.benchmark)  # this process then warns of a benchmark that cannot be used
        with contextlib.suppress(MemevalError):
            if folder.run.system.kind is SystemKind.CONTROL:
                controls.add(place)
        by_data[data].append(place)
    groups: list[tuple[int, list[Batch]]] = []
    for data, places in by_data.items():
        # Controls side by side: each long history is then generated once for all of them.
        places.sort(key=lambda place: place not in controls)
        cut = [tuple(places[start : start + BATCH]) for start in range(0, len(places), BATCH)]
        batches = [Batch(data, some, tuple(folders[place].path for place in some)) for some in cut]
        groups.append((sum(_size(path) for batch in batches for path in batch.paths), batches))
    groups.sort(key=lambda group: -group[0])
    return [batch for _, batches in groups for batch in batches]


Workload = tuple[Batch, ...]
"""Batches of the same data, for one process."""


def shares_of(batches: Sequence[Batch], jobs: int) -> list[Workload]:
    """Return the batches in shares, in the same order: what one process opens or generates, no other one needs.

    Only data with very many rows is shared by several processes, so that none works much longer than the others.

    Args:
        batches: see :func:`batches_of`.
    """
    if jobs == 1:
        return [(batch,) for batch in batches]
    sizes = [sum(map(_size, batch.paths)) for batch in batches]
    most = sum(sizes) / (jobs * SHARES)
    shares: list[list[Batch]] = []
    left = 0.0
    for batch, size in zip(batches, sizes, strict=True):
        if shares and shares[-1][-1].data == batch.data and size <= left:
            shares[-1].append(batch)
        else:
            shares.append([batch])
            left = most
        left -= size
    return [tuple(share) for share in shares]


def places_of(share: Workload) -> list[int]:
    """Return the places of a share's runs among all runs."""
    return [place for batch in share for place in batch.places]


def _size(path: Path) -> int:
    """Return the bytes of a run's files."""
    with contextlib.suppress(OSError):
        return sum(file.stat().st_size for file in path.iterdir())
    return 0
