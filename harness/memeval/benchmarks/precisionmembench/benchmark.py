"""PrecisionMemBench as a benchmark."""

from pathlib import Path

from memeval.benchmarks.base import Benchmark, Dataset, Parameters, refuse_parameters, tables_of
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.data import data_folder, pull
from memeval.benchmarks.exchange_format import ExchangeFormat, RunPart
from memeval.benchmarks.precisionmembench.dataset import PrecisionDataset
from memeval.benchmarks.precisionmembench.fixtures import folder_of, read
from memeval.benchmarks.precisionmembench.grading import BeliefSearch

INFO = load(__package__)

REPORT = ExchangeFormat(
    name="precisionmembench",
    title="PrecisionMemBench reports: a JSON object with one element per search; the conversations are a second file.",
    benchmarks=("precisionmembench@1",),
    reader=f"{__package__}.reports:read",
    writer=f"{__package__}.reports:write",
    holds={
        RunPart.ITEMS: "ids of beliefs, by the rules of the authors' code",
        RunPart.TIMINGS: "the search by question",
        RunPart.GRADES: "passed or failed, by the authors' rule",
        RunPart.METRICS: "precision, recall and drift, as published",
        RunPart.SCORES: "means and passes, without intervals",
        RunPart.SYSTEM: "its slug",
    },
)


class PrecisionBenchmark(Benchmark):
    info = INFO
    formats = (REPORT,)
    tables = tables_of(INFO, lambda *_: BeliefSearch())

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        refuse_parameters(INFO.id, parameters)
        return PrecisionDataset(read(self.info, path))

    def available(self, path: Path | None = None) -> bool:
        folder = folder_of(self.info, path)
        return all((folder / source.filename).is_file() for source in self.info.sources)

    def pull(self) -> Path:
        folder = data_folder() / self.info.name
        for source in self.info.sources:
            pull(source, folder)
        return folder
