"""FactConsolidation as a benchmark: protocols with their graders and items, tiers, and data."""

from collections.abc import Sequence
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Parameters, refuse_parameters, tables_of
from memeval.benchmarks.data import locate
from memeval.benchmarks.errata import shipped_errata
from memeval.benchmarks.factconsolidation.dataset import FactConsolidationDataset
from memeval.benchmarks.factconsolidation.grading import FactMatch, NewestFact
from memeval.benchmarks.factconsolidation.keys import FactConsolidationKey
from memeval.benchmarks.factconsolidation.released import FULL, INFO, read
from memeval.grading.base import Grader
from memeval.keys import ItemKey
from memeval.records.benchmark import Errata

GRADERS: dict[str, Grader] = {"retrieval": NewestFact(), "answers": FactMatch()}

TIERS = {"short": ("6k", "32k", "64k")}
"""Lists of the tiers that have several, but not all."""


class FactConsolidationBenchmark(Benchmark):
    info = INFO
    tables = tables_of(INFO, lambda protocol, _: GRADERS[protocol.name])

    def opened(
        self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str
    ) -> FactConsolidationDataset:
        """Open the released file. Under ``answers``, questions state the rule of the official prompt."""
        refuse_parameters(INFO.id, parameters)
        return FactConsolidationDataset(read(locate(INFO, path)), answers=protocol == "answers")

    def asked(self, keys: Sequence[ItemKey], protocol: str) -> tuple[ItemKey, ...]:
        """Return the items of a protocol: for ``retrieval``, the single-hop questions that match a fact."""
        return tuple(
            item
            for item in keys
            if protocol != "retrieval" or item.key_as(FactConsolidationKey, protocol).newest is not None
        )

    def sampled(self, keys: Sequence[ItemKey], tier: str) -> tuple[ItemKey, ...]:
        """Return the items of a tier: all, those about the shorter lists, or those about the list of its length."""
        return tuple(
            item for item in keys if tier in ("full", item.scenario_id) or item.scenario_id in TIERS.get(tier, ())
        )

    def errata(self, tier: str = "full") -> Errata:
        """Return the released answers that a later fact of their own list replaces."""
        return shipped_errata(__package__, FULL.digest)
