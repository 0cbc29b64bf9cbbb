"""``make bench``: every measurement as a ratio against a reference measured in the same run."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench import archive, check, frames, large_file, ranking, rejudge, run_deepmemeval, sandbox
from bench.measure import Ratio

MEASUREMENTS = (
    run_deepmemeval.measure,
    sandbox.measure,
    rejudge.measure,
    large_file.measure,
    check.measure,
    archive.measure,
    frames.measure,
    ranking.measure,
)
OUT = Path("build/bench.json")


def main() -> int:
    """Measure, print a table, store the figures; return 1 where a target is missed."""
    found: list[Ratio] = []
    for measure in MEASUREMENTS:
        with tempfile.TemporaryDirectory() as scratch:
            found += measure(Path(scratch))
    table = Table(title="memeval beside its references")
    for column in ("measurement", "ours s", "reference s", "ratio", "target", "limit s", "peak MB", "reference is"):
        table.add_column(column)
    for each in found:
        table.add_row(
            each.name,
            f"{each.ours_seconds:.3g}",
            f"{each.reference_seconds:.3g}",
            f"{each.ratio:.2f}",
            f"≤ {each.target:g}",
            ""
            if each.limit_seconds is None
            else f"{each.limit_seconds:.2f} (× {each.ours_seconds / each.limit_seconds:.1f})",
            f"{each.peak_mb:.0f}" + (f" (≤ {each.peak_target_mb:g})" if each.peak_target_mb else ""),
            each.reference,
        )
    Console(width=160).print(table)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps([each.data() for each in found], indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 0 if all(each.holds for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
