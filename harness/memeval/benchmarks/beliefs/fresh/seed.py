"""The part of a fresh edition that does not depend on its generator: its seed, and its catalogue entry."""

from __future__ import annotations

from pathlib import Path

from memeval.benchmarks.base import Dataset, Parameters
from memeval.benchmarks.beliefs.fresh.editions import Beacon, Edition, EditionTexts, edition, editions
from memeval.benchmarks.beliefs.fresh.value import FILENAME, BeaconValue, fetch, is_official, read
from memeval.benchmarks.data import data_folder
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import BadInput


class FreshSeed:
    """The seed of an edition, from a beacon.

    Args:
        edition_id: id of an edition of memeval, or another edition.
        beacon: the source of its seed; ``None`` for the beacon of memeval's editions.
    """

    def __init__(self, edition_id: str | Edition, beacon: Beacon | None = None) -> None:
        self.edition = edition_id if isinstance(edition_id, Edition) else edition(edition_id)
        self.beacon = beacon or editions().beacon

    def available(self, path: Path | None = None) -> bool:
        """Return whether the seed is stored."""
        return self.place(path).is_file()

    def remedy(self) -> str:
        """Return when and how to get the seed."""
        return (
            f"Its seed is published on {self.edition.at}, as round {self.edition.round} of {self.beacon.name} "
            f"({self.beacon.address(self.beacon.urls[0], self.edition.round)}). After that time, run "
            f"memeval data pull {self.edition.name}."
        )

    def pull(self) -> Path:
        """Fetch the seed; see :func:`memeval.benchmarks.beliefs.fresh.value.fetch`."""
        return fetch(self.edition, self.beacon, self.place(None))

    def value(self, path: Path | None) -> BeaconValue:
        """Return the stored value of the beacon.

        Raises:
            BadInput: the value is missing, damaged, or of another edition.
        """
        place = self.place(path)
        if not place.exists():
            raise BadInput(f"the seed of {self.edition.id} is missing.", where=place, remedy=self.remedy())
        return read(place, self.edition)

    def no_seed(self, parameters: Parameters | None, other: str) -> None:
        """Refuse a seed of the caller.

        Args:
            parameters: the parameters of the caller.
            other: the benchmark whose seed can be chosen.

        Raises:
            BadInput: the parameters have a seed.
        """
        if "seed" in (parameters or {}):
            raise BadInput(
                f"{self.edition.id} has no parameter 'seed': its seed is fixed.",
                remedy=f"Use {other} to choose a seed.",
            )

    def marked(self, dataset: Dataset, path: Path | None) -> Dataset:
        """Return a dataset, marked as released if its seed came from the beacon itself."""
        dataset.released = is_official(self.value(path), self.beacon)
        return dataset

    def place(self, path: Path | None) -> Path:
        """Return the file of the stored value."""
        if path is None:
            return data_folder() / self.edition.name / FILENAME
        return path / FILENAME if path.is_dir() else path

    def catalogue(self, info: BenchmarkInfo, texts: EditionTexts) -> BenchmarkInfo:
        """Return the catalogue entry of the edition.

        Args:
            info: the entry of the benchmark that it repeats.
        """
        slots = {"month": self.edition.month, "at": self.edition.at, "round": self.edition.round}
        slots |= {"draws": "drew" if self.edition.drawn else "will draw"}
        slots |= {"beacon": self.beacon.name, "chain": self.beacon.chain, "packs": " and ".join(self.edition.packs)}
        return info.model_copy(
            update={
                "id": self.edition.id,
                "quick": None,
                "seed_of": info.id,
                "title": texts.title.format(**slots),
                "summary": texts.summary.format(**slots),
                "made": f"{texts.made.format(**slots)} {info.made}",
            }
        )
