"""PrecisionMemBench: searches among 35 beliefs that should return the right ones and nothing else."""

from memeval.benchmarks.precisionmembench.benchmark import PrecisionBenchmark

__all__ = ["PrecisionBenchmark"]
