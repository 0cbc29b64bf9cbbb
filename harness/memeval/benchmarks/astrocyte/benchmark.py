"""The suites as benchmarks: their catalogues, files, graders and protocols."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from memeval.benchmarks.astrocyte.dataset import REFLECT, UNLABELLED, SuiteDataset
from memeval.benchmarks.astrocyte.reading import read
from memeval.benchmarks.astrocyte.stress import StressDataset
from memeval.benchmarks.base import Benchmark, Dataset, Parameters, refuse_parameters, tables_of
from memeval.grading.base import Grader
from memeval.grading.recall import Recalled, Unlabelled
from memeval.grading.reflect import Reflected
from memeval.keys import ItemKey, ReflectKey
from memeval.records.base import validated
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import BadInput
from memeval.systems.channel import visible
from memeval.toml import parse_toml

COMMON = "common"


@cache
def load(name: str) -> BenchmarkInfo:
    """Return the catalogue of a suite, by the stem of its file: common fields, with its own on top; read once."""
    common, own = _read(COMMON), _read(name)
    measures = common.pop("measures")
    metrics = [metric for kind in own.pop("measures", ()) for metric in measures[kind]]
    return validated(BenchmarkInfo, {**common, "metrics": metrics, **own}, f"{name}.toml")


def _read(name: str) -> dict[str, Any]:
    path = resources.files(__package__) / "catalogues" / f"{name}.toml"
    return parse_toml(path.read_bytes(), path).data


GRADERS: Mapping[str, Callable[[], Grader]] = {REFLECT: Reflected, UNLABELLED: Unlabelled}
"""Graders of the categories that are not searches with expected results."""

DISPOSITIONS: Mapping[str, Mapping[str, int]] = {"dispositions": {"skepticism": 5, "literalism": 5}}

RECALL = "recall"


class _SuiteBenchmark(Benchmark):
    prompts = __package__

    def __init__(self, name: str) -> None:
        self.info = load(name)
        self.tables = tables_of(self.info, lambda _, category: GRADERS.get(category.name, Recalled)())

    def asked(self, keys: Sequence[ItemKey], protocol: str) -> tuple[ItemKey, ...]:
        return tuple(key for key in keys if protocol != RECALL or not isinstance(key.key, ReflectKey))

    def _refuse_file(self, path: Path | None) -> None:
        if path is not None:
            raise BadInput(
                f"{self.info.id} is built in and reads no file.",
                where=path,
                remedy="Leave --data out. For your own suite: --benchmark astrocyte-suite --data SUITE.yaml.",
            )


class BuiltInSuite(_SuiteBenchmark):
    """A suite whose texts memeval ships: ``basic``, ``accuracy`` or ``reflect``."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._name = name

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Open the suite. A protocol may send traits; see :meth:`memeval.benchmarks.base.Benchmark.open`."""
        self._refuse_file(path)
        refuse_parameters(self.info.id, parameters)
        searched = [category.name for category in self.info.categories if category.name != REFLECT]
        with resources.as_file(resources.files(__package__) / "suites" / f"{self._name}.yaml") as file:
            suite = read(file, categories=searched)
        return SuiteDataset(suite, parameters={}, dispositions=DISPOSITIONS.get(protocol, {}))


class BroughtSuite(_SuiteBenchmark):
    def __init__(self) -> None:
        super().__init__("suite")

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Open a suite; see :meth:`memeval.benchmarks.base.Benchmark.opened`.

        ``parameters``: expected ``suite`` and ``version``; empty for those of the file. Raises ``BadInput``: the file
        is missing, invalid or another suite, or has nothing for the protocol.
        """
        if path is None:
            raise BadInput(f"{self.info.id} needs your own suite.", remedy="Name it with --data SUITE.yaml.")
        suite = read(path)
        identity: dict[str, str | int] = {"suite": suite.name, "version": suite.version}
        chosen = dict(parameters or {})
        refuse_parameters(self.info.id, {name: chosen[name] for name in chosen.keys() - identity.keys()})
        for name, value in chosen.items():
            if str(value) != str(identity[name]):
                raise BadInput(
                    f"the {name} of this file is '{identity[name]}', not '{visible(str(value))[:64]}'.",
                    where=path,
                    remedy="Name the right file.",
                )
        if protocol == RECALL and not suite.recalls:
            raise BadInput("the suite has no recall.", where=path, remedy="Use --protocol full for its reflections.")
        return SuiteDataset(suite, parameters=identity, dispositions={}, own=False)

    def available(self, path: Path | None = None) -> bool:
        return path is not None and path.is_file()


class StressSuite(_SuiteBenchmark):
    def __init__(self) -> None:
        super().__init__("stress")

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Generate the suite; see :data:`memeval.benchmarks.astrocyte.stress.DEFAULTS`."""
        self._refuse_file(path)
        return StressDataset(parameters or {})
