"""beliefs@1: memeval's own benchmark of changing beliefs, generated from timelines."""

from memeval.benchmarks.beliefs.benchmark import BeliefsBenchmark

__all__ = ["BeliefsBenchmark"]
