"""Benchmarks that are installed only during a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from memeval.benchmarks import registry
from memeval.benchmarks.base import Benchmark


@dataclass(frozen=True)
class Distribution:
    name: str = registry.OWN
    version: str = "1.0"


@dataclass(frozen=True)
class Entry:
    name: str
    factory: Callable[[], Any]
    dist: Distribution = Distribution()
    value: str = "made:benchmark"

    def load(self) -> Callable[[], Any]:
        return self.factory


def register(
    monkeypatch: pytest.MonkeyPatch, factories: Mapping[str, Callable[[], Benchmark]], *, only: bool = False
) -> None:
    """Install benchmarks, by id, beside the usual ones or ``only`` them."""
    usual = {} if only else dict(registry._entries())
    entries = {**usual, **{name: Entry(name, factory) for name, factory in factories.items()}}
    monkeypatch.setattr(registry, "_entries", lambda: entries)
