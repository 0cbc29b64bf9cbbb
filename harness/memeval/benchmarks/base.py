"""What a benchmark is: scenarios and keys by different calls, and categories with their graders as data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memeval.grading.base import Grader
from memeval.keys import ItemKey
from memeval.records.base import Digest
from memeval.records.benchmark import BenchmarkInfo, CategoryInfo
from memeval.records.scenario import Scenario
from memeval.records.track import CategoryPlan

Parameters = Mapping[str, str | int]


@dataclass(frozen=True)
class Category:
    """One line of a benchmark's table."""

    name: str
    title: str
    weight: float
    items: int
    grader: Grader
    tests: str
    graded: str
    answerable: bool = True

    def info(self) -> CategoryInfo:
        """Return what there is to say about the category."""
        return CategoryInfo(
            name=self.name,
            title=self.title,
            weight=self.weight,
            items=self.items,
            tests=self.tests,
            graded=self.graded,
            answerable=self.answerable,
        )


class Dataset(ABC):
    """A benchmark's data, opened and checked."""

    digest: Digest
    """Digest of the data, as it goes into the track."""

    parameters: Parameters
    """Parameters the data was generated with; empty for released data."""

    @abstractmethod
    def scenarios(self) -> Iterator[Scenario]:
        """Yield what systems may see, in the benchmark's order."""

    @abstractmethod
    def keys(self) -> Iterator[ItemKey]:
        """Yield what they may not, in the benchmark's order."""


class Benchmark(ABC):
    """A versioned set of scenarios with categories, weights and grading rules."""

    info: BenchmarkInfo
    categories: tuple[Category, ...]

    @abstractmethod
    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open the data.

        Args:
            path: a local copy of the released file; ``None`` for the copy that ``memeval data pull`` keeps.
            parameters: seed and size of a generated benchmark; ``None`` for the defaults.

        Raises:
            BadInput: the data is missing, or is not what the benchmark says it is.
        """

    def available(self, path: Path | None = None) -> bool:
        """Return whether :meth:`open` would find data."""
        return True

    def plan(self, keys: list[ItemKey]) -> tuple[CategoryPlan, ...]:
        """Return the fixed denominator: the categories with the number of items that ``keys`` declare in each."""
        counts = {category.name: 0 for category in self.categories}
        for key in keys:
            counts[key.category] += 1
        return tuple(
            CategoryPlan(name=c.name, weight=c.weight, items=counts[c.name], grader=c.grader.name)
            for c in self.categories
        )
