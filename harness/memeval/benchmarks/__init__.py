"""The benchmarks: one folder each, found by entry point."""

from memeval.benchmarks.registry import all_benchmarks, find, known_ids, quick_benchmark

__all__ = ["all_benchmarks", "find", "known_ids", "quick_benchmark"]
