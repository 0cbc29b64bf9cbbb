"""LifeBench as a benchmark: protocols with their graders and items, tiers, and data."""

from collections.abc import Callable, Sequence
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Parameters, refuse_parameters, tables_of
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.lifebench.dataset import LifeBenchDataset
from memeval.benchmarks.lifebench.grading import (
    LifeBenchAbstention,
    LifeBenchChoice,
    LifeBenchRetrieval,
    LifeBenchRubric,
)
from memeval.benchmarks.lifebench.keys import LifeBenchKey
from memeval.benchmarks.lifebench.reader import OptionsReader
from memeval.benchmarks.lifebench.released import folder_of_users, is_complete, read_user, released_users
from memeval.grading.base import Grader
from memeval.keys import ItemKey
from memeval.records.errors import BadInput

INFO = load(__package__)

GRADERS: dict[str, Callable[[], Grader]] = {
    "retrieval": LifeBenchRetrieval,
    "choice": LifeBenchChoice,
    "abstain": LifeBenchAbstention,
    "judge": LifeBenchRubric,
}

TIERS: dict[str, tuple[str, ...]] = {"full": tuple(released_users()), "quick": ("lumingqiang",)}


class LifeBenchBenchmark(Benchmark):
    info = INFO
    prompts = __package__
    readers = (OptionsReader(),)

    tables = tables_of(INFO, lambda protocol, _: GRADERS[protocol.name]())

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> LifeBenchDataset:
        """Open the data of a tier. Under ``choice``, questions show their options.

        Raises ``BadInput``: the data is missing or invalid, or there are parameters. ``path``: a folder with one folder
        per user, a folder above it, or a copy of the upstream repository; ``None`` for memeval's data folder. ``tier``:
        ``quick`` reads only its user.
        """
        refuse_parameters(INFO.id, parameters)
        folder = folder_of_users(path)
        if folder is None:
            raise BadInput(f"the data of {INFO.id} is missing.", where=path, remedy=self.remedy())
        return LifeBenchDataset([read_user(folder, user) for user in TIERS[tier]], choice=protocol == "choice")

    def available(self, path: Path | None = None) -> bool:
        return is_complete(path, TIERS["quick"])

    def asked(self, keys: Sequence[ItemKey], protocol: str) -> tuple[ItemKey, ...]:
        """Return the items of a protocol.

        ``retrieval``: questions with evidence up to their month; ``choice``: with options; ``abstain``: without
        options; ``judge``: without options, answerable, with a rubric.
        """
        return tuple(
            item for item in keys if isinstance(item.key, LifeBenchKey) and _is_asked(item, item.key, protocol)
        )


def _is_asked(item: ItemKey, key: LifeBenchKey, protocol: str) -> bool:
    match protocol:
        case "retrieval":
            return item.evidence is not None
        case "choice":
            return bool(key.options)
        case "abstain":
            return not key.options
        case _:
            return not key.options and not key.unanswerable and bool(key.rubric)
