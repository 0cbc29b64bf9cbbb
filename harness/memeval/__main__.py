"""The entry point of the command line: sets the allocator, the garbage collector and NumPy's threads first."""

import ctypes
import gc
import os
from contextlib import suppress

M_ARENA_MAX = -8
"""The number of this setting in glibc's ``malloc.h``."""


def main() -> None:
    """Run the command line.

    A run makes many small records that live to its end, and have no cycles. At Python's default thresholds, looking
    through them for cycles takes longer than making them.

    NumPy multiplies small matrices here. On several threads it does so no sooner, and takes up to four times the
    processor time.

    Threads take turns here, so one pool of memory is enough for glibc. With a pool for each, what one freed stays with
    it: a run on long histories then holds a third more.
    """
    with suppress(AttributeError, OSError, TypeError):  # another C library
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(300_000, 20, 100)
    from memeval.cli.main import main as command_line

    try:
        command_line()
    finally:
        gc.freeze()  # the process ends here; a last collection would only take time


if __name__ == "__main__":
    main()
