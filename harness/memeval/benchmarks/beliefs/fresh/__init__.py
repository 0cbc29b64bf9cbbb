"""Fresh editions of beliefs@2: a seed from a public random source, and perhaps withheld wording packs."""

from functools import partial

from memeval.benchmarks.beliefs.fresh.benchmark import FreshBeliefsBenchmark

JANUARY_2027 = partial(FreshBeliefsBenchmark, "beliefs-fresh-202701@2")

__all__ = ["JANUARY_2027", "FreshBeliefsBenchmark"]
