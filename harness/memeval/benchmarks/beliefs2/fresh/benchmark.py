"""A fresh edition as a benchmark: beliefs@2 with the seed of a beacon and with withheld wording packs."""

from __future__ import annotations

from importlib.resources.abc import Traversable
from pathlib import Path

from memeval.benchmarks.base import Dataset, Parameters
from memeval.benchmarks.beliefs.fresh.editions import Beacon, Edition, editions
from memeval.benchmarks.beliefs.fresh.seed import FreshSeed
from memeval.benchmarks.beliefs2.benchmark import INFO, RETRIEVAL, Beliefs2Benchmark
from memeval.benchmarks.beliefs2.wording.editions import FILENAME, Wordings, folder, vocabulary
from memeval.benchmarks.beliefs2.wording.vocabulary import Vocabulary
from memeval.records.errors import BadInput
from memeval.toml import parse_toml


class FreshBeliefs2Benchmark(FreshSeed, Beliefs2Benchmark):
    """beliefs@2 with a seed and sentences that nobody could know when the edition was announced.

    Args:
        edition_id: id of an edition of memeval, or another edition. It must name its wording packs.
        beacon: the source of its seed; ``None`` for the beacon of memeval's editions.
        packs: the folder with the packs and their digests; ``None`` for memeval's own.

    Raises:
        BadInput: the edition is unknown or names no pack.
    """

    def __init__(
        self, edition_id: str | Edition, beacon: Beacon | None = None, packs: Traversable | None = None
    ) -> None:
        FreshSeed.__init__(self, edition_id, beacon)
        Beliefs2Benchmark.__init__(self)
        if not self.edition.packs:
            raise BadInput(
                f"the edition {self.edition.id} names no wording pack.", remedy="Name at least one withheld pack."
            )
        self._packs = packs or folder()
        tier = INFO.tiers[0].model_copy(
            update={"how": f"All items, in the wording of {' and '.join(self.edition.packs)}."}
        )
        self.info = self.catalogue(INFO, editions().packed).model_copy(update={"tiers": (tier,)})

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Generate the data from the seed and the packs of the edition.

        Args:
            path: the stored value of the beacon; ``None`` for the copy of ``memeval data pull``.
            parameters: ``size`` (people, default 260), a whole number.

        Raises:
            BadInput: the value is missing or of another edition; a pack is withheld or differs from its digest; or a
                parameter is unknown or invalid.
        """
        return self.opened(path, parameters, RETRIEVAL, self.info.tiers[0].name)

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Generate the data of a protocol; see :meth:`open`.

        Raises:
            BadInput: as :meth:`open` does.
        """
        return self.marked(super().opened(path, parameters, protocol, tier), path)

    def available(self, path: Path | None = None) -> bool:
        """Return whether the seed is stored and all packs are published."""
        return super().available(path) and all((self._packs / f"{name}.toml").is_file() for name in self.edition.packs)

    def remedy(self) -> str:
        """Return when and how to get the seed and the packs."""
        return f"{super().remedy()} Its wording packs ({', '.join(self.edition.packs)}) come with a release after that."

    def vocabulary(self, tier: str) -> Vocabulary:
        """Return the packs of the edition.

        Raises:
            BadInput: a pack is withheld, or differs from its published digest.
        """
        path = self._packs / FILENAME
        published = parse_toml(path.read_bytes(), path).record(Wordings)
        return vocabulary(published, self.edition.packs, self._packs)

    def chosen(self, path: Path | None, parameters: Parameters | None) -> tuple[int, int]:
        """Return the seed of the edition and the requested size.

        Raises:
            BadInput: as :meth:`open` does.
        """
        self.no_seed(parameters, INFO.id)
        _, size = super().chosen(None, parameters)
        return self.value(path).seed, size
