"""The benchmarks memeval knows, by name."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from memeval.records.errors import BadInput

if TYPE_CHECKING:
    from memeval.benchmarks.base import Benchmark


def all_benchmarks() -> tuple[Benchmark, ...]:
    """Return every benchmark, the built-in one first. They are imported here and not before."""
    from memeval.benchmarks.beliefs import BeliefsBenchmark
    from memeval.benchmarks.deepmemeval import DeepMemEvalBenchmark

    return (BeliefsBenchmark(), DeepMemEvalBenchmark())


def find(name: str) -> Benchmark:
    """Return a benchmark by its name or id.

    Args:
        name: ``beliefs``, or with its version ``beliefs@1``.

    Raises:
        BadInput: there is none of that name, or not in that version.
    """
    known = all_benchmarks()
    for benchmark in known:
        if name in (benchmark.info.id, benchmark.info.name):
            return benchmark
    wanted, _, version = name.partition("@")
    for benchmark in known:
        if version and wanted == benchmark.info.name:
            raise BadInput(
                f"there is no version {version!r} of {wanted}.", remedy=f"This memeval has {benchmark.info.id}."
            )
    near = difflib.get_close_matches(wanted.lower(), [benchmark.info.name for benchmark in known], n=1)
    names = ", ".join(benchmark.info.name for benchmark in known)
    raise BadInput(
        f"there is no benchmark {name!r}.", remedy=f"Did you mean '{near[0]}'?" if near else f"There are: {names}."
    )
