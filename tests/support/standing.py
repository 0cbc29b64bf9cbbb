"""Made-up runs count as runs of shipped systems on built-in data, so that boards of tests can rank them.

They do until the tests of their module are over; those of a board for the whole session as long as it.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from memeval.records.run import Run

_counted: list[list[Run]] = []
"""The runs that count, by the fixtures that end them; the last are those of the module."""

_patch = pytest.MonkeyPatch()


def made_up(run: Run) -> None:
    """Let the system and the benchmark of a run count as shipped and built in."""
    if not any(_counted):
        _let_them_count()
    if not _counted:  # in a program that is no test, to its end
        _counted.append([])
    _counted[-1].append(run)


@contextmanager
def counting(runs: Iterable[Run]) -> Iterator[None]:
    """Let the systems and benchmarks of runs count for the whole context, whatever module ends within it."""
    if not any(_counted):
        _let_them_count()
    _counted.insert(0, kept := list(runs))
    yield
    _end(kept)


@pytest.fixture(scope="module", autouse=True)
def runs_made_up_in_a_module() -> Iterator[None]:
    mine: list[Run] = []
    _counted.append(mine)
    yield
    _end(mine)


def _end(runs: list[Run]) -> None:
    del _counted[next(place for place, each in enumerate(_counted) if each is runs)]
    if not any(_counted):
        _patch.undo()


def _let_them_count() -> None:
    from memeval.leaderboard import standing
    from memeval.systems.known import known

    catalogue_of = standing.catalogue_of

    def shipped(digest: str) -> Any:
        made = any(run.system.submission_digest == digest for runs in _counted for run in runs)
        return (digest,) if made else known().submissions_with(digest)

    def catalogue(benchmark: str) -> Any:
        real = catalogue_of(benchmark)
        if not any(run.track.benchmark == benchmark for runs in _counted for run in runs):
            return real
        return SimpleNamespace(generated=True, unverified=real is not None and real.unverified)

    _patch.setattr(standing, "known", lambda: SimpleNamespace(submissions_with=shipped))
    _patch.setattr(standing, "catalogue_of", catalogue)
