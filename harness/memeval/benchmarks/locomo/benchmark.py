"""The benchmark's table: who grades what under which protocol, which questions are asked, and which tier draws what."""

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
from memeval.benchmarks.locomo.released import FULL_DIGEST, read
from memeval.benchmarks.locomo.sampling import SAMPLERS
from memeval.grading.base import Grader
from memeval.grading.locomo import LocomoF1, LocomoJudged
from memeval.grading.retrieval import Retrieval
from memeval.keys import ItemKey
from memeval.records.errata import Errata
from memeval.records.errors import BadInput

INFO = load(__package__)


def _table(protocol: str, grader: Grader) -> tuple[Category, ...]:
    apart = next(each.apart for each in INFO.protocols if each.name == protocol)
    return tuple(Category.of(info, grader, apart=info.name in apart) for info in INFO.categories)


class LocomoBenchmark(Benchmark):
    """LoCoMo as released, version 1."""

    info = INFO
    former = (Chosen(LocomoF1(version=1)), Chosen(LocomoJudged(version=1)), Retrieval(version=1))

    def __init__(self) -> None:
        self._tables = {
            "f1": _table("f1", Chosen(LocomoF1())),
            "judge": _table("judge", Chosen(LocomoJudged())),
            "retrieval": _table("retrieval", Retrieval()),
        }
        self.categories = self._tables["f1"]

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open the released file; see :meth:`memeval.benchmarks.base.Benchmark.open`.

        Args:
            path: a local copy.
            parameters: ``adversarial=choice`` for the form of adversarial questions that offers two options.

        Raises:
            BadInput: the file is missing or not the released one, or there is no such parameter.
        """
        asked = dict(parameters or {})
        if asked not in ({}, {"adversarial": "choice"}):
            name, value = next(each for each in asked.items() if each != ("adversarial", "choice"))
            raise BadInput(
                f"{INFO.id} knows no parameter {name}={value}.",
                remedy="It has adversarial=choice; without it adversarial questions are asked without options.",
            )
        return LocomoDataset(read(locate(INFO, path)), choice=bool(asked))

    def available(self, path: Path | None = None) -> bool:
        """Return whether there is a file to open."""
        return locate(INFO, path).is_file()

    def table(self, protocol: str, tier: str | None = None) -> tuple[Category, ...]:
        """Return the categories as a protocol weighs and grades them."""
        return self._tables[protocol]

    def asked(self, keys: Sequence[ItemKey], protocol: str) -> tuple[ItemKey, ...]:
        """Return the items that a protocol asks: for ``retrieval``, those whose evidence names a turn at all."""
        return tuple(key for key in keys if protocol != "retrieval" or key.evidence)

    def sampled(self, keys: Sequence[ItemKey], tier: str) -> tuple[ItemKey, ...]:
        """Return the items of a tier, in the order that its sampler gives.

        A sample is drawn from what the protocol asks, so that it has its full number under every protocol. Of the
        other questions the same ones are drawn, but for those that take the places of questions not asked.
        """
        return SAMPLERS[tier](keys)

    def errata(self) -> Errata:
        """Return what the data itself shows to be wrong: evidence that names no turn."""
        with resources.as_file(resources.files(__package__) / "errata.json") as path:
            return read_errata(path, FULL_DIGEST)
