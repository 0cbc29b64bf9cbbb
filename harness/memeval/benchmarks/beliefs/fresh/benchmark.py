"""A fresh edition as a benchmark: beliefs@2 with the seed of a beacon, and perhaps with withheld wording packs."""

from importlib.resources.abc import Traversable
from pathlib import Path

from memeval.benchmarks.base import Dataset, Parameters
from memeval.benchmarks.beliefs.benchmark import INFO, BeliefsBenchmark
from memeval.benchmarks.beliefs.fresh.editions import Beacon, Edition, EditionTexts, edition, editions
from memeval.benchmarks.beliefs.fresh.value import FILENAME as VALUE
from memeval.benchmarks.beliefs.fresh.value import BeaconValue, fetch, is_official, read
from memeval.benchmarks.beliefs.wording.editions import FILENAME, Vocabulary, Wordings, folder, vocabulary
from memeval.benchmarks.data import data_folder
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import BadInput
from memeval.toml import parse_toml


class FreshBeliefsBenchmark(BeliefsBenchmark):
    """beliefs@2 with a seed that nobody could know when the edition was announced.

    Raises ``BadInput``: the edition is unknown. ``edition_id``: id of an edition of memeval, or another edition.
    ``beacon``: the source of its seed; ``None`` for the beacon of memeval's editions. ``packs``: the folder with the
    packs and their digests; ``None`` for memeval's own.
    """

    def __init__(
        self, edition_id: str | Edition, beacon: Beacon | None = None, packs: Traversable | None = None
    ) -> None:
        self.edition = edition_id if isinstance(edition_id, Edition) else edition(edition_id)
        self.beacon = beacon or editions().beacon
        self._packs = packs or folder()
        self.info = self._catalogue(editions().packed if self.edition.packs else editions())

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Generate the data from the seed and the packs of the edition.

        Raises ``BadInput``: the value is missing or of another edition; a pack is withheld or differs from its digest;
        or a parameter is unknown or invalid. ``path``: the stored value of the beacon; ``None`` for the copy of
        ``memeval data pull``. ``parameters``: ``size`` (people, default 260), a whole number.
        """
        dataset = super().opened(path, parameters, protocol, tier)
        dataset.released = is_official(self.value(path), self.beacon)
        return dataset

    def available(self, path: Path | None = None) -> bool:
        packs = (self._packs / f"{name}.toml" for name in self.edition.packs)
        return self.place(path).is_file() and all(pack.is_file() for pack in packs)

    def remedy(self) -> str:
        address = self.beacon.address(self.beacon.urls[0], self.edition.round)
        packs = ", ".join(self.edition.packs)
        return (
            f"Its seed is published on {self.edition.at}, as round {self.edition.round} of {self.beacon.name} "
            f"({address}). After that time, run memeval data pull {self.edition.name}."
        ) + (f" Its wording packs ({packs}) come with a release after that." if packs else "")

    def pull(self) -> Path:
        return fetch(self.edition, self.beacon, self.place(None))

    def vocabulary(self, tier: str) -> Vocabulary:
        if not self.edition.packs:
            return super().vocabulary(tier)
        path = self._packs / FILENAME
        published = parse_toml(path.read_bytes(), path).record(Wordings)
        return vocabulary(published, self.edition.packs, self._packs)

    def chosen(self, path: Path | None, parameters: Parameters | None) -> tuple[int, int]:
        if "seed" in (parameters or {}):
            raise BadInput(
                f"{self.edition.id} has no parameter 'seed': its seed is fixed.",
                remedy=f"Use {INFO.id} to choose a seed.",
            )
        _, size = super().chosen(None, parameters)
        return self.value(path).seed, size

    def value(self, path: Path | None) -> BeaconValue:
        """Return the stored value of the beacon.

        Raises ``BadInput``: the value is missing, damaged, or of another edition.
        """
        place = self.place(path)
        if not place.exists():
            raise BadInput(f"the seed of {self.edition.id} is missing.", where=place, remedy=self.remedy())
        return read(place, self.edition)

    def place(self, path: Path | None) -> Path:
        if path is None:
            return data_folder() / self.edition.name / VALUE
        return path / VALUE if path.is_dir() else path

    def _catalogue(self, texts: EditionTexts) -> BenchmarkInfo:
        packs = " and ".join(self.edition.packs)
        tier = INFO.tiers[0]
        if packs:
            tier = tier.model_copy(update={"how": f"All items, in the wording of {packs}."})
        slots = {"month": self.edition.month, "at": self.edition.at, "round": self.edition.round}
        slots |= {"draws": "drew" if self.edition.drawn else "will draw"}
        slots |= {"beacon": self.beacon.name, "chain": self.beacon.chain, "packs": packs}
        return INFO.model_copy(
            update={
                "id": self.edition.id,
                "quick": None,
                "seed_of": INFO.id,
                "title": texts.title.format(**slots),
                "summary": texts.summary.format(**slots),
                "made": f"{texts.made.format(**slots)} {INFO.made}",
                "tiers": (tier,),
            }
        )
