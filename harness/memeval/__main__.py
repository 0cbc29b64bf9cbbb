"""The entry point of the command line: sets the garbage collector before any other import."""

from __future__ import annotations

import gc


def main() -> None:
    """Run the command line.

    A run makes many small records that live to its end, and have no cycles. At Python's default thresholds, looking
    through them for cycles takes longer than making them.
    """
    gc.set_threshold(300_000, 20, 100)
    from memeval.cli.main import main as command_line

    try:
        command_line()
    finally:
        gc.freeze()  # the process ends here; a last collection would only take time


if __name__ == "__main__":
    main()
