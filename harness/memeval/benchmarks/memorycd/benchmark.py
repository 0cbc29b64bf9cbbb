"""The benchmark's table: eight protocols, who grades them, and which data and which forms of it there are."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.memorycd.dataset import MemoryCDDataset
from memeval.benchmarks.memorycd.domains import DOMAINS
from memeval.benchmarks.memorycd.metadata import Catalogue, read_metadata
from memeval.benchmarks.memorycd.places import metadata_files, users_file
from memeval.benchmarks.memorycd.splits import DEFAULT_TESTS, SplitSetting
from memeval.benchmarks.memorycd.users import read_users
from memeval.grading.base import Grader
from memeval.grading.memorycd_ranking import MemoryCDRanking
from memeval.grading.memorycd_rating import MemoryCDRating
from memeval.grading.memorycd_text import MemoryCDText
from memeval.keys import ItemKey, MemoryCDTask
from memeval.records.errors import BadInput

GRADERS: dict[MemoryCDTask, Callable[[], Grader]] = {
    MemoryCDTask.RATING: MemoryCDRating,
    MemoryCDTask.TITLE: MemoryCDText,
    MemoryCDTask.REVIEW: MemoryCDText,
    MemoryCDTask.RANKING: MemoryCDRanking,
}
"""Who grades what."""

DEFAULTS: dict[str, str | int] = {"form": "released", "tests": DEFAULT_TESTS, "users": 0, "sources": "+".join(DOMAINS)}
"""Parameters, and what they are unless said otherwise."""

UNVERIFIED = "Unverified data: its authors publish no digest, so a run on it is not ranked."
"""Said before every run while the catalogue has no digest of the released file."""

QUICK_USERS = 25
"""Users of each domain in the tier quick."""


class MemoryCDBenchmark(Benchmark):
    """MemoryCD as released, four domains of its paper's twelve, version 1."""

    info = load(__package__)

    def __init__(self) -> None:
        self._tables = {
            protocol.name: tuple(Category.of(each, GRADERS[_task(protocol.name)]()) for each in self.info.categories)
            for protocol in self.info.protocols
        }
        self.categories = self._tables[self.info.protocols[0].name]

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open the data as the default protocol has it; see :meth:`opened`."""
        return self.opened(path, parameters, self.info.protocols[0].name, self.info.tiers[0].name)

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> MemoryCDDataset:
        """Open the data as a protocol has it.

        Args:
            path: the file of users, or a folder with it and the metadata, in the documented or the released layout;
                ``None`` for memeval's own data folder.
            parameters: ``form``: ``released`` (the default) or ``clean``, without what gives answers away; ``tests``:
                how many of a user's last reviews are asked for; ``users``: how many users a domain has, 0 for all;
                ``sources``: domains joined by ``+`` that a memory of other domains is of.
            protocol: the task and the setting.
            tier: makes no difference here.

        Raises:
            BadInput: the data is missing or of another form, or there is no such parameter.
        """
        given = _checked(parameters or {})
        file = users_file(path)
        if file is None:
            raise BadInput(f"the data of {self.info.id} is not here.", where=path, remedy=self.remedy())
        users = read_users(file, self.remedy())
        files = metadata_files(file)
        catalogue = Catalogue({domain: read_metadata(each, self.remedy()) for domain, each in files.items()})
        notes = [
            f"{index.source.name}: {note}"
            for index in (users.index, *catalogue.indexes.values())
            for note in index.notes
        ]
        notes += [f"There is no metadata of {domain}." for domain in DOMAINS if domain not in files]
        notes += [UNVERIFIED] if self.info.unverified else []
        setting = SplitSetting(
            cross=protocol.endswith("-cross"),
            clean=given["form"] == "clean",
            tests=int(given["tests"]),
            sources=tuple(str(given["sources"]).split("+")),
        )
        other = {name: value for name, value in given.items() if value != DEFAULTS[name]}
        most, released = int(given["users"]), self.info.released_digests
        return MemoryCDDataset(users, catalogue, _task(protocol), setting, most, other, notes, released)

    def available(self, path: Path | None = None) -> bool:
        """Return whether there is a file of users; where there are several, :meth:`opened` says so."""
        try:
            return users_file(path) is not None
        except BadInput:
            return True

    def table(self, protocol: str, tier: str | None = None) -> tuple[Category, ...]:
        """Return the categories as a protocol grades them."""
        return self._tables[protocol]

    def sampled(self, keys: Sequence[ItemKey], tier: str) -> tuple[ItemKey, ...]:
        """Return the items of a tier: all, or those of some users of each domain, drawn by the hashes of their ids."""
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
    """Return all parameters, those that are given and the defaults of the others.

    Raises:
        BadInput: there is no such parameter, or it cannot have that value.
    """
    for name, value in parameters.items():
        if name not in DEFAULTS:
            raise BadInput(f"memorycd@1 has no parameter {name!a}.", remedy=f"It has: {', '.join(DEFAULTS)}.")
        wrong = _wrong(name, value)
        if wrong:
            raise BadInput(f"memorycd@1: {name}={value!a}, and {wrong}.")
    return {**DEFAULTS, **parameters}


def _wrong(name: str, value: str | int) -> str | None:
    """Return what a parameter should be, where it is not."""
    if name == "form":
        return None if value in ("released", "clean") else "it is 'released' or 'clean'"
    if name == "sources":
        named = str(value).split("+")
        good = set(named) <= set(DOMAINS) and len(set(named)) == len(named)
        return None if good else f"it is domains joined by '+', each once: {', '.join(DOMAINS)}"
    least = 1 if name == "tests" else 0
    good = isinstance(value, int) and least <= value <= 1_000_000
    return None if good else f"it is a whole number of at least {least}"
