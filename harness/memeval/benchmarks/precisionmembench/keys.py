"""The key of a search for beliefs, and the scores of the authors' code.

Scores: tenurehq/precisionMemBench, ``src/adapters/baseAdapter.ts``, commit 18c7955.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from memeval.keys import RecallKey


class BeliefSearchKey(RecallKey):
    """The expected result of a search, and what the authors' code adds to a result or removes from it.

    All beliefs are named by ordinal.
    """

    expected: tuple[str, ...] = ()
    """The beliefs that a right result contains; empty if it contains none."""
    exact: bool = True
    """Whether a right result contains nothing else."""
    forbidden: tuple[str, ...] = ()
    """Beliefs that may be neither in the result nor pinned."""
    noise: tuple[str, ...] = ()
    """Those of them that belong to earlier topics of a conversation."""
    pinned: tuple[str, ...] = ()
    """Beliefs that the benchmark itself adds to every result, so that they are removed from the system's."""
    room: int
    """Largest number of beliefs in the result, without the pinned ones."""
    expansions: dict[str, tuple[str, ...]] = {}
    """Beliefs to add after the result, by the relation that names them."""
    updated: dict[str, str] = {}
    """The first text of a belief, by ordinal of its later texts."""
    of_turn: bool = False


def completed(key: BeliefSearchKey, returned: Iterable[str]) -> tuple[str, ...]:
    """Return a result without pinned beliefs, with the beliefs that its relations connect, cut to its room."""
    result = unpinned(key, returned)
    connected = [name for relation in result for name in key.expansions.get(relation, ())]
    return tuple(dict.fromkeys([*result, *connected]))[: key.room]


def unpinned(key: BeliefSearchKey, returned: Iterable[str]) -> tuple[str, ...]:
    """Return each belief of a result once, without the pinned ones, cut to its room; see :func:`completed`."""
    names = dict.fromkeys(key.updated.get(name, name) for name in returned)
    return tuple(name for name in names if name not in key.pinned)[: key.room]


@dataclass(frozen=True)
class Result:
    """A result and its scores.

    Args:
        key: the key of the search.
        relevant: the result that counts, by ordinal; see :func:`completed`.
    """

    key: BeliefSearchKey
    relevant: tuple[str, ...]

    @property
    def hits(self) -> int:
        return len(set(self.key.expected).intersection(self.relevant))

    @property
    def precision(self) -> float | None:
        """Share of the result that is expected.

        An empty result has 0 if something is expected, else ``None``. In a conversation it always has ``None``.
        """
        if self.relevant:
            return self.hits / len(self.relevant)
        return 0.0 if self.key.expected and not self.key.of_turn else None

    @property
    def recall(self) -> float | None:
        return self.hits / len(self.key.expected) if self.key.expected else None

    @property
    def f2(self) -> float:
        """The weighted harmonic mean ``5 P R / (4 P + R)`` of precision and recall (van Rijsbergen 1979, chapter 7)."""
        precision, recall = self.precision or 0.0, self.recall or 0.0
        return 5 * precision * recall / (4 * precision + recall) if recall else 0.0

    @property
    def drift(self) -> float | None:
        """Share of the result that is not expected; ``None`` if the result is empty.

        The authors' code gives 0 to an empty result.
        """
        return 1 - self.hits / len(self.relevant) if self.relevant else None

    @property
    def is_exact(self) -> bool:
        return set(self.relevant) == set(self.key.expected)

    @property
    def surfaced(self) -> tuple[str, ...]:
        """The noise in the result and among the pinned beliefs."""
        return tuple(name for name in self.key.noise if name in (*self.key.pinned, *self.relevant))

    @property
    def passed(self) -> bool:
        shown = {*self.key.pinned, *self.relevant}
        return shown.isdisjoint(self.key.forbidden) and (self.is_exact or not self.key.exact)
