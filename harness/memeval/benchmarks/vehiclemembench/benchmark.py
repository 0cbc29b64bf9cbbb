"""VehicleMemBench as a benchmark: protocols with their graders and items, tiers, and data."""

from collections.abc import Sequence
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Parameters, drawn, refuse_parameters, tables_of
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.errata import shipped_errata
from memeval.benchmarks.vehiclemembench.dataset import VehicleMemBenchDataset
from memeval.benchmarks.vehiclemembench.grading import CallSet, EventRetrieval
from memeval.benchmarks.vehiclemembench.released import Release
from memeval.grading.base import Grader
from memeval.keys import ItemKey
from memeval.records.benchmark import Errata
from memeval.records.errors import BadInput

INFO = load(__package__)

DRAWN = 10
"""Number of histories of a drawn tier."""

GRADERS: dict[str, Grader] = {"retrieval": EventRetrieval(), "calls": CallSet()}


class VehicleMemBenchmark(Benchmark):
    info = INFO
    tables = tables_of(INFO, lambda protocol, _: GRADERS[protocol.name])

    def opened(
        self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str
    ) -> VehicleMemBenchDataset:
        """Open the released files. Under ``calls``, queries list the functions.

        Raises ``BadInput``: a file is missing, or there are parameters. ``path``: the folder of the files, one above
        it, or a copy of the upstream repository; ``None`` for memeval's data folder.
        """
        refuse_parameters(INFO.id, parameters)
        release = Release(path, self.remedy())
        if absent := release.missing:
            problem = f"{len(absent)} of the {len(release.files)} released files are missing, such as {absent[0]}."
            raise BadInput(problem, where=path, remedy=self.remedy())
        return VehicleMemBenchDataset(release, calls=protocol == "calls")

    def available(self, path: Path | None = None) -> bool:
        return not Release(path, self.remedy()).missing

    def asked(self, keys: Sequence[ItemKey], protocol: str) -> tuple[ItemKey, ...]:
        """Return the items of a protocol: for ``retrieval``, queries with an event at a minute of their history."""
        return tuple(item for item in keys if protocol != "retrieval" or item.evidence)

    def sampled(self, keys: Sequence[ItemKey], tier: str) -> tuple[ItemKey, ...]:
        """Return the items of a tier: all, or those of the ten histories with the smallest hashes of their numbers.

        The hash of history n is that of ``seed:n``.
        """
        seed = next(each.seed for each in INFO.tiers if each.name == tier)
        if seed is None:
            return tuple(keys)
        chosen = drawn((item.scenario_id for item in keys), seed, DRAWN)
        return tuple(item for item in keys if item.scenario_id in chosen)

    def errata(self, tier: str = "full") -> Errata:
        """Return the events whose minute the histories do not have."""
        return shipped_errata(__package__, INFO.released_digests[0])
