"""Fresh editions: beliefs@1 with a seed that nobody could know when the edition was announced."""

from memeval.benchmarks.beliefs.fresh.benchmark import FreshBeliefsBenchmark

__all__ = ["FreshBeliefsBenchmark"]
