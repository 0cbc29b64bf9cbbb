"""Which reviews a memory is given and which are asked for: MemoryCD's splits, as released and cleaned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from memeval.benchmarks.memorycd.domains import DOMAINS
from memeval.benchmarks.memorycd.users import History, Interaction

DEFAULT_TESTS = 3


@dataclass(frozen=True)
class SplitSetting:
    """How histories are split."""

    cross: bool = False
    """Whether the memory is of other domains than the one asked about."""
    clean: bool = False
    """Whether the memory ends before what is asked about begins."""
    tests: int = DEFAULT_TESTS
    """How many of the last reviews of a domain are asked for."""
    sources: tuple[str, ...] = DOMAINS
    """Domains that the memory is of, in their order, where it is of others; the one asked about is left out."""

    @property
    def name(self) -> str:
        """Its name in ids."""
        return "cross" if self.cross else "single"

    def sources_of(self, target: str) -> tuple[str, ...]:
        """Return the domains that the memory is of."""
        return tuple(each for each in self.sources if each != target) if self.cross else (target,)

    def takes(self, histories: Mapping[str, History], target: str) -> bool:
        """Return whether a user has reviews enough in a domain to be counted at all."""
        return len(histories.get(target, ())) >= self.tests + (not self.cross)


@dataclass(frozen=True)
class Split:
    """A user's reviews, parted."""

    memory: Sequence[Interaction]
    """What is remembered, by time."""
    tests: Sequence[Interaction]
    """What is asked for, by time."""

    @property
    def later(self) -> int:
        """How much of the memory is no earlier than the first test."""
        return sum(each.time >= self.tests[0].time for each in self.memory)


def split(histories: Mapping[str, History], target: str, setting: SplitSetting) -> Split | None:
    """Return a user's reviews parted for a domain; ``None`` where nothing is remembered.

    Args:
        histories: the user's reviews, by domain.
        target: the domain asked about; the user must have enough in it, see :meth:`SplitSetting.takes`.
        setting: how.
    """
    own = histories[target]
    tests = own[-setting.tests :]
    memory = own[: -setting.tests]
    if setting.cross:
        others = [each for domain in setting.sources_of(target) for each in histories.get(domain, ())]
        memory = tuple(sorted(others, key=attrgetter("time")))
    if setting.clean:
        memory = tuple(each for each in memory if each.time < tests[0].time)
    return Split(memory, tests) if memory else None
