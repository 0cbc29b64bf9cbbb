"""Question sets in JSON Lines: one that memeval brings, and any of the same shape."""

from memeval.benchmarks.qa.benchmark import QaBenchmark, QaSmokeBenchmark
from memeval.benchmarks.qa.dataset import QaDataset

__all__ = ["QaBenchmark", "QaDataset", "QaSmokeBenchmark"]
