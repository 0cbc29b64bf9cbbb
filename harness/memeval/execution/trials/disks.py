"""A disk that can lose its power: an ext4 file system in a file, copied as it is and mounted again. Needs root.

What a program has written, but nobody has synced, is in the page cache of the file system and not yet in the file. A
copy of the file therefore has what a disk would have after a power cut. A copy during which the kernel wrote is made
again.
"""

import atexit
import contextlib
import functools
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from memeval.records.errors import BadInput, NotApplicable

DISK_MB = 1024
"""Size of the file system; its file is sparse."""

MOST_COPIES = 20
"""How often a copy is made again because the kernel wrote meanwhile."""

TOOLS = ("mkfs.ext4", "mount", "umount")


class CutDisk:
    """A mounted file system in a folder. Use it as a context manager.

    ``folder``: an existing folder for its file and its mount point. ``options``: options of the mount, such as
    ``commit=300``; blank for the defaults. ``megabytes``: its size.
    """

    def __init__(self, folder: Path, options: str = "", megabytes: int = DISK_MB) -> None:
        self._image = folder / "disk.img"
        self._options = ",".join(filter(None, ("loop", options)))
        self._megabytes = megabytes
        self.path = folder / "disk"
        """Where it is mounted."""

    def __enter__(self) -> "CutDisk":
        self.path.mkdir()
        with self._image.open("wb") as file:
            file.truncate(self._megabytes << 20)
        # The kernel would write the rest of a lazily made file system in the background.
        whole = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
        _run("mkfs.ext4", "-q", "-F", "-N", "16384", "-J", "size=8", "-E", whole, str(self._image))
        self._mount()
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(BadInput):
            _unmount(self.path)
        self._image.unlink(missing_ok=True)

    def sync(self) -> None:
        """Write everything to the disk, as a machine that has run for a while has done."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.sync()

    def cut(self) -> None:
        """Lose what is not on the disk yet, and mount the rest. No process may use it."""
        copy = self._image.with_suffix(".cut")
        writes = self._writes()
        for _ in range(MOST_COPIES):
            _run("cp", "--sparse=always", str(self._image), str(copy))
            before, writes = writes, self._writes()
            if before == writes:
                break
        else:
            raise BadInput("the disk of a trial was written to without end.", where=self._image)
        _unmount(self.path)
        copy.replace(self._image)
        self._mount()

    def _mount(self) -> None:
        _MOUNTED.add(self.path)
        _run("mount", "-o", self._options, str(self._image), str(self.path))
        mounted = (line.split() for line in Path("/proc/self/mounts").read_text("utf-8").splitlines())
        self._device = next(line[0] for line in mounted if line[1] == str(self.path.resolve()))

    def _writes(self) -> tuple[str, ...]:
        """Return how much the loop device has written, and what is under way."""
        fields = Path("/sys/block", Path(self._device).name, "stat").read_text("utf-8").split()
        return fields[4], fields[6], fields[8]


@functools.cache
def why_no_disk() -> str | None:
    """Return why no such disk can be made on this machine, as a clause; ``None`` if one can. Tried once a process."""
    if os.uname().sysname != "Linux" or os.geteuid() != 0:
        return "it needs root on Linux"
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        return f"the program {missing[0]} is not installed"
    try:
        with tempfile.TemporaryDirectory(prefix="memeval-disk-") as folder, CutDisk(Path(folder), megabytes=64) as disk:
            (disk.path / "kept").touch()
            disk.sync()
            disk.cut()
            if not (disk.path / "kept").exists():
                return "a synced file was lost"
    except (BadInput, OSError, StopIteration) as error:
        return f"a file system in a file cannot be mounted ({error})"
    return None


def require_disk() -> None:
    """Raise ``NotApplicable`` if no disk can be made here that loses its power."""
    if reason := why_no_disk():
        raise NotApplicable(f"a power cut cannot be made here: {reason}.", remedy="Run it as root on Linux.")


@functools.cache
def why_no_mount() -> str | None:
    """Return why no file system can be mounted on this machine, as a clause; ``None`` if one can."""
    if os.uname().sysname != "Linux" or os.geteuid() != 0:
        return "it needs root on Linux"
    try:
        with tempfile.TemporaryDirectory(prefix="memeval-disk-") as folder, small_disk(Path(folder), 1):
            return None
    except (BadInput, OSError) as error:
        return f"a file system in memory cannot be mounted ({error})"


def require_mount() -> None:
    """Raise ``NotApplicable`` if no small disk can be made here."""
    if reason := why_no_mount():
        raise NotApplicable(f"a full disk cannot be made here: {reason}.", remedy="Run it as root on Linux.")


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """Mount a small file system in memory; yield its folder."""
    path = folder / "small"
    path.mkdir()
    _MOUNTED.add(path)
    _run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(path))
    try:
        yield path
    finally:
        _unmount(path)


_MOUNTED: set[Path] = set()
"""Where disks of trials are mounted now."""


def _unmount(path: Path) -> None:
    """Unmount a disk; if a process still uses it after five seconds, detach it."""
    for _ in range(50):  # a process that was killed may still be on its way out
        if subprocess.run(["umount", path], capture_output=True, check=False).returncode == 0:
            break
        time.sleep(0.1)
    else:
        _run("umount", "-l", str(path))
    _MOUNTED.discard(path)


@atexit.register
def _unmount_all() -> None:
    """Detach what is still mounted when memeval ends in the middle of a trial."""
    for path in _MOUNTED:
        subprocess.run(["umount", "-l", path], capture_output=True, check=False)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise BadInput(f"{command[0]} failed: {lines[-1]}", where=command[-1])
