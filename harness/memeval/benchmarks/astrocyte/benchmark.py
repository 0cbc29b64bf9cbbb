"""The suites as benchmarks: which file each reads, who grades what, and under which protocol what is asked."""

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
from memeval.systems.output import visible

GRADERS: Mapping[str, Callable[[], Grader]] = {REFLECT: Reflected, UNLABELLED: Unlabelled}
"""Who grades the categories that are no searches with a truth."""

DISPOSITIONS: Mapping[str, Mapping[str, int]] = {"dispositions": {"skepticism": 5, "literalism": 5}}
"""The traits that a protocol asks for."""

RECALL = "recall"
"""The protocol that asks for searches alone."""


class _SuiteBenchmark(Benchmark):
    """What all suites have in common.

    Args:
        name: of the suite's catalogue.
    """

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
        """Open the data under the default protocol; see :meth:`memeval.benchmarks.base.Benchmark.open`."""
        return self.opened(path, parameters, self.info.protocols[0].name, self.info.tiers[0].name)

    def table(self, protocol: str, tier: str | None = None) -> tuple[Category, ...]:
        """Return the categories as a protocol weighs and grades them."""
        return self._tables[protocol]

    def asked(self, keys: Sequence[ItemKey], protocol: str) -> tuple[ItemKey, ...]:
        """Return the items that a protocol asks: under ``recall``, the searches."""
        return tuple(key for key in keys if protocol != RECALL or not isinstance(key.key, ReflectKey))

    def _without(self, path: Path | None, parameters: Parameters | None) -> None:
        """Refuse what a suite that memeval ships does not take."""
        if path is not None:
            raise BadInput(
                f"{self.info.id} is built in and reads no file.",
                where=path,
                remedy="Leave --data out; a suite of your own is run with --benchmark astrocyte-suite.",
            )
        if parameters:
            name = visible(str(next(iter(parameters))))[:64]
            raise BadInput(f"{self.info.id} has no parameter '{name}'.", remedy="Leave it out.")


class BuiltInSuite(_SuiteBenchmark):
    """A suite whose texts memeval ships: ``basic``, ``accuracy`` or ``reflect``.

    Args:
        name: of the suite.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._name = name

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Open the suite; see :meth:`memeval.benchmarks.base.Benchmark.opened`.

        Args:
            path: must be ``None``.
            parameters: must be empty.
            protocol: one of the suite's protocols; it may ask under traits.
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
    """A suite that the caller brings as a YAML file."""

    def __init__(self) -> None:
        super().__init__("suite")

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Open a suite; see :meth:`memeval.benchmarks.base.Benchmark.opened`.

        Args:
            path: its file.
            parameters: its name and its version, which the file has to bear out; empty for what the file says.
            protocol: ``recall`` or ``full``.
            tier: ``full``.

        Raises:
            BadInput: there is no file, or it is no suite, or another one, or the protocol asks nothing of it.
        """
        if path is None:
            raise BadInput(f"{self.info.id} has no data of its own.", remedy="Name the suite with --data SUITE.yaml.")
        suite = read(path)
        told: dict[str, str | int] = {"suite": suite.name, "version": suite.version}
        for name, value in (parameters or {}).items():
            if name not in told:
                raise BadInput(f"{self.info.id} has no parameter '{visible(name)[:64]}'.", remedy="Leave it out.")
            if str(value) != str(told[name]):
                raise BadInput(
                    f"its {name} is '{told[name]}', and '{visible(str(value))[:64]}' is asked for.",
                    where=path,
                    remedy="Name the right file.",
                )
        if protocol == RECALL and not suite.recalls:
            raise BadInput("the suite has no recall.", where=path, remedy="Choose --protocol full for its reflections.")
        return SuiteDataset(suite, parameters=told, dispositions={}, own=False)

    def available(self, path: Path | None = None) -> bool:
        """Return whether there is a file to open."""
        return path is not None and path.is_file()


class StressSuite(_SuiteBenchmark):
    """The suite that is generated."""

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
