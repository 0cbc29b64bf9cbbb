"""A process of its own that makes a large file ready in one way, and says in seconds how long that took.

It imports what it needs before it starts to count, so that only the work on the file is measured.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

OPENED = 50
"""Scenarios that are opened, evenly spread over the file."""


def with_memeval(path: Path) -> dict[str, float]:
    """Open the file as a run does: checked, its digest known, keys at hand; then open scenarios one by one."""
    from memeval.benchmarks.longmemeval import LongMemEvalBenchmark

    began = time.perf_counter()
    dataset = LongMemEvalBenchmark().open(path)
    assert sum(1 for _ in dataset.answer_keys()) and dataset.digest
    ready = time.perf_counter() - began
    names = list(dataset.scenario_ids())
    each = []
    for name in names[:: max(1, len(names) // OPENED)]:
        began = time.perf_counter()
        dataset.scenario(name)
        each.append(time.perf_counter() - began)
    return {"ready": ready, "scenario": sorted(each)[len(each) // 2]}


def with_json(path: Path) -> dict[str, float]:
    """Load the whole file at once."""
    began = time.perf_counter()
    with path.open(encoding="utf-8") as file:
        json.load(file)
    return {"ready": time.perf_counter() - began}


def with_digest(path: Path) -> dict[str, float]:
    """Read and digest the bytes, and do nothing with them: no way to open a file and check its digest takes less."""
    import hashlib

    began = time.perf_counter()
    with path.open("rb") as file:
        hashlib.file_digest(file, "sha256")
    return {"ready": time.perf_counter() - began}


WAYS: dict[str, Callable[[Path], dict[str, float]]] = {
    "memeval": with_memeval,
    "json": with_json,
    "digest": with_digest,
}

if __name__ == "__main__":
    print(json.dumps(WAYS[sys.argv[1]](Path(sys.argv[2]))))
