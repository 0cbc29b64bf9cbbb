"""``make bench``: every measurement as a ratio against a reference measured in the same run.

``python -m bench --only rejudge --gate BASELINE.json`` also compares with a stored ``bench.json``, see ``bench.gate``.
``--store`` adds the figures to the page *Performance*, see ``bench.history``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench import (
    archive,
    check,
    frames,
    history,
    large_file,
    questions_at_once,
    ranking,
    rejudge,
    run_deepmemeval,
    sandbox,
    start,
    stored_runs,
)
from bench.gate import compare
from bench.measure import Ratio

MEASUREMENTS = {
    module.__name__.removeprefix("bench."): module.measure
    for module in (
        *(start, run_deepmemeval, sandbox, questions_at_once, rejudge),
        *(large_file, check, stored_runs, archive, frames, ranking),
    )
}
OUT = Path("build/bench.json")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table, store the figures; return 1 where a target is missed, or on a regression.

    With a baseline, only regressions count: a slow machine can miss a target for other reasons.
    """
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", choices=MEASUREMENTS, default=list(MEASUREMENTS), help="these measurements"
    )
    parser.add_argument("--gate", type=Path, metavar="BASELINE.json", help="an earlier bench.json to compare with")
    parser.add_argument("--store", action="store_true", help="add the figures of this commit to the page Performance")
    asked = parser.parse_args(arguments)
    if asked.store and asked.only != list(MEASUREMENTS):
        parser.error("--store needs all measurements. Leave out --only.")
    try:
        commit = history.measured_commit() if asked.store else None
    except history.Uncommitted as error:
        parser.error(str(error))
    baseline = json.loads(asked.gate.read_text(encoding="utf-8")) if asked.gate else None
    found: list[Ratio] = []
    for name in asked.only:
        with tempfile.TemporaryDirectory() as scratch:
            found += MEASUREMENTS[name](Path(scratch))
    table = Table(title="memeval beside its references")
    for column in (
        "measurement",
        "ours s",
        "reference s",
        "ratio",
        "cpu ratio",
        "target",
        "limit s",
        "peak MB",
        "reference is",
    ):
        table.add_column(column)
    for each in found:
        table.add_row(
            each.name,
            f"{each.ours_seconds:.3g}",
            f"{each.reference_seconds:.3g}",
            f"{each.ratio:.2f}",
            "" if each.cpu_ratio is None else f"{each.cpu_ratio:.2f}",
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
    if commit is not None:
        entries = history.added(json.loads(history.OUT.read_text(encoding="utf-8")), history.entry(commit, found))
        history.OUT.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
        history.PAGE.write_text(history.page_of(history.PAGE.read_text("utf-8"), entries), encoding="utf-8")
    if baseline is None:
        return 0 if all(each.holds for each in found) else 1
    compared, alone = compare(baseline, [each.data() for each in found])
    print("\n".join(each.line() for each in compared))
    if alone:
        print(f"not compared: {', '.join(alone)}")
    return 1 if any(beside.is_regression for beside in compared) else 0


if __name__ == "__main__":
    sys.exit(main())
