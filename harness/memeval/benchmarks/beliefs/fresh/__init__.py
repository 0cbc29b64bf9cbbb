"""Fresh editions: beliefs@1 with a seed from a public random source, unknown when the edition was announced."""

from functools import partial

from memeval.benchmarks.beliefs.fresh.benchmark import FreshBeliefsBenchmark

DECEMBER_2026 = partial(FreshBeliefsBenchmark, "beliefs-fresh-202612@1")

__all__ = ["DECEMBER_2026", "FreshBeliefsBenchmark"]
