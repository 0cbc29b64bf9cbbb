"""The static site: pages, charts and data shards, computed from a results folder, with the hand-written guide."""

from memeval.site.building import build

__all__ = ["build"]
