"""Base classes of benchmarks: data with scenarios and keys, and categories with their graders."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from memeval.benchmarks.data import locate
from memeval.benchmarks.exchange_format import ExchangeFormat
from memeval.grading.base import Grader
from memeval.judging.prompting import SHARED
from memeval.keys import ItemKey
from memeval.reading import Reader
from memeval.records.base import Digest
from memeval.records.benchmark import BenchmarkInfo, CategoryInfo, Errata, Erratum, ProtocolInfo
from memeval.records.errors import BadInput
from memeval.records.scenario import Ingest, Retain, Scenario
from memeval.records.track import CategoryPlan
from memeval.systems.channel import visible

Parameters = Mapping[str, str | int]


@dataclass(frozen=True)
class Category:
    """One line of a benchmark's table."""

    name: str
    title: str
    weight: float | None
    """Share of the composite; ``None`` if every item counts the same, 0 if the category is not part of it."""
    items: int
    grader: Grader
    tests: str
    graded: str
    answerable: bool = True

    @classmethod
    def of(cls, info: CategoryInfo, grader: Grader, *, apart: bool = False) -> Category:
        """Return a category of the catalogue with its grader; ``apart`` excludes it from the composite (weight 0)."""
        return cls(
            name=info.name,
            title=info.title,
            weight=0.0 if apart else info.weight,
            items=info.items,
            grader=grader,
            tests=info.tests,
            graded=info.graded,
            answerable=info.answerable,
        )

    def info(self) -> CategoryInfo:
        return CategoryInfo(
            name=self.name,
            title=self.title,
            weight=self.weight,
            items=self.items,
            tests=self.tests,
            graded=self.graded,
            answerable=self.answerable,
        )


def tables_of(
    info: BenchmarkInfo, grader: Callable[[ProtocolInfo, CategoryInfo], Grader]
) -> dict[str, tuple[Category, ...]]:
    """Return the categories of each protocol: those of the benchmark, or its own, each with its grader."""
    return {
        protocol.name: tuple(
            Category.of(each, grader(protocol, each), apart=each.name in protocol.apart)
            for each in protocol.categories or info.categories
        )
        for protocol in info.protocols
    }


def refuse_parameters(benchmark_id: str, parameters: Parameters | None, known: str = "") -> None:
    """Refuse parameters that a benchmark does not have.

    ``parameters``: those that no code has used. ``known``: the parameters that it has, for the message; blank for none.
    Raises ``BadInput``: there is one.
    """
    for name in parameters or ():
        remedy = f"It has: {known}." if known else "Leave it out."
        raise BadInput(f"{benchmark_id} has no parameter '{visible(str(name))[:64]}'.", remedy=remedy)


