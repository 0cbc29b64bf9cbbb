"""Data frames and trends of a thousand made runs, for ``make bench``; needs pyarrow, which it installs apart."""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from bench.measure import PYTHON, Cost, Ratio, cost_of, in_turn, ratio
from memeval.archive.rows import inner_digest
from memeval.archive.runs import RunFolder, sealed_runs

RUNS, PAIRS = 1000, 3
ITEMS = 100
"""Items of a made run."""

ROOT = Path(__file__).parents[1]


def measure(scratch: Path) -> list[Ratio]:
    """Measure on made runs, which go with the scratch folder."""
    from tests.support.made_history import made_history
    from tests.support.products import PYARROW, installed
    from tests.support.runs import make_run, make_track

    first = make_run(scratch / "made", "acme", {"kept": 40, "changed": 30}, track=make_track(ITEMS // 2))
    results, cache = scratch / "results", scratch / "cache"
    made_history(results, first, RUNS, changed=_wobbling)
    variables = {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(installed(PYARROW))]),
        "MEMEVAL_CACHE": str(cache),
    }
    whole = partial(_process, scratch, results, variables)
    count = iter(range(RUNS, 2 * RUNS))

    def built() -> Cost:
        shutil.rmtree(cache, ignore_errors=True)
        return whole("all_frames")

    def with_one_new() -> Cost:
        made_history(results, first, 1, start=next(count), changed=_wobbling)
        return whole("all_frames")

    def trajectory() -> Cost:
        return cost_of([PYTHON, "-m", "memeval", "archive", "trajectory", "--results", str(results)], scratch)

    build = in_turn(built, partial(whole, "parsed"), 1)
    again = in_turn(partial(whole, "all_frames"), partial(whole, "loaded"), PAIRS)
    size = sum(path.stat().st_size for path in cache.rglob("*.parquet")) / 1e6
    what = f"frames of {RUNS:,} made runs with {ITEMS} items"
    return [
        ratio(
            f"{what}: index built ({size:.1f} MB)",
            build,
            target=3.5,
            peak_target_mb=400,
            reference="run.json, grades and responses parsed by memeval, once, digests checked",
        ),
        ratio(
            f"{what}: nothing new",
            again,
            target=3.0,
            peak_target_mb=400,
            reference="pandas reads the Parquet files of the index",
        ),
        ratio(
            f"{what}: one run new",
            in_turn(with_one_new, partial(whole, "loaded"), PAIRS),
            target=4.0,
            peak_target_mb=400,
            reference="pandas reads the Parquet files of the index",
        ),
        ratio(
            f"trajectory of {RUNS:,} made runs, whole process",
            in_turn(trajectory, partial(whole, "heads"), 1),
            target=4.0,
            peak_target_mb=300,
            reference="every run.json read and parsed by memeval, once",
        ),
    ]


def _wobbling(number: int, head: dict[str, object]) -> dict[str, object]:
    """Return a ``run.json`` with another composite, which has noise and one step."""
    scores = head["scores"]
    assert isinstance(scores, dict)
    value = 0.7 + (0.05 if number > RUNS / 2 else 0) + random.Random(number).gauss(0, 0.01)
    return head | {"scores": scores | {"composite": scores["composite"] | {"value": value}}}


def _process(scratch: Path, results: Path, variables: Mapping[str, str], way: str) -> Cost:
    """Run one of the functions below in a process of its own."""
    return cost_of([PYTHON, "-m", "bench.frames", way, str(results)], scratch, variables)


def all_frames(results: Path) -> None:
    """Build every frame."""
    import memeval

    frames = memeval.frames(results)
    runs, items = len(frames.runs), len(frames.items)
    assert (runs >= RUNS, items) == (True, runs * ITEMS)
    assert len(frames.categories) == 2 * runs
    assert not frames.trends.empty


def parsed(results: Path) -> None:
    """Parse all heads, grades and responses, with checked digests."""
    for folder in sealed_runs(results):
        each = RunFolder(folder.path)
        for name in ("grades.jsonl", "responses.jsonl"):
            assert inner_digest(each.file(name)) == each.run.files[name]
        assert len(each.run.files) + len(list(each.grades())) + len(list(each.responses())) > 2 * ITEMS


def heads(results: Path) -> None:
    """Parse all heads."""
    assert len({RunFolder(folder.path).run.run_id for folder in sealed_runs(results)}) >= RUNS


def loaded(results: Path) -> None:
    """Read the Parquet files of the index."""
    import pandas

    for path in Path(os.environ["MEMEVAL_CACHE"]).rglob("*.parquet"):
        assert len(pandas.read_parquet(path)) >= RUNS, results


WAYS: Mapping[str, Callable[[Path], None]] = {each.__name__: each for each in (all_frames, parsed, heads, loaded)}

if __name__ == "__main__":
    WAYS[sys.argv[1]](Path(sys.argv[2]))
