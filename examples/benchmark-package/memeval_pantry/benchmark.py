"""The benchmark: catalogue, graders and data together."""

from __future__ import annotations

from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Parameters
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.exchange_format import ExchangeFormat, RunPart
from memeval.grading.base import Grader
from memeval.grading.judged import Judged
from memeval.records.errors import BadInput
from memeval_pantry.dataset import PantryDataset
from memeval_pantry.grading import Counted

INFO = load(__package__)

GRADERS: dict[str, Grader] = {"count": Counted(), "place": Judged()}
"""The grader of each category."""

ANSWERS = ExchangeFormat(
    name="pantry",
    title="Pantry answers: one JSON object with id and answer a line.",
    benchmarks=(INFO.id,),
    mapping=f"{__package__}:pantry",
    writer=f"{__package__}.answers:write",
    holds={RunPart.ANSWERS: "without the items, grades and scores"},
)
"""The file format."""


class PantryBenchmark(Benchmark):
    """Pantry, version 1."""

    info = INFO
    categories = tuple(Category.of(category, GRADERS[category.name]) for category in INFO.categories)
    prompts = __package__
    formats = (ANSWERS,)

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> PantryDataset:
        """Open the data; see :meth:`memeval.benchmarks.base.Benchmark.open`.

        Raises:
            BadInput: a path or a parameter was given.
        """
        if path is not None or parameters:
            raise BadInput(f"{INFO.id} is built in.", remedy="Remove --data and --parameter.")
        return PantryDataset()
