"""lifecycle@1 as a benchmark: catalogue, graders and generated data."""

from functools import lru_cache, partial
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Dataset, Parameters, tables_of
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.kit.kept import Generated, GeneratedDataset, Generation, generated
from memeval.benchmarks.kit.parameters import SeedAndSize
from memeval.benchmarks.lifecycle.generate import STANDARD, generate
from memeval.benchmarks.lifecycle.grading import AnsweredProbes, FoundProbes
from memeval.benchmarks.lifecycle.keys import ProbeKey

INFO = load(__package__)

ANSWERS = "answers"
"""The protocol in which answers in words are graded."""

PARAMETERS = SeedAndSize({"seed": 42, "size": STANDARD}, largest=200)


KINDS = (ProbeKey,)


@lru_cache(maxsize=2)
def _generation(seed: int, size: int, protocol: str) -> Generated:
    """Return the data of a protocol; caches two of them, because often many runs of the same data are graded."""
    parameters: dict[str, str | int] = {"seed": seed, "size": size, "protocol": protocol}
    return generated(INFO.id, parameters, KINDS, partial(_histories, seed, size, protocol))


def _histories(seed: int, size: int, protocol: str) -> Generation:
    made = generate(seed, size, protocol)
    return tuple(each.scenario for each in made), tuple(item for each in made for item in each.items)


class LifecycleBenchmark(Benchmark):
    info = INFO

    tables = tables_of(INFO, lambda protocol, _: AnsweredProbes() if protocol.name == ANSWERS else FoundProbes())

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Generate the data of a protocol.

        Raises ``BadInput``: a path was given, or a parameter that is unknown or out of range. ``parameters``: ``seed``
        (default 42) and ``size`` (default 14), whole numbers.
        """
        seed, size = PARAMETERS.chosen(self.info.id, path, parameters)
        return GeneratedDataset({"seed": seed, "size": size}, _generation(seed, size, protocol))
