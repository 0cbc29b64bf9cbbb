"""LoCoMo as a benchmark: graders by protocol, items by protocol and tier, and data."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.data import locate
from memeval.benchmarks.errata import read_errata
from memeval.benchmarks.locomo.choice import Chosen
from memeval.benchmarks.locomo.dataset import LocomoDataset
from memeval.benchmarks.locomo.formats import FORMATS
from memeval.benchmarks.locomo.grading import LocomoF1, LocomoJudged, LocomoRetrieval
from memeval.benchmarks.locomo.released import FULL_DIGEST, read
from memeval.benchmarks.locomo.sampling import SAMPLERS
from memeval.grading.base import Grader
from memeval.keys import ItemKey
from memeval.records.benchmark import Errata
from memeval.records.errors import BadInput

INFO = load(__package__)


def _table(protocol: str, grader: Grader) -> tuple[Category, ...]:
    apart = next(each.apart for each in INFO.protocols if each.name == protocol)
    return tuple(Category.of(info, grader, apart=info.name in apart) for info in INFO.categories)


class LocomoBenchmark(Benchmark):
    """LoCoMo as released, version 1."""

    info = INFO
    prompts = __package__
    formats = FORMATS

    def __init__(self) -> None:
        self._tables = {
            "f1": _table("f1", Chosen(LocomoF1())),
            "judge": _table("judge", Chosen(LocomoJudged())),
            "retrieval": _table("retrieval", LocomoRetrieval()),
        }
        self.categories = self._tables["f1"]

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open the released file; see :meth:`memeval.benchmarks.base.Benchmark.open`.

        Args:
            path: a local copy.
            parameters: ``adversarial=choice`` to offer two options in adversarial questions.

        Raises:
            BadInput: the file is missing or not the released one, or a parameter is unknown.
        """
        chosen = dict(parameters or {})
        if chosen not in ({}, {"adversarial": "choice"}):
            name, value = next(each for each in chosen.items() if each != ("adversarial", "choice"))
            raise BadInput(
                f"{INFO.id} has no parameter {name}={value}.",
                remedy="Use adversarial=choice, or leave it out to ask adversarial questions without options.",
            )
        return LocomoDataset(read(locate(INFO, path)), choice=bool(chosen))

    def available(self, path: Path | None = None) -> bool:
        """Return whether the data file exists."""
        return locate(INFO, path).is_file()

    def table(self, protocol: str, tier: str | None = None) -> tuple[Category, ...]:
        """Return the categories with the weights and graders of a protocol."""
        return self._tables[protocol]

    def asked(self, keys: Sequence[ItemKey], protocol: str) -> tuple[ItemKey, ...]:
        """Return the items of a protocol: for ``retrieval``, those whose evidence names at least one turn."""
        return tuple(key for key in keys if protocol != "retrieval" or key.evidence)

    def sampled(self, keys: Sequence[ItemKey], tier: str) -> tuple[ItemKey, ...]:
        """Return the items of a tier, in the order of its sampler.

        Samples are drawn from the items of the protocol, so they have the same size under every protocol. Questions
        that a protocol does not ask are replaced by others; the rest of the sample stays the same.
        """
        return SAMPLERS[tier](keys)

    def errata(self) -> Errata:
        """Return the errors that the data itself proves: evidence that names no turn."""
        with resources.as_file(resources.files(__package__) / "errata.json") as path:
            return read_errata(path, FULL_DIGEST)
