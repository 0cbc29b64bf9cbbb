"""DeepMemEval: 500 synthetic scenarios on changing beliefs, noise, time, context and uncertainty, as released."""

from memeval.benchmarks.deepmemeval.benchmark import DeepMemEvalBenchmark

__all__ = ["DeepMemEvalBenchmark"]
