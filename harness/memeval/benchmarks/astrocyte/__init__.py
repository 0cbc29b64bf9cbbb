"""Suites of retain, recall and reflect: built-in ones, a generated one, and your own."""

from memeval.benchmarks.astrocyte.benchmark import BroughtSuite, BuiltInSuite, StressSuite

__all__ = ["BroughtSuite", "BuiltInSuite", "StressSuite"]
