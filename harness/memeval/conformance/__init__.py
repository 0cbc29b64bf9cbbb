"""Conformance suite: checks with planted facts whether a system fulfils the adapter contract."""

from memeval.conformance.suite import CHECKS, MOST_CALLS, SUITE, check_system

__all__ = ["CHECKS", "MOST_CALLS", "SUITE", "check_system"]
