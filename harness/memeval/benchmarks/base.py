"""What a benchmark is: scenarios and keys by different calls, and categories with their graders as data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from memeval.grading.base import Grader
from memeval.keys import ItemKey
from memeval.records.base import Digest
from memeval.records.benchmark import BenchmarkInfo, CategoryInfo
from memeval.records.errata import Errata, Erratum
from memeval.records.errors import BadInput
from memeval.records.scenario import Ingest, Retain, Scenario
from memeval.records.track import CategoryPlan

Parameters = Mapping[str, str | int]


@dataclass(frozen=True)
class Category:
    """One line of a benchmark's table."""

    name: str
    title: str
    weight: float | None
    """Its share of the composite; ``None`` where every item counts the same, and 0 where it stands apart."""
    items: int
    grader: Grader
    tests: str
    graded: str
    answerable: bool = True

    @classmethod
    def of(cls, info: CategoryInfo, grader: Grader, *, apart: bool = False) -> Category:
        """Return a category of the catalogue with who grades it.

        Args:
            info: what the catalogue says of it.
            grader: who grades it.
            apart: whether it has no part in the composite.
        """
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
        """Return what there is to say about the category."""
        return CategoryInfo(
            name=self.name,
            title=self.title,
            weight=self.weight,
            items=self.items,
            tests=self.tests,
            graded=self.graded,
            answerable=self.answerable,
        )


class Dataset(ABC):
    """A benchmark's data, opened and checked.

    Scenarios know sessions and turns by ordinals (``s001``, ``s001:t02``); what the source calls them stays in
    :meth:`ordinals`.
    """

    digest: Digest
    """Digest of the data, as it goes into the track."""

    parameters: Parameters
    """Parameters the data was generated with, or which of several files it is; empty where there is one file."""

    released: bool = True
    """Whether it is what the benchmark's authors released (or what memeval generates)."""

    notes: tuple[str, ...] = ()
    """What should be said before it is used, as sentences: what was passed over, what is missing. None of its words."""

    history_bytes: tuple[int, ...] | None = None
    """Bytes of each history as JSON, where they are so long that room for them should be looked for."""

    @abstractmethod
    def scenarios(self) -> Iterator[Scenario]:
        """Yield what systems may see, in the benchmark's order."""

    @abstractmethod
    def keys(self) -> Iterator[ItemKey]:
        """Yield what they may not, in the benchmark's order."""

    def scenario(self, scenario_id: str) -> Scenario:
        """Return one scenario; from any thread. Data too large to be held is opened here, piece by piece.

        Raises:
            KeyError: there is none of that id.
        """
        return self._held[scenario_id]

    def scenario_ids(self) -> Iterator[str]:
        """Yield the scenarios' ids, in the benchmark's order."""
        return iter(self._held)

    def ordinals(self, scenario_id: str) -> Mapping[str, str]:
        """Return what the source calls sessions and turns (``D1:3``), each with its ordinal (``s001:t03``).

        Raises:
            KeyError: there is no scenario of that id.
        """
        steps = self.scenario(scenario_id).steps
        return {step.source_id: step.session.session_id for step in steps if isinstance(step, Ingest | Retain)}

    def corrected(self, key: ItemKey, erratum: Erratum) -> ItemKey:
        """Return a key with what an erratum puts in the place of what is wrong.

        Args:
            key: the key as released.
            erratum: an entry whose action is ``replace``.

        Raises:
            BadInput: the entry does not say what is right, or not in a form that this benchmark can use.
        """
        raise BadInput(
            f"{key.item_id}: this benchmark's answers cannot be replaced.", remedy="Use the action 'exclude'."
        )

    def verify(self) -> str | None:
        """Check again what opening took on trust, and say what was done; ``None`` where it took nothing.

        Raises:
            CheckFailed: it is not so.
        """
        return None

    @cached_property
    def _held(self) -> dict[str, Scenario]:
        return {scenario.scenario_id: scenario for scenario in self.scenarios()}


class Benchmark(ABC):
    """A versioned set of scenarios with categories, weights and grading rules."""

    info: BenchmarkInfo
    categories: tuple[Category, ...]
    """Its categories under the default protocol."""
    former: tuple[Grader, ...] = ()
    """Graders of earlier versions. Stored runs that name one in their track are graded by it again."""

    @abstractmethod
    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open the data.

        Args:
            path: a local copy of the released file; ``None`` for the copy that ``memeval data pull`` keeps.
            parameters: seed and size of a generated benchmark, or which of several files; ``None`` for the defaults.

        Raises:
            BadInput: the data is missing, or is not what the benchmark says it is.
        """

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Open the data as a protocol and a tier have it: other data where they ask for other histories.

        Args:
            path: see :meth:`open`.
            parameters: see :meth:`open`.
            protocol: one of the benchmark's protocols.
            tier: one of its tiers.

        Raises:
            BadInput: as :meth:`open` does.
        """
        return self.open(path, parameters)

    def available(self, path: Path | None = None) -> bool:
        """Return whether :meth:`open` would find data."""
        return True

    def pull(self) -> Path | None:
        """Fetch what no file of the catalogue is, such as a seed drawn after its announcement, and return where it is.

        Raises:
            BadInput: it is not to be had, or not yet.
        """
        return None

    def remedy(self) -> str:
        """Return what to do where :meth:`available` finds no data, as a sentence."""
        return self.info.by_hand or f"'memeval data pull {self.info.name}' fetches it."

    def table(self, protocol: str, tier: str | None = None) -> tuple[Category, ...]:
        """Return the categories as a protocol weighs and grades them in a tier, the default one unless named."""
        return self.categories

    def asked(self, keys: Sequence[ItemKey], protocol: str) -> tuple[ItemKey, ...]:
        """Return the items that a protocol asks, in the given order."""
        return tuple(keys)

    def sampled(self, keys: Sequence[ItemKey], tier: str) -> tuple[ItemKey, ...]:
        """Return the items of a tier, in the order they are done.

        Args:
            keys: what the protocol asks, in the benchmark's order.
            tier: one of the benchmark's tiers.
        """
        return tuple(keys)

    def errata(self) -> Errata | None:
        """Return the errata that memeval ships for this benchmark; ``None`` where it ships none."""
        return None

    def plan(
        self, keys: Sequence[ItemKey], protocol: str | None = None, tier: str | None = None
    ) -> tuple[CategoryPlan, ...]:
        """Return the fixed denominator: the categories with the number of items that ``keys`` declare in each.

        Where every item counts the same, a category weighs its share of the items, and one without items is left out.
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
