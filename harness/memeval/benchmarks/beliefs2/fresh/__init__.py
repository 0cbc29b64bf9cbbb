"""Fresh editions of beliefs@2: a seed from a public random source, and wording packs that were withheld until then."""

from memeval.benchmarks.beliefs2.fresh.benchmark import FreshBeliefs2Benchmark

__all__ = ["FreshBeliefs2Benchmark"]
