"""Where trials happen: a system that can be started again, storage folders, and texts stored before a trial."""

import shutil
import subprocess
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memeval.execution.trials.disks import CutDisk, require_disk
from memeval.execution.trials.memory import STORED, StoredMemory, Written
from memeval.records.errors import BadInput
from memeval.systems.errors import SystemDied
from memeval.systems.process import SystemProcess


@dataclass
class StoredFolders:
    """Storage folders by their number of texts, each filled once. Close it when no trial needs them any more."""

    _filled: dict[int, Path] = field(default_factory=dict)
    _locks: defaultdict[int, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock))

    def close(self) -> None:
        """Delete the folders."""
        for folder in self._filled.values():
            shutil.rmtree(folder, ignore_errors=True)

    def filled(self, number: int, fill: Callable[[Path], None]) -> Path:
        """Return the folder with so many texts, which no process uses.

        ``fill``: fills an empty folder. While it does, other threads that ask for the same number wait. If it raises,
        the next one that asks fills another folder.
        """
        with self._locks[number]:
            if number not in self._filled:
                folder = Path(tempfile.mkdtemp(prefix="memeval-stored-"))
                try:
                    fill(folder)
                except BaseException:
                    shutil.rmtree(folder, ignore_errors=True)
                    raise
                self._filled[number] = folder
            return self._filled[number]


@dataclass(frozen=True)
class Ground:
    """A storage folder, and what it is on."""

    folder: Path
    sync: Callable[[], None] = lambda: None
    """Writes everything to the disk, if there is one that can lose its power."""
    cut: Callable[[], None] = lambda: None
    """Takes the power of that disk away, and mounts it again."""


@dataclass
class Stage:
    """A system on which trials run, one after the other.

    ``system``: the system; its processes are those of the trial. ``folders``: the storage folders that other stages of
    the run use too, which whoever made them closes; ``None`` for folders of its own. ``stopped``: whether the run was
    stopped. Close it at the end: the process is ended and the folders are deleted.
    """

    system: SystemProcess
    folders: StoredFolders | None = None
    stopped: Callable[[], bool] = lambda: False
    _root: tempfile.TemporaryDirectory[str] = field(
        default_factory=lambda: tempfile.TemporaryDirectory(prefix="memeval-trial-", ignore_cleanup_errors=True)
    )
    _own: StoredFolders = field(default_factory=StoredFolders)

    def close(self) -> None:
        self.system.close()
        self._root.cleanup()
        self._own.close()

    @contextmanager
    def plain(self) -> Iterator[Ground]:
        """Yield an empty storage folder; the system is ended and the folder is deleted afterwards."""
        with tempfile.TemporaryDirectory(dir=self._root.name, ignore_cleanup_errors=True) as folder:
            path = Path(folder, "storage")
            path.mkdir()
            try:
                yield Ground(path)
            finally:
                self.system.close()

    @contextmanager
    def beside(self) -> Iterator[Path]:
        """Yield an empty storage folder for another system."""
        with tempfile.TemporaryDirectory(dir=self._root.name, ignore_cleanup_errors=True) as folder:
            yield Path(folder)

    @contextmanager
    def disk(self, options: str) -> Iterator[Ground]:
        """Yield an empty storage folder on a disk of its own that can lose its power.

        ``options``: options of the mount. Raises NotApplicable: none can be made on this machine.
        """
        require_disk()
        with (
            tempfile.TemporaryDirectory(dir=self._root.name, ignore_cleanup_errors=True) as folder,
            CutDisk(Path(folder), options) as disk,
        ):
            path = disk.path / "storage"
            path.mkdir()
            try:
                yield Ground(path, disk.sync, disk.cut)
            finally:
                self.system.close()

    def put_stored(self, number: int, ground: Ground) -> None:
        """Fill a storage folder with texts, on disk. The system stores them once; then its folder is copied."""
        if number:
            copy_folder(self.stored(number), ground.folder)
        ground.sync()

    def stored(self, number: int) -> Path:
        """Return a storage folder with so many texts, which no process uses.

        Raises SystemFailure: the system did not store them, or the run was stopped.
        """
        return (self.folders or self._own).filled(number, lambda folder: self._fill(folder, number))

    def _fill(self, folder: Path, number: int) -> None:
        if self.stopped():  # while another stage filled it, in vain
            raise SystemDied("The run was stopped.")
        memory = self._started(folder)
        for each in range(number):
            memory.write(Written(STORED, each))
        self.system.settle()
        self.system.close()

    def start(self, ground: Ground) -> StoredMemory:
        return self._started(ground.folder)

    def restart(self) -> StoredMemory:
        """Start the system again on the storage folder of before, and let it settle."""
        memory = self._started(self.system.storage)
        self.system.settle()
        return memory

    def _started(self, folder: Path | None) -> StoredMemory:
        self.system.storage = folder
        self.system.start()
        return StoredMemory(self.system)


def copy_folder(source: Path, target: Path) -> None:
    """Copy the content of a folder as it is, with owners, modes and links."""
    done = subprocess.run(["cp", "-a", f"{source}/.", str(target)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BadInput(f"the stored texts cannot be copied: {done.stderr.strip()[:300]}", where=target)
