"""A fresh edition as a benchmark: beliefs@2 with the seed of a beacon, and perhaps with withheld wording packs."""

from __future__ import annotations

from importlib.resources.abc import Traversable
from pathlib import Path

from memeval.benchmarks.base import Dataset, Parameters
from memeval.benchmarks.beliefs.benchmark import INFO, JUDGE, BeliefsBenchmark
from memeval.benchmarks.beliefs.fresh.editions import Beacon, Edition, editions
from memeval.benchmarks.beliefs.fresh.seed import FreshSeed
from memeval.benchmarks.beliefs.wording.editions import FILENAME, Vocabulary, Wordings, folder, vocabulary
from memeval.toml import parse_toml


class FreshBeliefsBenchmark(FreshSeed, BeliefsBenchmark):
    """beliefs@2 with a seed that nobody could know when the edition was announced.

    Args:
        edition_id: id of an edition of memeval, or another edition.
        beacon: the source of its seed; ``None`` for the beacon of memeval's editions.
        packs: the folder with the packs and their digests; ``None`` for memeval's own.

    Raises:
        BadInput: the edition is unknown.
    """

    def __init__(
        self, edition_id: str | Edition, beacon: Beacon | None = None, packs: Traversable | None = None
    ) -> None:
        FreshSeed.__init__(self, edition_id, beacon)
        BeliefsBenchmark.__init__(self)
        self._packs = packs or folder()
        tier = INFO.tiers[0]
        if self.edition.packs:
            tier = tier.model_copy(update={"how": f"All items, in the wording of {' and '.join(self.edition.packs)}."})
        texts = editions().packed if self.edition.packs else editions()
        self.info = self.catalogue(INFO, texts).model_copy(update={"tiers": (tier,)})

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Generate the data from the seed and the packs of the edition.

        Args:
            path: the stored value of the beacon; ``None`` for the copy of ``memeval data pull``.
            parameters: ``size`` (people, default 260), a whole number.

        Raises:
            BadInput: the value is missing or of another edition; a pack is withheld or differs from its digest; or a
                parameter is unknown or invalid.
        """
        return self.opened(path, parameters, JUDGE, self.info.tiers[0].name)

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
        seed, packs = super().remedy(), ", ".join(self.edition.packs)
        return f"{seed} Its wording packs ({packs}) come with a release after that." if packs else seed

    def vocabulary(self, tier: str) -> Vocabulary:
        """Return the packs of the edition, or the public wording.

        Raises:
            BadInput: a pack is withheld, or differs from its published digest.
        """
        if not self.edition.packs:
            return super().vocabulary(tier)
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
