"""Splits reviews into memory and tests, as released or cleaned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from memeval.benchmarks.memorycd.keys import DOMAINS
from memeval.benchmarks.memorycd.users import History, Interaction

DEFAULT_TESTS = 3


@dataclass(frozen=True)
class SplitSetting:
    """Settings of a split."""

    cross: bool = False
    """Whether the memory has the other domains instead of the tested one."""
    clean: bool = False
    """Whether the memory ends before the first test."""
    tests: int = DEFAULT_TESTS
    """Number of last reviews of a domain that are tests."""
    sources: tuple[str, ...] = DOMAINS
    """Domains of a cross-domain memory, in their order; the tested domain is left out."""

    @property
    def name(self) -> str:
        """Its name in ids."""
        return "cross" if self.cross else "single"

    def sources_of(self, target: str) -> tuple[str, ...]:
        """Return the domains of the memory."""
        return tuple(each for each in self.sources if each != target) if self.cross else (target,)

    def takes(self, histories: Mapping[str, History], target: str) -> bool:
        """Return whether a user has enough reviews in a domain to count."""
        return len(histories.get(target, ())) >= self.tests + (not self.cross)


@dataclass(frozen=True)
class Split:
    """The reviews of a user, split into memory and tests."""

    memory: Sequence[Interaction]
    """Reviews to remember, by time."""
    tests: Sequence[Interaction]
    """Reviews to predict, by time."""

    @property
    def later(self) -> int:
        """Number of reviews in the memory at or after the time of the first test."""
        return sum(each.time >= self.tests[0].time for each in self.memory)


def split(histories: Mapping[str, History], target: str, setting: SplitSetting) -> Split | None:
    """Return the split of a user for a domain; ``None`` if the memory is empty.

    Args:
        histories: the reviews of the user, by domain.
        target: the tested domain, with enough reviews; see :meth:`SplitSetting.takes`.
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
