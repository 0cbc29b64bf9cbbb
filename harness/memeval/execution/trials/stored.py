"""Storage folders with texts, which trials copy. The instances of a system in a run share them."""

import shutil
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


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
