"""Whether a system keeps to the adapter contract: checks with planted facts, before any scenario is run."""

from memeval.conformance.suite import CHECKS, MOST_CALLS, SUITE, check_system

__all__ = ["CHECKS", "MOST_CALLS", "SUITE", "check_system"]
