"""LoCoMo: ten very long conversations between two people, and 1,986 questions about what was said, as released."""

from memeval.benchmarks.locomo.benchmark import LocomoBenchmark
from memeval.benchmarks.locomo.ceilings import CEILINGS, over_ceiling

__all__ = ["CEILINGS", "LocomoBenchmark", "over_ceiling"]
