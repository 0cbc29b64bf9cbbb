"""The static site: pages, charts and data shards as pure functions of a results folder; MkDocs comes last."""

from memeval.site.building import build

__all__ = ["build"]
