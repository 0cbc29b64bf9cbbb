"""MemoryCD: predict what a person rates, writes and chooses, from years of reviews, in one or across domains."""

from memeval.benchmarks.memorycd.benchmark import MemoryCDBenchmark

__all__ = ["MemoryCDBenchmark"]
