"""Registry of the benchmarks, by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from memeval.records.errors import BadInput

if TYPE_CHECKING:
    from memeval.benchmarks.base import Benchmark


def _astrocyte(name: str) -> Callable[[], Benchmark]:
    def load() -> Benchmark:
        from memeval.benchmarks.astrocyte import BroughtSuite, BuiltInSuite, StressSuite

        return {"stress": StressSuite, "suite": BroughtSuite}.get(name, lambda: BuiltInSuite(name))()

    return load


def _beliefs() -> Benchmark:
    from memeval.benchmarks.beliefs import BeliefsBenchmark

    return BeliefsBenchmark()


def _fresh(edition_id: str) -> Benchmark:
    from memeval.benchmarks.beliefs.fresh import FreshBeliefsBenchmark

    return FreshBeliefsBenchmark(edition_id)


def _deepmemeval() -> Benchmark:
    from memeval.benchmarks.deepmemeval import DeepMemEvalBenchmark

    return DeepMemEvalBenchmark()


def _locomo() -> Benchmark:
    from memeval.benchmarks.locomo import LocomoBenchmark

    return LocomoBenchmark()


def _longmemeval() -> Benchmark:
    from memeval.benchmarks.longmemeval import LongMemEvalBenchmark

    return LongMemEvalBenchmark()


def _memorycd() -> Benchmark:
    from memeval.benchmarks.memorycd import MemoryCDBenchmark

    return MemoryCDBenchmark()


def _qa() -> Benchmark:
    from memeval.benchmarks.qa import QaBenchmark

    return QaBenchmark()


def _qa_smoke() -> Benchmark:
    from memeval.benchmarks.qa import QaSmokeBenchmark

    return QaSmokeBenchmark()


BENCHMARKS: dict[str, Callable[[], Benchmark]] = {
    "beliefs@1": _beliefs,
    "beliefs-fresh-202612@1": partial(_fresh, "beliefs-fresh-202612@1"),
    "astrocyte-basic@1": _astrocyte("basic"),
    "astrocyte-accuracy@1": _astrocyte("accuracy"),
    "astrocyte-reflect@1": _astrocyte("reflect"),
    "astrocyte-stress@1": _astrocyte("stress"),
    "astrocyte-suite@1": _astrocyte("suite"),
    "deepmemeval@1": _deepmemeval,
    "locomo@1": _locomo,
    "longmemeval@1": _longmemeval,
    "memorycd@1": _memorycd,
    "qa-smoke@1": _qa_smoke,
    "qa@1": _qa,
}
"""Every benchmark by its id, the built-in one first. Each is imported on first use."""


def all_benchmarks() -> tuple[Benchmark, ...]:
    """Return every benchmark, the built-in one first."""
    return tuple(load() for load in BENCHMARKS.values())


def find(name: str) -> Benchmark:
    """Return a benchmark by its name or id.

    Args:
        name: ``beliefs``, or with its version ``beliefs@1``.

    Raises:
        BadInput: the name or the version is unknown.
    """
    known = {each.partition("@")[0]: each for each in BENCHMARKS}
    found = known.get(name, name)
    if found in BENCHMARKS:
        return BENCHMARKS[found]()
    wanted, _, version = name.partition("@")
    if version and wanted in known:
        raise BadInput(f"{wanted} has no version {version!r}.", remedy=f"This memeval has {known[wanted]}.")
    near = difflib.get_close_matches(wanted.lower(), known, n=1)
    names = ", ".join(known)
    raise BadInput(
        f"unknown benchmark {name!r}.", remedy=f"Did you mean '{near[0]}'?" if near else f"Choose one of: {names}."
    )
