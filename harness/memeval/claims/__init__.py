"""Answers that others published: read by a mapping, matched to a benchmark's items, and graded again."""
