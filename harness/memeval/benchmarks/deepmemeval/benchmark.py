"""DeepMemEval as a benchmark: catalogue, graders and data."""

from __future__ import annotations

from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.data import locate
from memeval.benchmarks.deepmemeval.dataset import DeepMemEvalDataset, shipped_errata
from memeval.benchmarks.deepmemeval.formats import FORMATS
from memeval.benchmarks.deepmemeval.released import read
from memeval.grading.base import Grader
from memeval.grading.delivery import DeliveredDelta
from memeval.grading.judged import DoubtJudged, Judged
from memeval.records.benchmark import Errata
from memeval.records.errors import BadInput

INFO = load(__package__)

GRADERS: dict[str, Grader] = {
    "cascade-propagation": DoubtJudged(),
    "delta-efficiency": DeliveredDelta(),
    "uncertainty-abstention": DoubtJudged(),
}
"""Graders of the categories that can be bought: by doubting everything, or by shaping the context."""


class DeepMemEvalBenchmark(Benchmark):
    """DeepMemEval as released, version 1."""

    info = INFO
    formats = FORMATS
    categories = tuple(Category.of(category, GRADERS.get(category.name, Judged())) for category in INFO.categories)

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open the released file; see :meth:`memeval.benchmarks.base.Benchmark.open`.

        Also opens the sample of ten scenarios, which is another track because its digest differs.
        """
        if parameters:
            raise BadInput(f"{INFO.id} has no parameter '{next(iter(parameters))}'.", remedy="Leave it out.")
        return DeepMemEvalDataset(read(locate(INFO, path)))

    def available(self, path: Path | None = None) -> bool:
        """Return whether the data file exists."""
        return locate(INFO, path).is_file()

    def errata(self) -> Errata:
        """Return the items with a wrong or contested released answer."""
        return shipped_errata()
