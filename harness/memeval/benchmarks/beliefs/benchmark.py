"""The benchmark as the rest of memeval sees it: its table, what it says of itself, and its data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.benchmarks.beliefs.generate import generate
from memeval.benchmarks.catalogue import load
from memeval.grading.delta import DeltaEfficiency
from memeval.grading.judged import Judged
from memeval.keys import ItemKey
from memeval.records.base import Digest, digest_bytes
from memeval.records.errors import BadInput
from memeval.records.scenario import Scenario

DEFAULTS: dict[str, int] = {"seed": 42, "size": 500}
"""Parameters, and what they are unless said otherwise."""

LARGEST = 5000
"""The most items a generation may have."""


INFO = load(__package__)

GRADERS = {"delta-efficiency": DeltaEfficiency(headline="gated")}
"""Who grades the categories that no judge is asked about."""


class BeliefsDataset(Dataset):
    """A generation of the benchmark.

    Args:
        seed: of the generator.
        size: items in all.
    """

    def __init__(self, seed: int, size: int) -> None:
        self.parameters = {"seed": seed, "size": size}
        self._items = generate(seed, size)
        self.digest = _digest(seed, size)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios, by category and number."""
        return (item.scenario for item in self._items)

    def keys(self) -> Iterator[ItemKey]:
        """Yield the keys, in the order of the scenarios."""
        return (item.key for item in self._items)


@lru_cache(maxsize=4)
def _digest(seed: int, size: int) -> Digest:
    """Return the digest of a generation: its scenarios, then its keys, as lines of canonical JSON."""
    items = generate(seed, size)
    lines = [*(item.scenario.to_json() for item in items), *(item.key.to_json() for item in items)]
    return digest_bytes("".join(f"{line}\n" for line in lines).encode())


class BeliefsBenchmark(Benchmark):
    """memeval's own benchmark of beliefs that change; generated, so that it needs no download."""

    info = INFO
    categories = tuple(Category.of(category, GRADERS.get(category.name, Judged())) for category in INFO.categories)

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> BeliefsDataset:
        """Generate the data.

        Args:
            path: must be ``None``; there is no file to read.
            parameters: ``seed`` (default 42) and ``size`` (default 500), whole numbers.

        Raises:
            BadInput: a path was given, or a parameter that is unknown or out of range.
        """
        if path is not None:
            raise BadInput(
                "beliefs@1 is generated and reads no file.",
                where=path,
                remedy="Leave the path out, and choose 'seed' and 'size' instead.",
            )
        chosen = {**DEFAULTS, **_whole_numbers(parameters or {})}
        if not 1 <= chosen["size"] <= LARGEST:
            raise BadInput(f"beliefs@1 has between 1 and {LARGEST} items, and 'size' is {chosen['size']}.")
        if chosen["seed"] < 0:
            raise BadInput(f"beliefs@1 takes a 'seed' of 0 or more, not {chosen['seed']}.")
        return BeliefsDataset(chosen["seed"], chosen["size"])


def _whole_numbers(parameters: Parameters) -> dict[str, int]:
    """Return the parameters as whole numbers, and refuse all that are not."""
    read: dict[str, int] = {}
    for name, value in parameters.items():
        if name not in DEFAULTS:
            raise BadInput(f"beliefs@1 has no parameter '{name}'.", remedy="It takes 'seed' and 'size'.")
        try:
            read[name] = int(str(value))
        except ValueError:
            raise BadInput(f"beliefs@1 takes a whole number as '{name}', not '{value}'.") from None
    return read
