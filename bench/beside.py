"""Whether times beside a control keep their ratio on a loaded machine: one system, with and without other work.

``python -m bench.beside SYSTEM…`` needs the data of LoCoMo. The figures stand on the page *Read trends*. The first
measurement of a system has a high priority, which needs root, so that other programs hardly slow it.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from bench.page_tables import with_tables
from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.beside import times_beside
from memeval.evaluation.run.models import models_for
from memeval.evaluation.run.runtime import system_instances
from memeval.execution.preparation import prepare
from memeval.execution.readers import NoReader
from memeval.execution.setup import SystemSetup
from memeval.options import ModelOptions
from memeval.records.beside import BesideTimes
from memeval.records.track import Limits
from memeval.statistics.time_ratios import time_ratio
from memeval.systems.source import find_system

OUT, PAGE = Path("site/beside.json"), Path("site/history.md")
BENCHMARK, PROTOCOL, TIER = "locomo@1", "retrieval", "fair"

BUSY_PER_CORE = 3
SETTLE_SECONDS = 10.0
"""How long the other work runs before the measurement."""


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep processors busy with other work."""
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=_work, daemon=True) for _ in range(processes)]
    for each in others:
        each.start()
    try:
        if others:
            time.sleep(SETTLE_SECONDS)
        yield
    finally:
        for each in others:
            each.kill()
            each.join()


@contextmanager
def first_in_line() -> Iterator[None]:
    """Have this process and those that it starts take precedence over all others."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)


def _work() -> None:
    number = 1
    while True:
        number = number * 7 % 1_000_003


def measure(system: str) -> BesideTimes | None:
    """Return the times of a system on the conversation of a run."""
    session = BenchmarkSession.open(find(BENCHMARK), None, protocol=PROTOCOL, tier=TIER)
    setup = SystemSetup()
    prepared = prepare(find_system(system), setup, print)
    with (
        tempfile.TemporaryDirectory(prefix="memeval-bench-") as folder,
        models_for(Path(folder), ModelOptions(), print, on_disk=False) as models,
        system_instances(prepared, Limits(), models) as new_instance,
    ):
        return times_beside(new_instance, session, session.keys, NoReader(), Limits(), setup, models, print)


def row(system: str, processes: int) -> dict[str, Any]:
    """Measure a system once, beside some busy processes, and return a row of the table."""
    with busy(processes), first_in_line() if not processes else nullcontext():
        load = os.getloadavg()[0]
        times = measure(system)
    if times is None:
        raise SystemExit(f"{system} was not measured.")
    found: dict[str, Any] = {"system": Path(system).name, "busy": processes, "load": round(load, 1)}
    for name, pairs in (("ingest", times.ingest), ("search", times.fastest)):
        ratio = time_ratio([(pair.system, pair.control) for pair in pairs])
        found[name] = [round(each, 3) for each in (ratio.value, ratio.low, ratio.high)]
    for name, pairs in (("ingest", times.ingest), ("search", times.search)):
        found[f"{name}_seconds"] = round(sum(pair.system for pair in pairs) / len(pairs), 4)
    return found


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the table in Markdown."""
    lines = [
        "| System | Measured | Load of the machine | Search, ms | ratio | Ingestion, ms | ratio |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for each in rows:
        how = f"beside {each['busy']} busy processes" if each["busy"] else "before all others"
        cells = [each["system"], how, f"{each['load']:.1f}"]
        for name in ("search", "ingest"):
            value, low, high = each[name]
            cells += [f"{1000 * each[f'{name}_seconds']:.0f}", f"{value:.2f} [{low:.2f}, {high:.2f}]"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def page_of(page: str, rows: Sequence[dict[str, Any]]) -> str:
    """Return the page with its table made again."""
    return with_tables(page, "bench.beside", {"times": table(rows)})


def main(systems: Sequence[str]) -> int:
    """Measure, and write the figures and the table of their page."""
    cores = os.cpu_count() or 1
    rows = []
    for system in systems:
        for processes in (0, BUSY_PER_CORE * cores):
            rows.append(row(system, processes))
            print(table(rows[-1:]).splitlines()[-1], flush=True)
    OUT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page_of(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
