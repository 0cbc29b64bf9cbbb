"""The question sets as benchmarks: catalogue, graders and data."""

import re
from abc import abstractmethod
from importlib import resources
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Parameters, refuse_parameters, tables_of
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.exchange_format import WHOLE, ExchangeFormat, RunPart
from memeval.benchmarks.qa.dataset import PREPARED, STORES, QaDataset
from memeval.benchmarks.qa.grading import QaExact, QaJudged
from memeval.benchmarks.qa.rows import QuestionRow, Scorer, read_rows, rows_of
from memeval.records.base import digest_bytes, validated
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import BadInput
from memeval.toml import parse_toml

PLUMBING = "plumbing"
"""The parameter ``label`` of every track of a question set: it tests the setup and is never ranked."""

JUDGED = "-judged"
"""Suffix of the protocols with a judge."""

UNDATED = "ask-basic"
"""Prefix of the protocols that send questions without their date."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


INFO = load(__package__)


def _smoke() -> BenchmarkInfo:
    path = resources.files(__package__) / "smoke.toml"
    return validated(BenchmarkInfo, INFO.data() | parse_toml(path.read_bytes(), path).data, path)


EVALSCORE = ExchangeFormat(
    name="evalscore",
    title="An EvalScore of jeffs-brain's daemon runner: one JSON object with answers to a question set.",
    benchmarks=("qa@1", "qa-smoke@1"),
    mapping=f"{__package__}:evalscore",
    reader=f"{__package__}.evalscore:read",
    writer=f"{__package__}.evalscore:write",
    holds={
        RunPart.ANSWERS: WHOLE,
        RunPart.FAILURES: "as error messages",
        RunPart.ITEMS: "document ids, with scores",
        RunPart.TIMINGS: "the total by question",
        RunPart.GRADES: "a score; passed from 0.5",
        RunPart.SCORES: "the pass rate and the mean, without intervals",
        RunPart.TRACK: "question set, scorer and scenario",
        RunPart.SYSTEM: "slug and mode",
    },
)


def _tables(info: BenchmarkInfo) -> dict[str, tuple[Category, ...]]:
    return tables_of(info, lambda protocol, _: QaJudged() if protocol.name.endswith(JUDGED) else QaExact())


class _QuestionSet(Benchmark):
    prompts = __package__
    formats = (EVALSCORE,)

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> QaDataset:
        """Open the data. Each row must have the fields that the scorer of the protocol needs.

        ``parameters``: ``store=prepared`` or ``store=empty``, and the other parameters of the benchmark. Raises
        ``BadInput``: the file is missing or no question set, or a parameter is unknown or invalid.
        """
        scorer = Scorer.JUDGE if protocol.endswith(JUDGED) else Scorer.EXACT
        others = dict(parameters or {})
        store = others.pop("store", PREPARED)
        if store not in STORES:
            raise BadInput(f"{self.info.id}: invalid store={store}.", remedy=f"Choose {' or '.join(STORES)}.")
        label = others.pop("label", PLUMBING)
        if label != PLUMBING:
            raise BadInput(
                f"{self.info.id}: invalid label={label}.", remedy=f"The label is always {PLUMBING}. Leave it out."
            )
        data, rows, more = self._read(path, others, scorer)
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
        """Return the bytes of a file, its rows, and the parameters that name it."""


class QaBenchmark(_QuestionSet):
    info = INFO
    tables = _tables(INFO)

    def available(self, path: Path | None = None) -> bool:
        return path is not None and path.is_file()

    def remedy(self) -> str:
        return "Name your file with --data FILE. To check it: memeval data verify qa --data FILE."

    def _read(
        self, path: Path | None, parameters: dict[str, str | int], scorer: Scorer
    ) -> tuple[bytes, tuple[QuestionRow, ...], dict[str, str | int]]:
        if path is None:
            raise BadInput(f"{self.info.id} needs your own file of questions.", remedy="Pass --data FILE.")
        name = parameters.pop("file", None)
        if name is not None and not _NAME.fullmatch(str(name)):
            raise BadInput(f"invalid file name {str(name)!r}.", remedy="Use letters, digits, dots and dashes.")
        known = "store=prepared|empty, and file=NAME, the name of the file in the track"
        refuse_parameters(self.info.id, parameters, known)
        data, rows = read_rows(path, scorer)
        return data, rows, {"file": str(name) if name is not None else _stem(path)}


class QaSmokeBenchmark(_QuestionSet):
    info = _smoke()
    tables = _tables(info)

    def _read(
        self, path: Path | None, parameters: dict[str, str | int], scorer: Scorer
    ) -> tuple[bytes, tuple[QuestionRow, ...], dict[str, str | int]]:
        if path is not None:
            raise BadInput(
                f"{self.info.id} is built in and reads no file.",
                where=path,
                remedy="For your own file: --benchmark qa --data FILE.",
            )
        refuse_parameters(self.info.id, parameters, "store=prepared|empty")
        data = (resources.files(__package__) / "smoke.jsonl").read_bytes()
        return data, rows_of(data, scorer, "smoke.jsonl"), {}


def _stem(path: Path) -> str:
    """Return the name of a file in a track: its stem, in letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-._")[:64] or "unnamed"
