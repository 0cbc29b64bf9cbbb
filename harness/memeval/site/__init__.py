"""The static site: pages, charts and data shards, computed from a results folder; MkDocs writes the pages."""

from memeval.site.building import build

__all__ = ["build"]
