"""Question sets in JSON Lines: a built-in one, and your own files in the same format."""

from memeval.benchmarks.qa.benchmark import QaBenchmark, QaSmokeBenchmark
from memeval.benchmarks.qa.dataset import QaDataset

__all__ = ["QaBenchmark", "QaDataset", "QaSmokeBenchmark"]
