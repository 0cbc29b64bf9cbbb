"""beliefs@1 as a benchmark: catalogue, graders and generated data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.benchmarks.beliefs.long import EACH, SIZES
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.generated import SeedAndSize
from memeval.benchmarks.kept import Generated, Generation, generated
from memeval.grading.delivery import DeliveredDelta
from memeval.grading.judged import Judged
from memeval.grading.stored import StoredFacts
from memeval.keys import (
    BeliefKey,
    CascadeKey,
    DeltaKey,
    ItemKey,
    NoiseKey,
    StoreKey,
    TemporalKey,
    UncertaintyKey,
)
from memeval.records.scenario import Scenario

PARAMETERS = SeedAndSize({"seed": 42, "size": 500}, largest=5000)
"""Its parameters."""


INFO = load(__package__)

GRADERS = {"delta-efficiency": DeliveredDelta(headline="gated")}
"""Graders of the categories without a judge."""


KINDS = (BeliefKey, CascadeKey, DeltaKey, NoiseKey, StoreKey, TemporalKey, UncertaintyKey)
"""The types of its answer keys."""


class BeliefsDataset(Dataset):
    """The generated data of a protocol.

    Args:
        seed: seed of the generator.
        size: number of items.
        protocol: the protocol.
    """

    def __init__(self, seed: int, size: int, protocol: str) -> None:
        self.parameters = {"seed": seed, "size": size}
        self._scenarios, self._keys, self.digest = _generation(seed, size, protocol)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios, by category and number."""
        return iter(self._scenarios)

    def scenario(self, scenario_id: str) -> Scenario:
        """See :class:`Dataset`."""
        return self._scenarios.one(scenario_id)

    def scenario_ids(self) -> Iterator[str]:
        """See :class:`Dataset`."""
        return self._scenarios.ids()

    def keys(self) -> Iterator[ItemKey]:
        """Yield the keys, by category and number."""
        return iter(self._keys)


@lru_cache(maxsize=2)
def _generation(seed: int, size: int, protocol: str) -> Generated:
    """Return the data of a protocol; caches two of them, because often many runs of the same data are graded."""
    parameters: dict[str, str | int] = {"seed": seed, "size": size, "protocol": protocol}
    return generated(INFO.id, parameters, KINDS, partial(_histories, protocol, seed, size))


def _histories(protocol: str, seed: int, size: int) -> Generation:
    """Generate the data. The generator and its words take as long to import as kept data takes to read."""
    from memeval.benchmarks.beliefs.histories import HISTORIES

    return HISTORIES[protocol](seed, size)


ELSEWHERE = frozenset({"delta-efficiency"})
"""Categories without items in the tiers by length, because the length decides how much context grows."""


class BeliefsBenchmark(Benchmark):
    """memeval's own benchmark of changing beliefs. It is generated, so it needs no download."""

    info = INFO
    categories = tuple(Category.of(category, GRADERS.get(category.name, Judged())) for category in INFO.categories)

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Generate the data.

        Args:
            path: must be ``None``; there is no file to read.
            parameters: ``seed`` (default 42) and ``size`` (default 500), whole numbers.

        Raises:
            BadInput: a path was given, or a parameter that is unknown or out of range.
        """
        return BeliefsDataset(*self.chosen(path, parameters), INFO.protocols[0].name)

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Generate the data of a protocol and a tier; see :meth:`open`.

        Raises:
            BadInput: as :meth:`open` does.
        """
        if tier in SIZES:
            return self._long(path, parameters, protocol, tier)
        return BeliefsDataset(*self.chosen(path, parameters), protocol)

    def table(self, protocol: str, tier: str | None = None) -> tuple[Category, ...]:
        """Return the categories of a protocol and a tier. In a tier by length, every item counts the same."""
        if tier in SIZES:
            return tuple(replace(each, weight=None, items=EACH) for each in _ALONE if each.name not in ELSEWHERE)
        return _TABLES.get(protocol, self.categories)

    def _long(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Return the histories of a tier by length.

        Raises:
            BadInput: the protocol has no such tier, or ``size`` is given, or as :meth:`open` does.
        """
        from memeval.benchmarks.beliefs.long.dataset import LongDataset, check_long
        from memeval.benchmarks.beliefs.long.source import LongBeliefs

        seed, _ = self.chosen(path, parameters)
        check_long(INFO.id, (INFO.protocols[0].name,), protocol, tier, parameters)
        return LongDataset(LongBeliefs(seed, tier))

    def chosen(self, path: Path | None, parameters: Parameters | None) -> tuple[int, int]:
        """Return the requested seed and size.

        Raises:
            BadInput: a path was given, or a parameter that is unknown or out of range.
        """
        return PARAMETERS.chosen(self.info.id, path, parameters)


_ALONE = BeliefsBenchmark.categories
_SHARED = next(each for each in INFO.protocols if each.name == "shared")
_STORED = next(each for each in INFO.protocols if each.name == "stored")
_ASKED = 1.0 - sum(each.weight or 0.0 for each in _ALONE if each.name in _SHARED.apart)
"""Total weight of the categories that the protocol "shared" asks; each keeps its share."""
_TABLES: Mapping[str, tuple[Category, ...]] = {
    "shared": tuple(
        replace(each, weight=0.0 if each.name in _SHARED.apart else (each.weight or 0.0) / _ASKED) for each in _ALONE
    ),
    "stored": tuple(Category.of(category, StoredFacts()) for category in _STORED.categories),
}
