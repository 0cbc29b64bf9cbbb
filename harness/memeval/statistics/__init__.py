"""Intervals, paired tests and rank ranges: deterministic functions of numbers, without records or files."""

from memeval.statistics.agreement import Kappa, cohen_kappa
from memeval.statistics.composite import CompositeEstimate, Layout, Sample, composite, composite_interval, design_effect
from memeval.statistics.paired import (
    PairedDifference,
    holm,
    mcnemar,
    paired_difference,
    paired_means,
    pairwise,
    smallest_difference,
)
from memeval.statistics.pareto import frontier
from memeval.statistics.ranks import RankRange, rank_ranges
from memeval.statistics.steps import Step, find_steps
from memeval.statistics.wilson import wilson

__all__ = [
    "CompositeEstimate",
    "Kappa",
    "Layout",
    "PairedDifference",
    "RankRange",
    "Sample",
    "Step",
    "cohen_kappa",
    "composite",
    "composite_interval",
    "design_effect",
    "find_steps",
    "frontier",
    "holm",
    "mcnemar",
    "paired_difference",
    "paired_means",
    "pairwise",
    "rank_ranges",
    "smallest_difference",
    "wilson",
]
