"""Benchmarks that are installed only during a test."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
    factory: Callable[[], Any] = field(hash=False)
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


@dataclass(frozen=True)
class Unimportable(Entry):
    """An entry point whose module is missing."""

    def load(self) -> Callable[[], Any]:
        raise ModuleNotFoundError(f"No module named '{self.name}'")


def extend(monkeypatch: pytest.MonkeyPatch, group: str, **objects: Any) -> None:
    """Install objects of the package ``made`` under a group of entry points; ``None`` cannot be imported."""
    made = Distribution("made")
    entries = tuple(
        (Entry if found is not None else Unimportable)(name, found, made) for name, found in objects.items()
    )
    usual = registry._extending
    monkeypatch.setattr(registry, "_extending", lambda asked: entries if asked == group else usual(asked))
