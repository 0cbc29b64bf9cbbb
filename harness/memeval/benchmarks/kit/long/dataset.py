"""The histories of a tier by length as a dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.kit.long.history import ordinal
from memeval.benchmarks.kit.long.source import LongSource
from memeval.benchmarks.kit.long.survey import histories, store_survey, surveyed
from memeval.keys import ItemKey
from memeval.records.errors import CheckFailed
from memeval.records.scenario import Scenario


class LongDataset(Dataset):
    """The same questions in histories of one length.

    Args:
        source: the lives and filler sessions.
    """

    def __init__(self, source: LongSource) -> None:
        self.parameters = {"seed": source.seed}
        self.source = source
        """The lives and filler sessions."""
        self.survey = surveyed(source)
        """Stored results of one pass over the histories."""
        self.digest = self.survey.digest
        self.history_bytes = self.survey.sizes
        self._histories = histories(source, self.survey.fillers)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the histories."""
        return (history.scenario() for history in self._histories)

    def answer_keys(self) -> Iterator[ItemKey]:
        """Yield the keys, history by history."""
        return (key for history in self._histories for key in history.answer_keys())

    def ordinals(self, scenario_id: str) -> Mapping[str, str]:
        """Map the source ids of sessions to ordinals, without generating a session.

        Raises:
            KeyError: no scenario has that id.
        """
        history = next((each for each in self._histories if each.scenario_id == scenario_id), None)
        if history is None:
            raise KeyError(scenario_id)
        return {history.source_id(place): ordinal(place) for place in range(history.sessions)}

    def verify(self) -> str:
        """Generate the histories again and compare; see :meth:`Dataset.verify`."""
        found = store_survey(self.source)
        if found != self.survey:
            raise CheckFailed(
                f"the digest of the histories is {found.digest}, but the stored one was {self.survey.digest}.",
                remedy="The stored result is now corrected. Run the same command again.",
            )
        tokens = ", ".join(f"{each:,}" for each in found.tokens)
        return f"generated again, tokens of each history: {tokens}"
