"""The key of a search for beliefs."""

from __future__ import annotations

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
    """Whether the search is a turn of a conversation."""
