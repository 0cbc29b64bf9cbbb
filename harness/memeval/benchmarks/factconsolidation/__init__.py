"""FactConsolidation of MemoryAgentBench: the newest of contradicting facts."""

from memeval.benchmarks.factconsolidation.benchmark import FactConsolidationBenchmark

__all__ = ["FactConsolidationBenchmark"]
