"""The entry of the command line: sets the collector before anything is imported."""

from __future__ import annotations

import gc


def main() -> None:
    """Run the command line.

    A run makes many small records that live to its end. Looking through them for cycles as often as Python does
    unasked takes longer than making them.
    """
    gc.set_threshold(100_000, 20, 100)
    from memeval.cli.main import main as command_line

    try:
        command_line()
    finally:
        gc.freeze()  # what is left goes with the process; looking through it first takes time


if __name__ == "__main__":
    main()
