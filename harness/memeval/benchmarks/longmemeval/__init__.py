"""LongMemEval: 500 questions to a chat assistant, each with its own long history, as released."""

from memeval.benchmarks.longmemeval.benchmark import LongMemEvalBenchmark

__all__ = ["LongMemEvalBenchmark"]
