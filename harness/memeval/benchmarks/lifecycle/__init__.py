"""What a memory must forget, keep apart, correct and not believe: generated, and graded by ids and whole words."""

from memeval.benchmarks.lifecycle.benchmark import LifecycleBenchmark

__all__ = ["LifecycleBenchmark"]
