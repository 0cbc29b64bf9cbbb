"""Intervals, paired tests and rank ranges: deterministic functions of numbers, without records or files."""
