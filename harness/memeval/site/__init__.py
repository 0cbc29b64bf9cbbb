"""The static site: pages, charts and data shards, computed from a results folder, with the hand-written guide."""

from memeval.site.frame.building import build

__all__ = ["build"]
