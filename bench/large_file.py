"""A file of LongMemEval's size made ready, beside ``json.load``, and a scenario of it opened."""

from __future__ import annotations

import json
import os
import shutil
import statistics
from functools import partial
from pathlib import Path

from bench.made_longmemeval import write
from bench.measure import PYTHON, Cost, Ratio, cost_of, in_turn, ratio

PAIRS = 5
S_BYTES, M_BYTES = 277_383_467, 2_737_100_077
"""Sizes of the released files."""

ITEMS = 60
"""Questions of a run on the larger file."""

WITH_M = "MEMEVAL_BENCH_M"
"""The environment variable that has the larger file measured too: 2.7 GB of disk, and 6 GB of memory for json.load."""


def measure(scratch: Path) -> list[Ratio]:
    """Measure on a made-up file, which goes with the scratch folder."""
    path = scratch / "s.json"
    write(path, S_BYTES)
    size = path.stat().st_size
    limit = _of("digest", scratch, path).seconds
    name = f"a made-up LongMemEval-S file of {size / 1e6:.0f} MB"
    load = partial(_of, "json", scratch, path)
    found = [
        ratio(
            f"{name} ready, digest checked, for the first time",
            in_turn(partial(_anew, scratch, path), load, PAIRS),
            target=1.0,
            peak_target_mb=150,
            reference="json.load of it; limit: its bytes read and digested",
            limit_seconds=limit,
        ),
        ratio(
            f"{name} ready again, from its index",
            in_turn(partial(_of, "memeval", scratch, path), load, 1),
            target=0.2,
            peak_target_mb=150,
            reference="json.load of it",
        ),
        _scenario(scratch, path),
    ]
    path.unlink()
    if os.environ.get(WITH_M):
        path = scratch / "m.json"
        write(path, M_BYTES)
        found += [_of_m(scratch, path), _run_on_m(scratch, path)]
        path.unlink()
    return found


def _of_m(scratch: Path, path: Path) -> Ratio:
    return ratio(
        f"a made-up LongMemEval-M file of {path.stat().st_size / 1e6:.0f} MB ready, digest checked, for the first time",
        ([_anew(scratch, path)], [_of("json", scratch, path)]),
        target=1.5,
        peak_target_mb=300,
        reference="json.load of it",
        limit_seconds=_of("digest", scratch, path).seconds,
    )


def _run_on_m(scratch: Path, path: Path) -> Ratio:
    """Return what a run takes; its memory is that of a run on all questions, since histories are dropped one by one."""
    run = [PYTHON, "-m", "memeval", "run", "bm25", "--benchmark", "longmemeval@1", "--protocol", "retrieval", "--fresh"]
    run += ["--data", str(path), "--limit", str(ITEMS), "--results", str(scratch / "results"), "--sandbox", "none"]
    ours = cost_of(run, scratch, {"MEMEVAL_DATA": str(scratch / "data")})
    return ratio(
        f"bm25 on {ITEMS} of its questions, sealed, whole process",
        ([ours], [_of("json", scratch, path)]),
        target=1.0,
        peak_target_mb=300,
        reference="json.load of the file",
    )


def _scenario(scratch: Path, path: Path) -> Ratio:
    """Return what opening a scenario takes, beside the five milliseconds that were promised."""
    opened = [_said(scratch, "memeval", path) for _ in range(3)]
    promised = 0.005
    seconds = statistics.median(said["scenario"] for said, _ in opened)
    return Ratio(
        name="a scenario of it opened, median of fifty",
        ours_seconds=seconds,
        reference_seconds=promised,
        ratio=seconds / promised,
        target=1.0,
        peak_mb=max(cost.peak_mb for _, cost in opened),
        peak_target_mb=150,
        reference="the promised 5 ms",
        pairs=len(opened),
    )


def _anew(scratch: Path, path: Path) -> Cost:
    """Return what the first opening takes, with no index there."""
    shutil.rmtree(scratch / "data", ignore_errors=True)
    return _of("memeval", scratch, path)


def _of(way: str, scratch: Path, path: Path) -> Cost:
    """Return what making the file ready takes in one way: the seconds of the work, the peak of its whole process."""
    said, cost = _said(scratch, way, path)
    return Cost(said["ready"], cost.cpu_seconds, cost.peak_mb)


def _said(scratch: Path, way: str, path: Path) -> tuple[dict[str, float], Cost]:
    script = str(Path(__file__).with_name("ready.py"))
    cost = cost_of([PYTHON, script, way, str(path)], scratch, {"MEMEVAL_DATA": str(scratch / "data")})
    said: dict[str, float] = json.loads((scratch / "said.txt").read_text())
    return said, cost
