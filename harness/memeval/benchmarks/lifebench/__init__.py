"""LifeBench: a year of phone records of ten invented people, and questions about it."""

from memeval.benchmarks.lifebench.benchmark import LifeBenchBenchmark

__all__ = ["LifeBenchBenchmark"]
