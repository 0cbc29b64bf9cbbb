"""The suites as benchmarks: their files, graders and protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path

from memeval.benchmarks.astrocyte.catalogue import load
from memeval.benchmarks.astrocyte.dataset import REFLECT, UNLABELLED, SuiteDataset
from memeval.benchmarks.astrocyte.reading import read
from memeval.benchmarks.astrocyte.stress import StressDataset
from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.grading.base import Grader
from memeval.grading.recall import Recalled, Unlabelled
from memeval.grading.reflect import Reflected
from memeval.keys import ItemKey, ReflectKey
from memeval.records.errors import BadInput
from memeval.systems.channel import visible

GRADERS: Mapping[str, Callable[[], Grader]] = {REFLECT: Reflected, UNLABELLED: Unlabelled}
"""Graders of the categories that are not searches with expected results."""

DISPOSITIONS: Mapping[str, Mapping[str, int]] = {"dispositions": {"skepticism": 5, "literalism": 5}}
"""Traits that a protocol sends."""

RECALL = "recall"
"""The protocol with searches only."""


class _SuiteBenchmark(Benchmark):
    """Base of all suites.

    Args:
        name: name of the catalogue.
    """

    prompts = __package__

    def __init__(self, name: str) -> None:
        self.info = load(name)
        self._tables = {
            protocol.name: tuple(
                Category.of(category, GRADERS.get(category.name, Recalled)(), apart=category.name in protocol.apart)
                for category in self.info.categories
            )
            for protocol in self.info.protocols
        }
        self.categories = self._tables[self.info.protocols[0].name]

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open the data of the default protocol; see :meth:`memeval.benchmarks.base.Benchmark.open`."""
        return self.opened(path, parameters, self.info.protocols[0].name, self.info.tiers[0].name)

    def table(self, protocol: str, tier: str | None = None) -> tuple[Category, ...]:
        """Return the categories with the weights and graders of a protocol."""
        return self._tables[protocol]

    def asked(self, keys: Sequence[ItemKey], protocol: str) -> tuple[ItemKey, ...]:
        """Return the items of a protocol: for ``recall``, the searches."""
        return tuple(key for key in keys if protocol != RECALL or not isinstance(key.key, ReflectKey))

    def _without(self, path: Path | None, parameters: Parameters | None) -> None:
        """Refuse a path and parameters, which built-in suites do not accept."""
        if path is not None:
            raise BadInput(
                f"{self.info.id} is built in and reads no file.",
                where=path,
                remedy="Leave --data out. For your own suite: --benchmark astrocyte-suite --data SUITE.yaml.",
            )
        if parameters:
            name = visible(str(next(iter(parameters))))[:64]
            raise BadInput(f"{self.info.id} has no parameter '{name}'.", remedy="Leave it out.")


class BuiltInSuite(_SuiteBenchmark):
    """A suite whose texts memeval ships: ``basic``, ``accuracy`` or ``reflect``.

    Args:
        name: name of the suite.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._name = name

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Open the suite; see :meth:`memeval.benchmarks.base.Benchmark.opened`.

        Args:
            path: must be ``None``.
            parameters: must be empty.
            protocol: one of the protocols of the suite; it may send traits.
            tier: ``full``.

        Raises:
            BadInput: a path or a parameter was given.
        """
        self._without(path, parameters)
        searched = [category.name for category in self.info.categories if category.name != REFLECT]
        with resources.as_file(resources.files(__package__) / "suites" / f"{self._name}.yaml") as file:
            suite = read(file, categories=searched)
        return SuiteDataset(suite, parameters={}, dispositions=DISPOSITIONS.get(protocol, {}))


class BroughtSuite(_SuiteBenchmark):
    """Your own suite, from a YAML file."""

    def __init__(self) -> None:
        super().__init__("suite")

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Open a suite; see :meth:`memeval.benchmarks.base.Benchmark.opened`.

        Args:
            parameters: expected ``suite`` and ``version``; empty for those of the file.
            protocol: ``recall`` or ``full``.
            tier: ``full``.

        Raises:
            BadInput: the file is missing, invalid or another suite, or has nothing for the protocol.
        """
        if path is None:
            raise BadInput(f"{self.info.id} needs your own suite.", remedy="Name it with --data SUITE.yaml.")
        suite = read(path)
        identity: dict[str, str | int] = {"suite": suite.name, "version": suite.version}
        for name, value in (parameters or {}).items():
            if name not in identity:
                raise BadInput(f"{self.info.id} has no parameter '{visible(name)[:64]}'.", remedy="Leave it out.")
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
        """Return whether the file exists."""
        return path is not None and path.is_file()


class StressSuite(_SuiteBenchmark):
    """The generated suite."""

    def __init__(self) -> None:
        super().__init__("stress")

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Generate the suite; see :meth:`memeval.benchmarks.base.Benchmark.opened`.

        Args:
            path: must be ``None``.
            parameters: see :data:`memeval.benchmarks.astrocyte.stress.DEFAULTS`.
            protocol: ``recall``.
            tier: ``full``.

        Raises:
            BadInput: a path was given, or a parameter that is unknown or out of range.
        """
        self._without(path, None)
        return StressDataset(parameters or {})
