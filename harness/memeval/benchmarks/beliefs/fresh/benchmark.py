"""A fresh edition as a benchmark: beliefs@1 with the seed from a public random source (beacon)."""

from __future__ import annotations

from pathlib import Path

from memeval.benchmarks.base import Dataset, Parameters
from memeval.benchmarks.beliefs.benchmark import INFO, BeliefsBenchmark
from memeval.benchmarks.beliefs.fresh.editions import Beacon, Edition, edition, editions
from memeval.benchmarks.beliefs.fresh.value import FILENAME, BeaconValue, fetch, is_official, read
from memeval.benchmarks.data import data_folder
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import BadInput


class FreshBeliefsBenchmark(BeliefsBenchmark):
    """beliefs@1 with a seed that nobody could know when the edition was announced.

    Args:
        edition_id: id of an edition of memeval, or another edition.
        beacon: the source of its seed; ``None`` for the beacon of memeval's editions.
    """

    def __init__(self, edition_id: str | Edition, beacon: Beacon | None = None) -> None:
        self.edition = edition_id if isinstance(edition_id, Edition) else edition(edition_id)
        self.beacon = beacon or editions().beacon
        self.info = _info(self.edition, self.beacon)

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Generate the data from the seed of the edition.

        Args:
            path: the stored value of the beacon; ``None`` for the copy of ``memeval data pull``.
            parameters: ``size`` (default 500), a whole number.

        Raises:
            BadInput: the value is missing or of another edition, or a parameter is unknown or invalid.
        """
        return self._marked(super().open(path, parameters), path)

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Generate the data of a protocol and a tier; see :meth:`open`.

        Raises:
            BadInput: as :meth:`open` does.
        """
        return self._marked(super().opened(path, parameters, protocol, tier), path)

    def available(self, path: Path | None = None) -> bool:
        """Return whether the seed is stored."""
        return self._place(path).is_file()

    def remedy(self) -> str:
        """Return when and how to get the seed."""
        return (
            f"Its seed is published on {self.edition.at}, as round {self.edition.round} of {self.beacon.name} "
            f"({self.beacon.address(self.beacon.urls[0], self.edition.round)}). After that time, run "
            f"memeval data pull {self.edition.name}."
        )

    def pull(self) -> Path:
        """Fetch the seed; see :func:`memeval.benchmarks.beliefs.fresh.value.fetch`."""
        return fetch(self.edition, self.beacon, self._place(None))

    def chosen(self, path: Path | None, parameters: Parameters | None) -> tuple[int, int]:
        """Return the seed of the edition and the requested size.

        Raises:
            BadInput: as :meth:`open` does.
        """
        if "seed" in (parameters or {}):
            raise BadInput(
                f"{self.info.id} has no parameter 'seed': its seed is fixed.",
                remedy="Use beliefs@1 to choose a seed.",
            )
        _, size = super().chosen(None, parameters)
        return self._value(path).seed, size

    def _value(self, path: Path | None) -> BeaconValue:
        place = self._place(path)
        if not place.exists():
            raise BadInput(f"the seed of {self.info.id} is missing.", where=place, remedy=self.remedy())
        return read(place, self.edition)

    def _marked(self, dataset: Dataset, path: Path | None) -> Dataset:
        """Return the dataset, marked as released if its seed came from the beacon itself."""
        dataset.released = is_official(self._value(path), self.beacon)
        return dataset

    def _place(self, path: Path | None) -> Path:
        if path is None:
            return data_folder() / self.edition.name / FILENAME
        return path / FILENAME if path.is_dir() else path


def _info(edition: Edition, beacon: Beacon) -> BenchmarkInfo:
    """Return the catalogue entry of an edition."""
    texts = editions()
    slots = {"month": edition.month, "at": edition.at, "round": edition.round}
    slots |= {"beacon": beacon.name, "chain": beacon.chain}
    return INFO.model_copy(
        update={
            "id": edition.id,
            "quick": None,
            "seed_of": INFO.id,
            "title": texts.title.format(**slots),
            "summary": texts.summary.format(**slots),
            "made": f"{texts.made.format(**slots)} {INFO.made}",
        }
    )
