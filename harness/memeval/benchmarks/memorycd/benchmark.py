"""MemoryCD as a benchmark: eight protocols, their graders, and forms of the data."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.memorycd.dataset import MemoryCDDataset
from memeval.benchmarks.memorycd.domains import DOMAINS
from memeval.benchmarks.memorycd.formats import FORMATS
from memeval.benchmarks.memorycd.keys import MemoryCDTask
from memeval.benchmarks.memorycd.metadata import Catalogue, read_metadata
from memeval.benchmarks.memorycd.places import metadata_files, users_file
from memeval.benchmarks.memorycd.ranking import MemoryCDRanking
from memeval.benchmarks.memorycd.rating import MemoryCDRating
from memeval.benchmarks.memorycd.reader import HabitsReader
from memeval.benchmarks.memorycd.splits import DEFAULT_TESTS, SplitSetting
from memeval.benchmarks.memorycd.text import MemoryCDText
from memeval.benchmarks.memorycd.users import read_users
from memeval.grading.base import Grader
from memeval.keys import ItemKey
from memeval.records.errors import BadInput

GRADERS: dict[MemoryCDTask, Callable[[], Grader]] = {
    MemoryCDTask.RATING: MemoryCDRating,
    MemoryCDTask.TITLE: MemoryCDText,
    MemoryCDTask.REVIEW: MemoryCDText,
    MemoryCDTask.RANKING: MemoryCDRanking,
}
"""Grader of each task."""

DEFAULTS: dict[str, str | int] = {"form": "released", "tests": DEFAULT_TESTS, "users": 0, "sources": "+".join(DOMAINS)}
"""Parameters with their defaults."""

UNVERIFIED = "Unverified data: its authors publish no digest, so a run on it is not ranked."
"""Warning before every run while the catalogue has no digest of the released file."""

QUICK_USERS = 25
"""Users of each domain in the tier quick."""


class MemoryCDBenchmark(Benchmark):
    """MemoryCD as released, version 1: four of the twelve domains of the paper."""

    info = load(__package__)
    formats = FORMATS
    readers = (HabitsReader(),)

    def __init__(self) -> None:
        self._tables = {
            protocol.name: tuple(Category.of(each, GRADERS[_task(protocol.name)]()) for each in self.info.categories)
            for protocol in self.info.protocols
        }
        self.categories = self._tables[self.info.protocols[0].name]

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open the data of the default protocol; see :meth:`opened`."""
        return self.opened(path, parameters, self.info.protocols[0].name, self.info.tiers[0].name)

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> MemoryCDDataset:
        """Open the data of a protocol.

        Args:
            path: the user file, or a folder with it and the metadata, in the documented or the released layout;
                ``None`` for the data folder of memeval.
            parameters: ``form``: ``released`` (default), or ``clean`` without hints to the answers; ``tests``: number
                of last reviews of a user that are asked for; ``users``: number of users per domain, 0 for all;
                ``sources``: domains of the memory in cross-domain protocols, joined by ``+``.
            protocol: the task and the setting.
            tier: ignored.

        Raises:
            BadInput: the data is missing or invalid, or a parameter is unknown or invalid.
        """
        chosen = _checked(parameters or {})
        file = users_file(path)
        if file is None:
            raise BadInput(f"the data of {self.info.id} is missing.", where=path, remedy=self.remedy())
        users = read_users(file, self.remedy())
        files = metadata_files(file)
        catalogue = Catalogue({domain: read_metadata(each, self.remedy()) for domain, each in files.items()})
        notes = [
            f"{index.source.name}: {note}"
            for index in (users.index, *catalogue.indexes.values())
            for note in index.notes
        ]
        notes += [f"The metadata of {domain} is missing." for domain in DOMAINS if domain not in files]
        notes += [UNVERIFIED] if self.info.unverified else []
        setting = SplitSetting(
            cross=protocol.endswith("-cross"),
            clean=chosen["form"] == "clean",
            tests=int(chosen["tests"]),
            sources=tuple(str(chosen["sources"]).split("+")),
        )
        other = {name: value for name, value in chosen.items() if value != DEFAULTS[name]}
        most, released = int(chosen["users"]), self.info.released_digests
        return MemoryCDDataset(users, catalogue, _task(protocol), setting, most, other, notes, released)

    def available(self, path: Path | None = None) -> bool:
        """Return whether there is a user file; :meth:`opened` refuses several."""
        try:
            return users_file(path) is not None
        except BadInput:
            return True

    def table(self, protocol: str, tier: str | None = None) -> tuple[Category, ...]:
        """Return the categories with the graders of a protocol."""
        return self._tables[protocol]

    def sampled(self, keys: Sequence[ItemKey], tier: str) -> tuple[ItemKey, ...]:
        """Return the items of a tier: all, or those of some users per domain, drawn by the hashes of their ids."""
        seed = next(each.seed for each in self.info.tiers if each.name == tier)
        if seed is None:
            return tuple(keys)
        users = defaultdict(set)
        for key in keys:
            users[key.category].add(key.cluster)
        chosen = {
            domain: set(sorted(ids, key=lambda each: hashlib.sha256(f"{seed}:{each}".encode()).digest())[:QUICK_USERS])
            for domain, ids in users.items()
        }
        return tuple(key for key in keys if key.cluster in chosen[key.category])


def _task(protocol: str) -> MemoryCDTask:
    return MemoryCDTask(protocol.partition("-")[0])


def _checked(parameters: Parameters) -> dict[str, str | int]:
    """Return the parameters with the defaults for missing ones.

    Raises:
        BadInput: a parameter is unknown or invalid.
    """
    for name, value in parameters.items():
        if name not in DEFAULTS:
            raise BadInput(f"memorycd@1 has no parameter {name!a}.", remedy=f"It has: {', '.join(DEFAULTS)}.")
        expected = _expected(name, value)
        if expected:
            raise BadInput(f"memorycd@1: invalid {name}={value!a}.", remedy=f"It must be {expected}.")
    return {**DEFAULTS, **parameters}


def _expected(name: str, value: str | int) -> str | None:
    """Return what an invalid parameter must be; ``None`` if it is valid."""
    if name == "form":
        return None if value in ("released", "clean") else "'released' or 'clean'"
    if name == "sources":
        named = str(value).split("+")
        good = set(named) <= set(DOMAINS) and len(set(named)) == len(named)
        return None if good else f"distinct domains joined by '+': {', '.join(DOMAINS)}"
    least = 1 if name == "tests" else 0
    good = isinstance(value, int) and least <= value <= 1_000_000
    return None if good else f"a whole number of at least {least}"
