"""The trial of growth: a store is measured at several sizes, in turn with SQLite on the same machine."""

import math
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

from memeval.execution.trials.memory import StoredMemory, Written, drawn, sentence
from memeval.execution.trials.stage import Stage
from memeval.records.trials_of_use import Growth, GrowthObservation, Point
from memeval.systems.child import Launch
from memeval.systems.errors import SystemFailure
from memeval.systems.family import family, memory_of, processes
from memeval.systems.process import SystemProcess

CONTROL = Launch(Path(__file__).with_name("sqlite_store.py"), "SqliteStore", stores=True)
"""SQLite with full-text search, in a process like that of the system."""

MEASURED = 20
"""The number of last writes, and of searches, whose median is taken."""


@dataclass
class _Store:
    """A store that grows."""

    system: SystemProcess
    seed: int
    size: int = 0
    writes: list[float] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)

    def grow(self, memory: StoredMemory, size: int, deadline: float) -> None:
        """Write texts until there are so many, or the time is over."""
        while self.size < size and time.monotonic() < deadline:
            began = time.monotonic()
            memory.write(Written(self.seed, self.size))
            self.writes.append(time.monotonic() - began)
            self.size += 1
        self.system.settle()

    def measure(self, memory: StoredMemory) -> None:
        """Measure the store at its present size, and start it again."""
        searches = []
        for number in drawn(self.seed + self.size, self.size, MEASURED):
            began = time.monotonic()
            memory.find(Written(self.seed, number))
            searches.append(time.monotonic() - began)
        resident = _memory(self.system)
        self.system.close()
        disk = _disk(self.system.storage)
        began = time.monotonic()
        self.system.start()
        memory.find(Written(self.seed, 0))
        self.points.append(
            Point(
                size=self.size,
                write_seconds=statistics.median(self.writes[-MEASURED:]),
                search_seconds=statistics.median(searches),
                start_seconds=time.monotonic() - began,
                memory_bytes=resident,
                disk_bytes=disk,
            )
        )


def growth(trial: Growth, stage: Stage) -> GrowthObservation:
    """Run a trial. Raises SystemFailure: the system does not start, or SQLite fails."""
    deadline = time.monotonic() + trial.seconds
    stopped = None
    with stage.plain() as ground, stage.beside() as beside:
        memory = stage.start(ground)
        control = stage.system.twin(CONTROL)
        control.storage = beside
        with control:
            grown, reference = _Store(stage.system, trial.seed), _Store(control, trial.seed)
            other = StoredMemory(control)
            for size in trial.sizes:
                try:
                    grown.grow(memory, size, deadline)
                    if grown.size:
                        grown.measure(memory)
                except SystemFailure as failure:
                    stopped = f"after {grown.size} texts: {sentence(failure)}"
                    break
                reference.grow(other, grown.size, math.inf)
                reference.measure(other)
                if grown.size < size:
                    stopped = f"after {grown.size} texts: the time of {trial.seconds:g} s was over."
                    break
    control_points = reference.points[: len(grown.points)]
    return GrowthObservation(points=tuple(grown.points), control=tuple(control_points), stopped=stopped)


def _memory(system: SystemProcess) -> int | None:
    """Return the memory of all processes of a system in bytes; ``None`` where it cannot be read."""
    child = system.child
    members = [] if child is None else family(child.pid, processes())
    return memory_of(members) or None


def _disk(folder: Path | None) -> int:
    """Return the allocated size of the files of a folder, in bytes."""
    files = [] if folder is None else [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return sum(path.stat().st_blocks * 512 for path in files)
