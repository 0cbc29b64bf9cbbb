"""operations@1 as a benchmark: catalogue, graders and generated trials."""

from functools import lru_cache, partial
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Dataset, Parameters, tables_of
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.kit.kept import Generated, GeneratedDataset, generated
from memeval.benchmarks.kit.parameters import SeedAndSize, check_no_size
from memeval.benchmarks.operations.disk_faults import DISK_FAULTS, FAULTS
from memeval.benchmarks.operations.generate import generate
from memeval.benchmarks.operations.grading import CRASHES
from memeval.benchmarks.operations.keys import TrialKey
from memeval.benchmarks.operations.use import APART, CHANGES, FRESHNESS, GROWTH
from memeval.benchmarks.operations.use_grading import FRESH, GROWN, USERS_APART
from memeval.grading.base import Grader

INFO = load(__package__)

GRADERS: dict[str, Grader] = {
    DISK_FAULTS: FAULTS,
    FRESHNESS: FRESH,
    CHANGES: FRESH,
    APART: USERS_APART,
    GROWTH: GROWN,
}
"""The graders of protocols without crashes."""

PARAMETERS = SeedAndSize({"seed": 42, "size": 1}, largest=1)


@lru_cache(maxsize=4)
def _generation(seed: int, protocol: str, tier: str) -> Generated:
    parameters: dict[str, str | int] = {"seed": seed, "protocol": protocol, "tier": tier}
    return generated(INFO.id, parameters, (TrialKey,), partial(generate, seed, protocol, tier))


class OperationsBenchmark(Benchmark):
    info = INFO

    tables = tables_of(INFO, lambda protocol, _: GRADERS.get(protocol.name, CRASHES))

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Generate the trials of a protocol and a tier.

        Raises ``BadInput``: a path was given, or a parameter other than ``seed``. ``parameters``: ``seed`` (default
        42), a whole number.
        """
        check_no_size(self.info.id, tier, parameters)
        seed, _ = PARAMETERS.chosen(self.info.id, path, parameters)
        return GeneratedDataset({"seed": seed}, _generation(seed, protocol, tier))