def largest_remainders(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Distribute ``total`` by the largest remainders of ``size · total / Σ size``; ties go to the first name."""
    whole = sum(sizes.values())
    counts = {name: size * total // whole for name, size in sizes.items()}
    for name in sorted(sizes, key=lambda name: (-(sizes[name] * total % whole), name))[: total - sum(counts.values())]:
        counts[name] += 1
    return counts


def drawn(names: Iterable[str], seed: int, number: int) -> frozenset[str]:
    """Return the names with the smallest hashes of ``seed:name``."""
    order = sorted(set(names), key=lambda name: hashlib.sha256(f"{seed}:{name}".encode()).digest())
    return frozenset(order[:number])


class Dataset(ABC):
    """The data of a benchmark, opened and checked.

    In scenarios, sessions and turns have ordinals as ids (``s001``, ``s001:t02``). :meth:`ordinals` maps the ids of
    the source to them.
    """

    digest: Digest
    """Digest of the data; part of the track."""

    parameters: Parameters
    """Parameters of the generator, or the name of the file; empty if the benchmark has one file."""

    released: bool = True
    """Whether the data is exactly what the authors released, or what memeval generates."""

    runnable: bool = True
    """Whether the histories are there. Without them, answers made elsewhere can be graded, but no system can run."""

    notes: tuple[str, ...] = ()
    """Warnings to show before a run, as sentences: skipped lines, missing files. They never quote the data."""

    history_bytes: tuple[int, ...] | None = None
    """Bytes of each history as JSON, if histories are so long that the disk space should be checked first."""

    @abstractmethod
    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios, in the order of the benchmark. Systems may see all of their contents."""

    @abstractmethod
    def answer_keys(self) -> Iterator[ItemKey]:
        """Yield the answer keys, in the order of the benchmark. Systems must never see them."""

    def scenario(self, scenario_id: str) -> Scenario:
        """Return one scenario. Thread-safe. Datasets too large for memory load the scenario here.

        Raises ``KeyError``: no scenario has that id.
        """
        return self._by_id[scenario_id]

    def scenario_ids(self) -> Iterator[str]:
        """Yield the scenario ids, in the order of the benchmark."""
        return iter(self._by_id)

    def ordinals(self, scenario_id: str) -> Mapping[str, str]:
        """Map the session and turn ids of the source (``D1:3``) to their ordinals (``s001:t03``).

        Raises ``KeyError``: no scenario has that id.
        """
        steps = self.scenario(scenario_id).steps
        return {step.source_id: step.session.session_id for step in steps if isinstance(step, Ingest | Retain)}

    def corrected(self, key: ItemKey, erratum: Erratum) -> ItemKey:
        """Return a key with the correction of an erratum applied.

        ``erratum``: an entry whose action is ``replace``. Raises ``BadInput``: the entry has no correction, or not in a
        form that this benchmark accepts.
        """
        raise BadInput(
            f"{key.item_id}: errata cannot replace answers of this benchmark.", remedy="Use the action 'exclude'."
        )

    def verify(self) -> str | None:
        """Check what :meth:`Benchmark.open` did not check. Return what was done, or ``None`` if nothing was left."""
        return None

    def controls(self) -> str | None:
        """Return a table of answers that pass without being right, for ``memeval data verify``; ``None`` for none."""
        return None

    @cached_property
    def _by_id(self) -> dict[str, Scenario]:
        return {scenario.scenario_id: scenario for scenario in self.scenarios()}


class LoadedDataset(Dataset):
    """Data whose scenarios are loaded on demand. Few are kept in memory."""

    kept: int = 2
    """Number of scenarios that are kept."""

    @property
    @abstractmethod
    def names(self) -> Collection[str]:
        """The scenario ids, in the order of the benchmark."""

    @abstractmethod
    def load(self, scenario_id: str) -> Scenario:
        """Load a scenario."""

    @abstractmethod
    def keys_of(self, scenario_id: str) -> Iterable[ItemKey]:
        """Return the keys of a scenario."""

    def scenarios(self) -> Iterator[Scenario]:
        return map(self.scenario, self.names)

    def answer_keys(self) -> Iterator[ItemKey]:
        return (key for keys in self.kept_keys.values() for key in keys)

    def scenario(self, scenario_id: str) -> Scenario:
        if scenario_id not in self.names:
            raise KeyError(scenario_id)
        return self._loaded(scenario_id)

    def scenario_ids(self) -> Iterator[str]:
        return iter(self.names)

    @cached_property
    def kept_keys(self) -> dict[str, tuple[ItemKey, ...]]:
        """The keys of each scenario, made once."""
        return {name: tuple(self.keys_of(name)) for name in self.names}

    @cached_property
    def _loaded(self) -> Callable[[str], Scenario]:
        return lru_cache(maxsize=self.kept)(self.load)


class Benchmark:
    """A versioned set of scenarios with categories, weights and grading rules.

    A benchmark defines :meth:`open`, or :meth:`opened` if the data of protocols or tiers differs.
    """

    info: BenchmarkInfo
    tables: Mapping[str, tuple[Category, ...]] = {}
    """Categories by protocol, if protocols differ in categories, weights or graders; see :func:`tables_of`."""
    prompts: str = SHARED
    """The package whose folder ``prompts`` has the judge prompts of its keys."""
    readers: tuple[Reader, ...] = ()
    """Its own readers, which need no model."""
    formats: tuple[ExchangeFormat, ...] = ()
    """Its own import and export formats."""

    @cached_property
    def categories(self) -> tuple[Category, ...]:
        """Categories of the default protocol. A benchmark without :attr:`tables` defines them."""
        return self.tables[self.info.protocols[0].name]

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open the data of the default protocol and tier.

        ``path``: a local copy of the released file; ``None`` for the copy of ``memeval data pull``. ``parameters``:
        seed and size of a generated benchmark, or the name of a file; ``None`` for the defaults. Raises ``BadInput``:
        the data is missing or invalid, or a parameter is unknown or invalid.
        """
        return self.opened(path, parameters, self.info.protocols[0].name, self.info.tiers[0].name)

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Open the data of one of its protocols and tiers; see :meth:`open`."""
        return self.open(path, parameters)

    def available(self, path: Path | None = None) -> bool:
        """Return whether :meth:`open` finds data."""
        return not self.info.sources or locate(self.info, path).is_file()

    def pull(self) -> Path | None:
        """Fetch data that is no file of the catalogue, such as a public random seed. Return its path, or ``None``.

        Raises ``BadInput``: the data is not available, or not yet.
        """
        return None

    def remedy(self) -> str:
        """Return how to get the data, as a sentence. Shown if :meth:`available` is false."""
        return self.info.by_hand or f"'memeval data pull {self.info.name}' fetches it."

    def table(self, protocol: str, tier: str | None = None) -> tuple[Category, ...]:
        """Return the categories with the weights and graders of a protocol and a tier; ``None``: the default tier."""
        return self.tables.get(protocol, self.categories)

    def judged_graders(self) -> frozenset[str]:
        """Return the names of the graders whose grades need verdicts of a judge."""
        tables = [self.table(protocol.name) for protocol in self.info.protocols]
        graders = [category.grader for table in tables for category in table]
        return frozenset(grader.name for grader in graders if grader.asks_judge)

    def asked(self, keys: Sequence[ItemKey], protocol: str) -> tuple[ItemKey, ...]:
        """Return the items of a protocol, in the given order."""
        return tuple(keys)

    def sampled(self, keys: Sequence[ItemKey], tier: str) -> tuple[ItemKey, ...]:
        """Return the items of a tier, in the order of the run.

        ``keys``: the items of the protocol, in the order of the benchmark.
        """
        return tuple(keys)

    def errata(self, tier: str) -> Errata | None:
        """Return the errata that memeval ships for the data of a tier, or ``None``."""
        return None

    def plan(
        self, keys: Sequence[ItemKey], protocol: str | None = None, tier: str | None = None
    ) -> tuple[CategoryPlan, ...]:
        """Return the fixed denominator: each category with its number of items in ``keys``.

        If every item counts the same, the weight of a category is its share of the items, and empty categories are
        left out.
        """
        table = self.table(protocol or self.info.protocols[0].name, tier)
        counts = Counter(key.category for key in keys)
        sharing = sum(counts[category.name] for category in table if category.weight is None)
        return tuple(
            CategoryPlan(
                name=c.name,
                weight=counts[c.name] / sharing if c.weight is None else c.weight,
                items=counts[c.name],
                grader=c.grader.name,
                shared=c.weight is None,
            )
            for c in table
            if c.weight or counts[c.name]
        )
