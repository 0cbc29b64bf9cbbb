"""The question sets as the rest of memeval sees them: what they say of themselves, who grades what, and their data."""

from __future__ import annotations

import re
import tomllib
from abc import abstractmethod
from importlib import resources
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.qa.dataset import PREPARED, STORES, QaDataset
from memeval.benchmarks.qa.rows import QuestionRow, Scorer, read_rows, rows_of
from memeval.grading.qa import QaExact, QaJudged
from memeval.records.base import digest_bytes, validated
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import BadInput

PLUMBING = "plumbing"
"""What a track of a question set is labelled, under ``label``: it shows that things work, and ranks nobody."""

JUDGED = "-judged"
"""How the names of protocols end under which a judge decides."""

UNDATED = "ask-basic"
"""How the names of protocols begin under which a question comes without its date."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


INFO = load(__package__)


def _smoke() -> BenchmarkInfo:
    """Return what the built-in set says of itself: what any question set says, but for what it is."""
    path = resources.files(__package__) / "smoke.toml"
    return validated(BenchmarkInfo, INFO.data() | tomllib.loads(path.read_text("utf-8")), path)


class _QuestionSet(Benchmark):
    """What both benchmarks have in common."""

    def __init__(self) -> None:
        (info,) = self.info.categories
        exact, judged = Category.of(info, QaExact()), Category.of(info, QaJudged())
        self._tables = {
            each.name: (judged,) if each.name.endswith(JUDGED) else (exact,) for each in self.info.protocols
        }
        self.categories = self._tables[self.info.protocols[0].name]

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open the data as the default protocol has it; see :meth:`memeval.benchmarks.base.Benchmark.open`."""
        return self.opened(path, parameters, self.info.protocols[0].name, self.info.tiers[0].name)

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> QaDataset:
        """Open the data; a row must have what the protocol's scorer needs.

        Args:
            path: see the benchmark.
            parameters: ``store=prepared`` or ``store=empty``, and what the benchmark takes besides.
            protocol: one of the benchmark's protocols.
            tier: its one tier.

        Raises:
            BadInput: the file is missing or no question set, or there is no such parameter.
        """
        scorer = Scorer.JUDGE if protocol.endswith(JUDGED) else Scorer.EXACT
        asked = dict(parameters or {})
        store = asked.pop("store", PREPARED)
        if store not in STORES:
            raise BadInput(f"{self.info.id} knows no store={store}.", remedy=f"It may be {' or '.join(STORES)}.")
        label = asked.pop("label", PLUMBING)
        if label != PLUMBING:
            raise BadInput(f"{self.info.id} is always labelled {PLUMBING}, and not {label}.")
        data, rows, more = self._read(path, asked, scorer)
        return QaDataset(
            rows,
            digest_bytes(data),
            {"store": str(store), "label": PLUMBING, **more},
            dated=not protocol.startswith(UNDATED),
            released=not self.info.brought,
        )

    @abstractmethod
    def _read(
        self, path: Path | None, parameters: dict[str, str | int], scorer: Scorer
    ) -> tuple[bytes, tuple[QuestionRow, ...], dict[str, str | int]]:
        """Return a file's bytes, its rows, and the parameters that name it."""

    def table(self, protocol: str, tier: str | None = None) -> tuple[Category, ...]:
        """Return the one category, as a protocol grades it."""
        return self._tables[protocol]

    def _refuse(self, parameters: dict[str, str | int], known: str) -> None:
        if parameters:
            raise BadInput(f"{self.info.id} knows no parameter '{next(iter(parameters))}'.", remedy=f"It has {known}.")


class QaBenchmark(_QuestionSet):
    """Any question set in JSON Lines, version 1."""

    info = INFO

    def available(self, path: Path | None = None) -> bool:
        """Return whether a file is named, and there."""
        return path is not None and path.is_file()

    def remedy(self) -> str:
        """Return what to do where no file is named."""
        return "Name a file of yours with --data FILE. 'memeval data verify qa --data FILE' checks it."

    def _read(
        self, path: Path | None, parameters: dict[str, str | int], scorer: Scorer
    ) -> tuple[bytes, tuple[QuestionRow, ...], dict[str, str | int]]:
        if path is None:
            raise BadInput(
                f"{self.info.id} asks the questions of a file of yours, and none is named.",
                remedy=self.remedy(),
            )
        name = parameters.pop("file", None)
        if name is not None and not _NAME.fullmatch(str(name)):
            raise BadInput(f"'{name}' is no name for a file.", remedy="Take letters, digits, dots and dashes.")
        self._refuse(parameters, "store=prepared|empty, and file=NAME for what the file is to be called")
        data, rows = read_rows(path, scorer)
        return data, rows, {"file": str(name) if name is not None else _stem(path)}


class QaSmokeBenchmark(_QuestionSet):
    """Twenty plain facts that memeval brings, version 1."""

    info = _smoke()

    def _read(
        self, path: Path | None, parameters: dict[str, str | int], scorer: Scorer
    ) -> tuple[bytes, tuple[QuestionRow, ...], dict[str, str | int]]:
        if path is not None:
            raise BadInput(
                f"{self.info.id} is built in and reads no file.",
                where=path,
                remedy="For a file of your own: --benchmark qa --data FILE.",
            )
        self._refuse(parameters, "store=prepared|empty")
        data = (resources.files(__package__) / "smoke.jsonl").read_bytes()
        return data, rows_of(data, scorer, "smoke.jsonl"), {}


def _stem(path: Path) -> str:
    """Return what a file is called in a track: its name without its ending, in letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-._")[:64] or "unnamed"
