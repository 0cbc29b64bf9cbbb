"""Suites of retain, recall and reflect: built-in ones, a generated one, and your own."""

from functools import partial

from memeval.benchmarks.astrocyte.benchmark import BroughtSuite, BuiltInSuite, StressSuite

BASIC = partial(BuiltInSuite, "basic")
ACCURACY = partial(BuiltInSuite, "accuracy")
REFLECT = partial(BuiltInSuite, "reflect")

__all__ = ["ACCURACY", "BASIC", "REFLECT", "BroughtSuite", "BuiltInSuite", "StressSuite"]
