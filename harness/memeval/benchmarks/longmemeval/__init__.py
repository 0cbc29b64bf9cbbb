"""LongMemEval: 500 questions to a chat assistant, each over a long history of its own, as released."""

from memeval.benchmarks.longmemeval.benchmark import LongMemEvalBenchmark

__all__ = ["LongMemEvalBenchmark"]
