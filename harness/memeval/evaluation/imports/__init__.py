"""Answers in files: imported as runs, scored without a run, and exported."""
