"""LoCoMo: ten very long conversations between two people, with 1,986 questions, as released."""

from memeval.benchmarks.locomo.benchmark import LocomoBenchmark

__all__ = ["LocomoBenchmark"]
