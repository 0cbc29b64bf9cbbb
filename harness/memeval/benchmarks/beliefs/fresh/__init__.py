"""Fresh editions: beliefs@1 with a seed from a public random source, unknown when the edition was announced."""

from memeval.benchmarks.beliefs.fresh.benchmark import FreshBeliefsBenchmark

__all__ = ["FreshBeliefsBenchmark"]
