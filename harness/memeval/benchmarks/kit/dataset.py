"""Generated data as a dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.kit.kept import Generated
from memeval.keys import ItemKey
from memeval.records.scenario import Scenario


class GeneratedDataset(Dataset):
    """Generated scenarios and keys.

    Args:
        parameters: the parameters of the benchmark.
        data: what was generated with them.
    """

    def __init__(self, parameters: Mapping[str, str | int], data: Generated) -> None:
        self.parameters = dict(parameters)
        self._scenarios, self._keys, self.digest = data

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios, as generated."""
        return iter(self._scenarios)

    def scenario(self, scenario_id: str) -> Scenario:
        """See :class:`Dataset`."""
        return self._scenarios.one(scenario_id)

    def scenario_ids(self) -> Iterator[str]:
        """See :class:`Dataset`."""
        return self._scenarios.ids()

    def answer_keys(self) -> Iterator[ItemKey]:
        """Yield the keys, as generated."""
        return iter(self._keys)
