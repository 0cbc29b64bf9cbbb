"""Pantry: counts and places in a household, as a benchmark for memeval."""

from memeval_pantry.benchmark import PantryBenchmark

__all__ = ["PantryBenchmark"]
