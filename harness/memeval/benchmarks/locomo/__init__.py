"""LoCoMo: ten very long conversations between two people, and 1,986 questions about what was said, as released."""

from memeval.benchmarks.locomo.benchmark import LocomoBenchmark

__all__ = ["LocomoBenchmark"]
