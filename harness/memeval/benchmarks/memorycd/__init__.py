"""MemoryCD: what a person will rate, write and choose, from years of real reviews, in one domain and across domains."""

from memeval.benchmarks.memorycd.benchmark import MemoryCDBenchmark

__all__ = ["MemoryCDBenchmark"]
