"""What the histories of beliefs@2 are generated from."""

from __future__ import annotations

from collections.abc import Iterator

from memeval.benchmarks.beliefs.long.filler import Filler
from memeval.benchmarks.beliefs.long.lives import lives
from memeval.benchmarks.beliefs.wording.vocabulary import Vocabulary
from memeval.benchmarks.kit.long.source import LongSource, Part


class LongBeliefs(LongSource):
    """The source of beliefs@2.

    Args:
        protocol: the protocol, part of the folder of stored surveys.
        searched: whether searches are graded, and not answers.
    """

    prefix = "beliefs-2"
    code = ("benchmarks/beliefs",)

    def __init__(self, seed: int, tier: str, protocol: str, vocabulary: Vocabulary, *, searched: bool) -> None:
        super().__init__(seed, tier)
        self.folder = f"beliefs-2/{protocol}"
        self.included = f"benchmarks/beliefs/long/surveys/{protocol}"
        self._vocabulary, self._searched = vocabulary, searched

    def parts(self) -> Iterator[Part]:
        """See :meth:`LongSource.parts`."""
        everybody = lives(self.seed, self._vocabulary, searched=self._searched)
        for name, group in self.groups(everybody):
            yield name, group, Filler(self.seed, name, group, self._vocabulary)
