"""DeepMemEval: beliefs that change, noise, time, context and uncertainty; 500 synthetic scenarios as released."""

from memeval.benchmarks.deepmemeval.benchmark import DeepMemEvalBenchmark

__all__ = ["DeepMemEvalBenchmark"]
