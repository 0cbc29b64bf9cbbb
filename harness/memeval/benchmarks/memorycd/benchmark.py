"""MemoryCD as a benchmark: where its files are, eight protocols, and their graders."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Parameters, drawn, refuse_parameters, tables_of
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.data import data_folder
from memeval.benchmarks.exchange_format import WHOLE, ExchangeFormat, RunPart
from memeval.benchmarks.memorycd.dataset import MemoryCDDataset
from memeval.benchmarks.memorycd.grading import MemoryCDRanking, MemoryCDRating, MemoryCDText
from memeval.benchmarks.memorycd.keys import DOMAINS, MemoryCDTask
from memeval.benchmarks.memorycd.metadata import Catalogue, read_metadata
from memeval.benchmarks.memorycd.reader import HabitsReader
from memeval.benchmarks.memorycd.users import DEFAULT_TESTS, SplitSetting, read_users
from memeval.grading.base import Grader
from memeval.keys import ItemKey
from memeval.records.errors import BadInput

DATA_FOLDER = "memorycd"

USER_FILES = tuple(
    folder + name + ending
    for folder, name in (
        ("data/", "cross_domain"),
        ("users/", "cross_domain_users_sampled"),
        ("", "cross_domain"),
        ("", "cross_domain_users_sampled"),
    )
    for ending in (".jsonl", ".jsonl.gz")
)


def users_file(path: Path | None) -> Path | None:
    """Return the user file, or ``None``.

    ``path``: the file, its folder, or the folder of all data; ``None`` for the data folder of memeval. Raises
    ``BadInput``: there are several user files.
    """
    if path is not None and not path.is_dir():
        return path if path.exists() else None
    roots = [data_folder() / DATA_FOLDER] if path is None else [path, path / DATA_FOLDER]
    found = [root / name for root in roots for name in USER_FILES if (root / name).is_file()]
    if len(found) > 1:
        raise BadInput(
            f"found several user files: {', '.join(str(each.relative_to(roots[0])) for each in found)}.",
            where=roots[0],
            remedy="Name one of them with --data.",
        )
    return found[0] if found else None


def metadata_files(users: Path) -> dict[str, Path]:
    """Return the metadata files that exist, by domain in the order of the domains.

    Looks in the folders ``meta`` and ``metadata`` next to the user file or one level up, then next to the user file.
    ``.jsonl.gz`` wins over ``.jsonl``.
    """
    folder_of_users = users.resolve().parent
    folders = [root / name for root in (folder_of_users, folder_of_users.parent) for name in ("meta", "metadata")]
    found = {}
    for domain in DOMAINS:
        names = (
            folder / f"meta_{domain}{end}" for folder in [*folders, folder_of_users] for end in (".jsonl.gz", ".jsonl")
        )
        path = next((each for each in names if each.is_file()), None)
        if path is not None:
            found[domain] = path
    return found


RESULTS = ExchangeFormat(
    name="memorycd",
    title="MemoryCD results, a folder: per domain one JSON object per prediction, and a summary.",
    benchmarks=("memorycd@1",),
    reader=f"{__package__}.results:read",
    writer=f"{__package__}.results_writing:write",
    holds={
        RunPart.ANSWERS: "yes, trimmed",
        RunPart.FAILURES: WHOLE,
        RunPart.CONTEXT: "as part of the prompt",
        RunPart.GRADES: "errors and metrics of the released code, and the parse state of each answer",
        RunPart.METRICS: "those of the released code; strict metrics as means of each domain",
        RunPart.SCORES: "means of each domain, without intervals",
        RunPart.TRACK: "its id",
    },
)

GRADERS: dict[MemoryCDTask, Callable[[], Grader]] = {
    MemoryCDTask.RATING: MemoryCDRating,
    MemoryCDTask.TITLE: MemoryCDText,
    MemoryCDTask.REVIEW: MemoryCDText,
    MemoryCDTask.RANKING: MemoryCDRanking,
}

DEFAULTS: dict[str, str | int] = {"form": "released", "tests": DEFAULT_TESTS, "users": 0, "sources": "+".join(DOMAINS)}

UNVERIFIED = "Unverified data: its authors publish no digest, so a run on it is not ranked."
"""Warning before every run while the catalogue has no digest of the released file."""

QUICK_USERS = 25


def _task(protocol: str) -> MemoryCDTask:
    return MemoryCDTask(protocol.partition("-")[0])


class MemoryCDBenchmark(Benchmark):
    info = load(__package__)
    formats = (RESULTS,)
    readers = (HabitsReader(),)
    tables = tables_of(info, lambda protocol, _: GRADERS[_task(protocol.name)]())

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> MemoryCDDataset:
        """Open the data of a protocol.

        Raises ``BadInput``: the data is missing or invalid, or a parameter is unknown or invalid. ``path``: the user
        file, or a folder with it and the metadata, in the documented or the released layout; ``None`` for the data
        folder of memeval. ``parameters``: ``form``: ``released`` (default), or ``clean`` without hints to the answers;
        ``tests``: number of last reviews of a user that are asked for; ``users``: number of users per domain, 0 for
        all; ``sources``: domains of the memory in cross-domain protocols, joined by ``+``.
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
        try:
            return users_file(path) is not None
        except BadInput:
            return True

    def sampled(self, keys: Sequence[ItemKey], tier: str) -> tuple[ItemKey, ...]:
        seed = next(each.seed for each in self.info.tiers if each.name == tier)
        if seed is None:
            return tuple(keys)
        users = defaultdict(set)
        for key in keys:
            users[key.category].add(key.cluster)
        chosen = {domain: drawn(ids, seed, QUICK_USERS) for domain, ids in users.items()}
        return tuple(key for key in keys if key.cluster in chosen[key.category])


def _checked(parameters: Parameters) -> dict[str, str | int]:
    refuse_parameters("memorycd@1", {name: 0 for name in parameters if name not in DEFAULTS}, ", ".join(DEFAULTS))
    for name, value in parameters.items():
        expected = _expected(name, value)
        if expected:
            raise BadInput(f"memorycd@1: invalid {name}={value!a}.", remedy=f"It must be {expected}.")
    return {**DEFAULTS, **parameters}


def _expected(name: str, value: str | int) -> str | None:
    if name == "form":
        return None if value in ("released", "clean") else "'released' or 'clean'"
    if name == "sources":
        named = str(value).split("+")
        good = set(named) <= set(DOMAINS) and len(set(named)) == len(named)
        return None if good else f"distinct domains joined by '+': {', '.join(DOMAINS)}"
    least = 1 if name == "tests" else 0
    good = isinstance(value, int) and least <= value <= 1_000_000
    return None if good else f"a whole number of at least {least}"
