"""BEAM as a benchmark: protocols with their graders and items, tiers, and data."""

from collections.abc import Sequence
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Parameters, refuse_parameters, tables_of
from memeval.benchmarks.beam.dataset import BeamDataset
from memeval.benchmarks.beam.grading import GRADERS
from memeval.benchmarks.beam.keys import Ability
from memeval.benchmarks.beam.released import SIZES, digest_of_chats, missing, read_chats, released_chats
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.errata import shipped_errata
from memeval.keys import ItemKey
from memeval.records.base import Digest
from memeval.records.benchmark import Errata

INFO = load(__package__)


class BeamBenchmark(Benchmark):
    info = INFO
    prompts = __package__
    tables = tables_of(INFO, lambda protocol, _: GRADERS[protocol.name])

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> BeamDataset:
        """Open the chats of a tier.

        Raises ``BadInput``: the data is missing or invalid, or there are parameters. ``path``: a folder with one folder
        per size (``100K``), a folder above it, or a copy of the upstream repository; ``None`` for memeval's data
        folder.
        """
        refuse_parameters(INFO.id, parameters)
        return BeamDataset(SIZES[tier], read_chats(SIZES[tier], path, self.remedy()))

    def available(self, path: Path | None = None) -> bool:
        return not missing(SIZES[INFO.tiers[0].name], path)

    def asked(self, keys: Sequence[ItemKey], protocol: str) -> tuple[ItemKey, ...]:
        """Return the items of a protocol: for ``retrieval``, answerable questions with evidence."""
        return tuple(
            key for key in keys if protocol != "retrieval" or (key.evidence and key.category != Ability.ABSTENTION)
        )

    def errata(self, tier: str) -> Errata | None:
        """Return the errors that dates and answers of the data prove, read against one another."""
        return shipped_errata(__package__, released_digest(tier), f"errata-{tier}.json")


def released_digest(tier: str) -> Digest:
    """Return the digest of the released data of a tier."""
    size = SIZES[tier]
    return digest_of_chats({f"{size}-{number}": pair for number, pair in released_chats()[size].items()})
