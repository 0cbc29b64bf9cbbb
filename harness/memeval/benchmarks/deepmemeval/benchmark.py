"""DeepMemEval as a benchmark: catalogue, graders, formats and data."""

from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters, refuse_parameters
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.data import locate
from memeval.benchmarks.deepmemeval.dataset import DeepMemEvalDataset
from memeval.benchmarks.deepmemeval.released import FULL, read
from memeval.benchmarks.errata import shipped_errata
from memeval.benchmarks.exchange_format import ExchangeFormat, RunPart
from memeval.grading.base import Grader
from memeval.grading.delivery import DeliveredDelta
from memeval.grading.judged import DoubtJudged, Judged
from memeval.records.benchmark import Errata

INFO = load(__package__)

GRADERS: dict[str, Grader] = {
    "cascade-propagation": DoubtJudged(),
    "delta-efficiency": DeliveredDelta(),
    "uncertainty-abstention": DoubtJudged(),
}
"""Graders of the categories that can be bought: by doubting everything, or by shaping the context."""

RESULTS = ExchangeFormat(
    name="deepmemeval",
    title="DeepMemEval results: a JSON list with one object per scenario.",
    benchmarks=(INFO.id,),
    reader=f"{__package__}.results:read",
    writer=f"{__package__}.results:write",
    holds={
        RunPart.ANSWERS: "all except those of delta-efficiency scenarios",
        RunPart.FAILURES: "the first error of each scenario",
        RunPart.CONTEXT_TOKENS: "delta-efficiency scenarios only",
        RunPart.GRADES: "right or wrong, in the evaluated file",
    },
)


class DeepMemEvalBenchmark(Benchmark):
    info = INFO
    formats = (RESULTS,)
    categories = tuple(Category.of(category, GRADERS.get(category.name, Judged())) for category in INFO.categories)

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open the released file, or the sample of ten scenarios: another track, because its digest differs."""
        refuse_parameters(INFO.id, parameters)
        return DeepMemEvalDataset(read(locate(INFO, path)))

    def errata(self, tier: str) -> Errata:
        return shipped_errata(__package__, FULL.digest)
