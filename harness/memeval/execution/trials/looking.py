"""What the trials of use share: a second process on the same folder, and the first error."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memeval.execution.secrets import redact
from memeval.execution.trials.memory import StoredMemory
from memeval.systems.errors import SystemFailure
from memeval.systems.process import SystemProcess

ERROR_LENGTH = 500


def sentence(failure: SystemFailure) -> str:
    """Return an error without secrets, cut to a length that a response can have."""
    return redact(str(failure))[:ERROR_LENGTH]


@contextmanager
def another(system: SystemProcess, folder: Path | None) -> Iterator[StoredMemory]:
    """Start another process of a system on a storage folder, and end it afterwards.

    Raises SystemFailure: it does not start there.
    """
    other = system.twin()
    other.storage = folder
    try:
        other.start()
        yield StoredMemory(other)
    finally:
        other.close()
