"""lifecycle@1 as a benchmark: catalogue, graders and generated data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.generated import SeedAndSize
from memeval.benchmarks.lifecycle.generate import STANDARD, generate
from memeval.benchmarks.lifecycle.grading import AnsweredProbes, FoundProbes
from memeval.keys import ItemKey
from memeval.records.base import Digest, digest_bytes
from memeval.records.scenario import Scenario

INFO = load(__package__)

ANSWERS = "answers"
"""The protocol in which answers in words are graded."""

PARAMETERS = SeedAndSize({"seed": 42, "size": STANDARD}, largest=200)
"""Its parameters."""


class LifecycleDataset(Dataset):
    """The generated data of a protocol.

    Args:
        seed: seed of the generator.
        size: number of scenarios of most parts.
        protocol: the protocol.
    """

    def __init__(self, seed: int, size: int, protocol: str) -> None:
        self.parameters = {"seed": seed, "size": size}
        self._scenarios, self._keys, self.digest = _generation(seed, size, protocol)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios, part by part."""
        return iter(self._scenarios)

    def keys(self) -> Iterator[ItemKey]:
        """Yield the keys, scenario by scenario."""
        return iter(self._keys)


@lru_cache(maxsize=2)
def _generation(seed: int, size: int, protocol: str) -> tuple[tuple[Scenario, ...], tuple[ItemKey, ...], Digest]:
    """Return scenarios, keys, and the digest of both as lines of canonical JSON."""
    made = generate(seed, size, protocol)
    scenarios = tuple(written.scenario for written in made)
    keys = tuple(item for written in made for item in written.items)
    lines = [*(scenario.to_json() for scenario in scenarios), *(key.to_json() for key in keys)]
    return scenarios, keys, digest_bytes("".join(f"{line}\n" for line in lines).encode())


class LifecycleBenchmark(Benchmark):
    """memeval's own benchmark of what a memory must forget, keep apart, correct and not believe."""

    info = INFO

    def __init__(self) -> None:
        found, answered = FoundProbes(), AnsweredProbes()
        self._tables = {
            each.name: tuple(
                Category.of(category, answered if each.name == ANSWERS else found)
                for category in each.categories or INFO.categories
            )
            for each in INFO.protocols
        }
        self.categories = self._tables[INFO.protocols[0].name]

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Generate the data of the default protocol.

        Args:
            path: must be ``None``; there is no file to read.
            parameters: ``seed`` (default 42) and ``size`` (default 14), whole numbers.

        Raises:
            BadInput: a path was given, or a parameter that is unknown or out of range.
        """
        return self.opened(path, parameters, INFO.protocols[0].name, INFO.tiers[0].name)

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Generate the data of a protocol; see :meth:`open`.

        Raises:
            BadInput: as :meth:`open` does.
        """
        return LifecycleDataset(*PARAMETERS.chosen(self.info.id, path, parameters), protocol)

    def table(self, protocol: str, tier: str | None = None) -> tuple[Category, ...]:
        """Return the categories with the graders of a protocol."""
        return self._tables[protocol]
