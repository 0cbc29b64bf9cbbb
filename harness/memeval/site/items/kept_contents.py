"""Computes what pages show of the rows of runs, in several processes, before a site is built.

The rows of a run are read once, and what is computed is kept in the cache of the user. The build finds it there; what
is missing there, it computes itself.
"""

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache, partial

from memeval.archive.run_cache import KeptRun, is_kept
from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.evaluation.verify.many_runs import Workload, batches_of, shares_of
from memeval.execution.contexts import TurnTexts
from memeval.leaderboard.samples import graded_items
from memeval.leaderboard.traces import Traces
from memeval.processes import in_order
from memeval.records.errors import MemevalError
from memeval.records.grade import Grade
from memeval.records.response import Context, Response
from memeval.records.track import Redistribution, Track
from memeval.site.items.benchmark_shards import kept_benchmark_shards
from memeval.site.items.failure_tables import failures_head
from memeval.site.items.run_shards import KIND, depends_on, kept_shards
from memeval.site.model.benchmark_data import BenchmarkData, asked_of, data_of


def keep_contents(folders: Sequence[RunFolder], jobs: int) -> None:
    """Compute what the cache does not have: traces, failure analyses and shards of runs, and the shards of their data.

    Raises ``CheckFailed`` if a process was killed.
    """
    allowed = _allowed(folders)
    new = [folder for folder in folders if _is_new(folder, allowed)]
    shares = shares_of(batches_of(new), jobs)
    leading = {share[0].data: share for share in reversed(shares)}
    tasks = [(share, leading[share[0].data] is share) for share in shares]
    for _ in in_order(partial(_keep, allowed=allowed), tasks, jobs):
        pass
    _place_of.cache_clear()


def _allowed(folders: Sequence[RunFolder]) -> frozenset[str]:
    """Return the benchmarks whose words may be published: they and all their runs say so."""
    found: dict[str, set[Redistribution]] = defaultdict(set)
    for folder in folders:
        with contextlib.suppress(MemevalError):
            found[folder.run.track.benchmark].add(folder.run.redistribution)
    for name in found:
        with contextlib.suppress(MemevalError):
            found[name].add(find(name).info.redistribution)
    return frozenset(name for name, words in found.items() if words == {Redistribution.FULL})


def _is_new(folder: RunFolder, allowed: frozenset[str]) -> bool:
    with contextlib.suppress(MemevalError):
        words = folder.run.track.benchmark in allowed
        return not any(is_kept(folder, KIND, depends_on(words, has_data)) for has_data in (True, False))
    return False


class _ReadOnce(KeptRun):
    def responses(self) -> Iterator[Response]:
        return iter(self._responses)

    def contexts(self) -> Iterator[Context]:
        return iter(self._contexts)

    def grades(self) -> Iterator[Grade]:
        return iter(self._grades)

    @cached_property
    def _responses(self) -> list[Response]:
        return list(super().responses())

    @cached_property
    def _contexts(self) -> list[Context]:
        return list(super().contexts())

    @cached_property
    def _grades(self) -> list[Grade]:
        return list(super().grades())


def _keep(task: tuple[Workload, bool], allowed: frozenset[str]) -> None:
    share, is_first = task
    sharded: set[str] = set()
    for path in (path for batch in share for path in batch.paths):
        # A run that cannot be read is left to the build, which says so.
        with contextlib.suppress(MemevalError, OSError):
            folder = _ReadOnce(path)
            words = folder.run.track.benchmark in allowed
            data, turns = _opened(share[0].data, folder.run.track)
            if is_first and data.key not in sharded:
                kept_benchmark_shards(data, words)
                sharded.add(data.key)
            _ = Traces(keeps=True).of(folder).rows
            graded_items(folder)
            failures_head(folder, data)
            if folder.has_rows:
                kept_shards(folder, words, data, turns)


@lru_cache(maxsize=1)
def _place_of(_data: str) -> dict[str, tuple[BenchmarkData, dict[str, TurnTexts]]]:
    """Return a place for the data of the latest batches, by :func:`asked_of`."""
    return {}


def _opened(data: str, track: Track) -> tuple[BenchmarkData, dict[str, TurnTexts]]:
    """Return the data of a run, and a place for the turns of its scenarios."""
    place, asked = _place_of(data), asked_of(track)
    if asked not in place:
        try:
            place[asked] = data_of(track, find(track.benchmark), None), {}
        except MemevalError as error:
            place[asked] = data_of(track, None, error.problem), {}
    return place[asked]
