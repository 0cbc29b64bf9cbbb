"""Checks and regrades many stored runs, in several processes, a few runs on the same data at a time."""

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Protocol

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.evaluation.verify.checks.subject import Sessions
from memeval.evaluation.verify.findings import Check
from memeval.evaluation.verify.reproduce import Reproduction, reproduce_run
from memeval.evaluation.verify.verification import checks_of_run
from memeval.processes import cores, in_order, without_garbage_collection
from memeval.records.base import canonical_json
from memeval.records.errors import MemevalError
from memeval.records.response import Response
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
    data: str
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
    return [place for batch in share for place in batch.places]


def _size(path: Path) -> int:
    with contextlib.suppress(OSError):
        return sum(file.stat().st_size for file in path.iterdir())
    return 0


Read = Callable[[RunFolder, Sequence[Response]], bytes]


class RowsReader(Protocol):
    """Someone who needs the responses of runs too, which are read only once."""

    @staticmethod
    def read(folder: RunFolder, responses: Sequence[Response]) -> bytes:
        """Return what is needed of a run's responses. Called where they are read, perhaps in another process."""

    def keep(self, folder: RunFolder, found: bytes) -> None:
        """Keep what :meth:`read` returned. Called in this process, in any order of the runs."""


def checked_runs(folders: Sequence[RunFolder], reader: RowsReader | None = None, jobs: int = 1) -> list[list[Check]]:
    """Check stored runs; see :func:`checks_of_run`.

    Returns the checks of each run, in the order of the runs, whatever the number of processes. Raises ``CheckFailed``
    if a process was killed.
    """
    shares = shares_of(batches_of(folders), jobs)
    work = partial(_checked, read=None if reader is None else type(reader).read)
    found: dict[int, list[Check]] = {}
    try:
        for share, checked in zip(shares, in_order(work, shares, jobs), strict=True):
            for place, (checks, needed) in zip(places_of(share), checked, strict=True):
                found[place] = checks
                if reader is not None and needed is not None:
                    reader.keep(folders[place], needed)
    finally:
        _sessions.cache_clear()
    return [found[place] for place in range(len(folders))]


def _checked(share: Workload, read: Read | None) -> list[tuple[list[Check], bytes | None]]:
    """Return the checks of each run, and what a reader needs of its responses, if they can be read."""
    checked = []
    for batch in share:
        sessions = _sessions(batch.data)
        sessions.folders = [RunFolder(path) for path in batch.paths]
        checked += [_checked_run(folder, sessions, read) for folder in sessions.folders]
    return checked


def _checked_run(folder: RunFolder, sessions: Sessions, read: Read | None) -> tuple[list[Check], bytes | None]:
    made: list[bytes] = []
    with without_garbage_collection():
        checks = checks_of_run(folder, sessions, read and (lambda run, responses: made.append(read(run, responses))))
    return checks, made[0] if made else None


@lru_cache(maxsize=1)
def _sessions(_data: str) -> Sessions:
    return Sessions()


def reproduced_runs(
    folders: Sequence[RunFolder], data: Path | None = None, errata: Path | None = None, jobs: int = 1
) -> Iterator[Reproduction]:
    """Yield the result of regrading each run, in their order; see :func:`reproduce_run`.

    Runs on the same data are regraded one after another, so a result may wait for those before it. Raises ``BadInput``
    if a run cannot be read, or its data is missing; the runs before it have been yielded. Raises ``CheckFailed`` if a
    process was killed.
    """
    batches = batches_of(folders)
    first: dict[str, int] = {}
    for batch in batches:
        first[batch.data] = min(first.get(batch.data, len(folders)), *batch.places)
    batches.sort(key=lambda batch: first[batch.data])  # so that few results wait
    shares = shares_of(batches, jobs)
    made: dict[int, Reproduction | MemevalError] = {}
    following = 0
    for share, outcomes in zip(
        shares, in_order(partial(_reproduced, data=data, errata=errata), shares, jobs), strict=True
    ):
        made.update(zip(places_of(share), outcomes, strict=True))
        while following in made:
            outcome = made.pop(following)
            if isinstance(outcome, MemevalError):
                raise outcome
            yield outcome
            following += 1


def _reproduced(share: Workload, data: Path | None, errata: Path | None) -> list[Reproduction | MemevalError]:
    """Regrade the runs of a share. An error is raised when the runs before it have been yielded."""
    return [_reproduced_run(RunFolder(path), data, errata) for batch in share for path in batch.paths]


def _reproduced_run(folder: RunFolder, data: Path | None, errata: Path | None) -> Reproduction | MemevalError:
    with without_garbage_collection():
        try:
            return reproduce_run(folder, data, errata)
        except MemevalError as error:
            return error
