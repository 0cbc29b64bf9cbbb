"""The benchmark as the rest of memeval sees it: what it says of itself, who grades what, and its data."""

from __future__ import annotations

from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.data import locate
from memeval.benchmarks.deepmemeval.dataset import DeepMemEvalDataset, shipped_errata
from memeval.benchmarks.deepmemeval.released import read
from memeval.grading.delta import DeltaEfficiency
from memeval.grading.judged import Judged
from memeval.records.errata import Errata
from memeval.records.errors import BadInput

INFO = load(__package__)

GRADERS = {"delta-efficiency": DeltaEfficiency(headline="published", version=2)}
"""Who grades the categories that no judge is asked about."""


class DeepMemEvalBenchmark(Benchmark):
    """DeepMemEval as released, version 1."""

    info = INFO
    categories = tuple(Category.of(category, GRADERS.get(category.name, Judged())) for category in INFO.categories)
    former = (DeltaEfficiency(headline="published"),)

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open the released file; see :meth:`memeval.benchmarks.base.Benchmark.open`.

        The sample of ten scenarios opens as well: another digest, and so another track.
        """
        if parameters:
            raise BadInput(f"{INFO.id} is released data and takes no parameters, such as '{next(iter(parameters))}'.")
        return DeepMemEvalDataset(read(locate(INFO, path)))

    def available(self, path: Path | None = None) -> bool:
        """Return whether there is a file to open."""
        return locate(INFO, path).is_file()

    def errata(self) -> Errata:
        """Return the items whose released answer is wrong or contested."""
        return shipped_errata()
