"""A fresh edition as a benchmark: beliefs@1 with the seed from a public random source (beacon)."""

from __future__ import annotations

from pathlib import Path

from memeval.benchmarks.base import Dataset, Parameters
from memeval.benchmarks.beliefs.benchmark import INFO, BeliefsBenchmark
from memeval.benchmarks.beliefs.fresh.editions import Beacon, Edition, editions
from memeval.benchmarks.beliefs.fresh.seed import FreshSeed


class FreshBeliefsBenchmark(FreshSeed, BeliefsBenchmark):
    """beliefs@1 with a seed that nobody could know when the edition was announced.

    Args:
        edition_id: id of an edition of memeval, or another edition.
        beacon: the source of its seed; ``None`` for the beacon of memeval's editions.
    """

    def __init__(self, edition_id: str | Edition, beacon: Beacon | None = None) -> None:
        super().__init__(edition_id, beacon)
        self.info = self.catalogue(INFO, editions())

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Generate the data from the seed of the edition.

        Args:
            path: the stored value of the beacon; ``None`` for the copy of ``memeval data pull``.
            parameters: ``size`` (default 500), a whole number.

        Raises:
            BadInput: the value is missing or of another edition, or a parameter is unknown or invalid.
        """
        return self.marked(super().open(path, parameters), path)

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Generate the data of a protocol and a tier; see :meth:`open`.

        Raises:
            BadInput: as :meth:`open` does.
        """
        return self.marked(super().opened(path, parameters, protocol, tier), path)

    def chosen(self, path: Path | None, parameters: Parameters | None) -> tuple[int, int]:
        """Return the seed of the edition and the requested size.

        Raises:
            BadInput: as :meth:`open` does.
        """
        self.no_seed(parameters, INFO.id)
        _, size = super().chosen(None, parameters)
        return self.value(path).seed, size
