"""PrecisionMemBench as a benchmark."""

from __future__ import annotations

from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.data import data_folder, pull
from memeval.benchmarks.precisionmembench.dataset import PrecisionDataset
from memeval.benchmarks.precisionmembench.fixtures import folder_of, read
from memeval.benchmarks.precisionmembench.formats import FORMATS
from memeval.benchmarks.precisionmembench.grading import BeliefSearch
from memeval.records.errors import BadInput
from memeval.systems.channel import visible

INFO = load(__package__)


class PrecisionBenchmark(Benchmark):
    """PrecisionMemBench as released, version 1."""

    info = INFO
    formats = FORMATS
    categories = tuple(
        Category.of(category, BeliefSearch(), apart=category.name in INFO.protocols[0].apart)
        for category in INFO.categories
    )

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open the released files; see :meth:`memeval.benchmarks.base.Benchmark.open`.

        Args:
            path: see :func:`memeval.benchmarks.precisionmembench.fixtures.folder_of`.
            parameters: must be empty.

        Raises:
            BadInput: a file is missing or not the released one, or a parameter was given.
        """
        if parameters:
            name = visible(str(next(iter(parameters))))[:64]
            raise BadInput(f"{self.info.id} has no parameter '{name}'.", remedy="Leave it out.")
        return PrecisionDataset(read(self.info, path))

    def available(self, path: Path | None = None) -> bool:
        """Return whether all files exist."""
        folder = folder_of(self.info, path)
        return all((folder / source.filename).is_file() for source in self.info.sources)

    def pull(self) -> Path:
        """Download the three files, and return their folder.

        Raises:
            BadInput: a file does not exist, the connection was cut, or a digest does not match.
        """
        folder = data_folder() / self.info.name
        for source in self.info.sources:
            pull(source, folder)
        return folder
