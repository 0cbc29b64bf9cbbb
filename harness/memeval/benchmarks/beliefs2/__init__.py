"""beliefs@2: changing facts of many lives, in wording packs of which some stay secret until an edition uses them."""

from memeval.benchmarks.beliefs2.benchmark import Beliefs2Benchmark

__all__ = ["Beliefs2Benchmark"]
