"""Suites of retaining, recalling and reflecting: those that memeval ships, one that it generates, and anyone's own."""

from memeval.benchmarks.astrocyte.benchmark import BroughtSuite, BuiltInSuite, StressSuite

__all__ = ["BroughtSuite", "BuiltInSuite", "StressSuite"]
