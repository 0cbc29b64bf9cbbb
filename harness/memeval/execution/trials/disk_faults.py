"""The trial of a disk that is full, read-only, or has a wrong byte: does a system say so, or answer wrongly?"""

import os
import random
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from memeval.execution.trials.disks import require_mount, small_disk
from memeval.execution.trials.memory import STORED, StoredMemory, Written, drawn, sentence
from memeval.execution.trials.stage import Ground, Stage, copy_folder
from memeval.records.trials_of_disks import DiskFault, DiskTrouble, FaultObservation, FaultOutcome
from memeval.systems.errors import SystemFailure

DISK_MB = 192
"""Size of a disk in memory that gets full or read-only."""


@dataclass
class _Seen:
    """What calls showed so far."""

    started: bool = False
    missing: int = 0
    altered: int = 0
    refused: int = 0
    acknowledged: list[Written] = field(default_factory=list)
    searched: int = 0
    failed: int = 0
    """Texts that were searched for in vain because the search failed."""
    error: str | None = None

    def failure(self, failure: SystemFailure) -> None:
        self.error = self.error or sentence(failure)


def disk_fault(trial: DiskFault, stage: Stage) -> FaultObservation:
    """Run a trial, and return what was observed. Raises SystemFailure: the system failed before the fault."""
    stage.system.close()  # a process that runs by now has another folder
    old = [Written(STORED, number) for number in drawn(trial.seed, trial.stored, trial.probed)]
    if trial.trouble is DiskTrouble.FLIPPED:
        with stage.plain() as ground:
            stage.put_stored(trial.stored, ground)
            file = flip(ground.folder, trial.seed, trial.place)
            seen = _Seen()
            _search(stage, ground, old, seen)
            silent = bool(seen.missing or seen.altered) and seen.error is None
            return _observed(seen, file, None, is_silent=silent)
    require_mount()
    stage.stored(trial.stored)  # on a sound disk
    with stage.plain() as outer, small_disk(outer.folder, DISK_MB) as disk:
        try:
            return _on(disk, trial, stage, old)
        finally:
            stage.system.close()


def _on(disk: Path, trial: DiskFault, stage: Stage, old: Sequence[Written]) -> FaultObservation:
    """Run a trial on a disk in memory that gets full or read-only."""
    ground = Ground(disk / "storage")
    ground.folder.mkdir()
    copy_folder(stage.stored(trial.stored), ground.folder)
    seen, after = _Seen(), _Seen()
    with _trouble(trial.trouble, disk, stage, ground):
        memory = _search(stage, ground, old, seen)
        silent = bool(seen.missing or seen.altered) and seen.error is None
        for number in range(trial.writes if memory is not None else 0):
            written = Written(trial.seed, number)
            try:
                StoredMemory(stage.system).write(written)
                seen.acknowledged.append(written)
            except SystemFailure as failure:
                seen.refused += 1
                seen.failure(failure)
                if not stage.system.alive:
                    break
    _search(stage, ground, [*old, *seen.acknowledged], after)
    recovered = after.started and not (after.missing or after.altered or after.failed)
    seen.missing, seen.altered = max(seen.missing, after.missing), max(seen.altered, after.altered)
    seen.searched = max(seen.searched, after.searched)
    if after.error is None:  # what is missing now was stored or acknowledged, and nothing says that it is gone
        silent = silent or bool(after.missing or after.altered)
    seen.error = seen.error or after.error
    return _observed(seen, None, recovered, is_silent=silent)


@contextmanager
def _trouble(trouble: DiskTrouble, disk: Path, stage: Stage, ground: Ground) -> Iterator[None]:
    """Make a disk full or read-only for a while. It gets full after the system has started, as disks do."""
    if trouble is DiskTrouble.READ_ONLY:
        _remount(disk, "ro")
        try:
            yield
        finally:
            stage.system.close()
            _remount(disk, "rw")
        return
    stage.start(ground)
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:  # the last write of each size is cut or refused
            file.write(bytes(1 << 16))
    try:
        yield
    finally:
        stage.system.close()
        filler.unlink()


def _remount(disk: Path, mode: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{mode}", disk], check=True, capture_output=True)


def _search(stage: Stage, ground: Ground, texts: Sequence[Written], seen: _Seen) -> StoredMemory | None:
    """Start the system if it does not run, and search for texts; return the memory, ``None`` if it has ended."""
    try:
        memory = StoredMemory(stage.system) if stage.system.alive else stage.start(ground)
        seen.started = True
        stage.system.settle()
    except SystemFailure as failure:
        seen.failure(failure)
        return None
    for written in texts:
        seen.searched += 1
        try:
            found = memory.find(written)
        except SystemFailure as failure:
            seen.failed += 1
            seen.failure(failure)
            if not stage.system.alive:
                return None
            continue
        seen.altered += found.whole == 0 and found.half > 0
        seen.missing += found.whole == 0 and found.half == 0
    return memory


def flip(folder: Path, seed: int, place: float) -> str:
    """Flip a byte of a file in a folder; return ending and size of the file."""
    files = sorted(
        path for path in folder.rglob("*") if path.is_file() and not path.is_symlink() and path.stat().st_size
    )
    if not files:
        return "no file"
    file = random.Random(f"flipped/{seed}").choice(files)  # noqa: S311
    size = file.stat().st_size
    with file.open("r+b") as stream:
        stream.seek(min(size - 1, int(place * size)))
        byte = stream.read(1)
        stream.seek(-1, os.SEEK_CUR)
        stream.write(bytes([byte[0] ^ 0xFF]))
    return f"{file.suffix[:20] or 'no ending'}, {size} bytes"


def _observed(seen: _Seen, file: str | None, recovered: bool | None, *, is_silent: bool) -> FaultObservation:
    if is_silent:
        outcome = FaultOutcome.SILENT
    else:
        outcome = FaultOutcome.UNAFFECTED if seen.error is None else FaultOutcome.ERROR
    return FaultObservation(
        outcome=outcome,
        started=seen.started,
        probed=seen.searched,
        missing=seen.missing,
        altered=seen.altered,
        acknowledged=len(seen.acknowledged),
        refused=seen.refused,
        recovered=recovered,
        file=file,
        error=seen.error,
    )
