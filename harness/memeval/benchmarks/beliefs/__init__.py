"""beliefs@2: changing facts of many lives, in wording packs of which some stay secret until an edition uses them."""

from memeval.benchmarks.beliefs.benchmark import BeliefsBenchmark

__all__ = ["BeliefsBenchmark"]
