"""MemoryCD predictions: one JSON object per line, matched to items by user and product; and their file names.

Field and file names: AgentMemoryWorld/MemoryCD, ``eval_core.py``. A file belongs to one domain; the files of
several domains can be concatenated. Code reads them, because rows match by user, product and time, and the name of the
file holds its settings.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from memeval.benchmarks.formats.reading import (
    LONGEST_TEXT,
    NO_ANSWER,
    Answer,
    AnswerFile,
    Count,
    ForeignRecord,
    Id,
    ImportedAnswer,
    ImportedAnswers,
    Name,
    Text,
    fitted,
    imported_answers,
    refuse,
)
from memeval.benchmarks.memorycd.dataset import MemoryCDDataset
from memeval.benchmarks.memorycd.grading import HIGHEST, LOWEST
from memeval.benchmarks.memorycd.keys import DOMAINS, MemoryCDTask
from memeval.benchmarks.memorycd.users import MILLISECONDS_FROM
from memeval.benchmarks.session import BenchmarkSession
from memeval.keys import ItemKey
from memeval.records.base import Share
from memeval.records.imported import Claim

TASKS = {
    MemoryCDTask.RATING: "rating_prediction",
    MemoryCDTask.TITLE: "review_summarization",
    MemoryCDTask.REVIEW: "review_generation",
    MemoryCDTask.RANKING: "item_ranking",
}

SHORT = dict(zip(DOMAINS, ("B", "Bo", "E", "H"), strict=True))

LONGEST_MODEL = 80

_NAME = re.compile(
    rf"(?P<setting>single|cross)_(?P<domain>{'|'.join(DOMAINS)})(?:_(?P<sources>srcAll|noMem|src(?:Bo|B|E|H)+))?"
    rf"_(?P<task>{'|'.join(TASKS.values())})_(?P<method>long_context|[^_]+)_(?P<model>.+)"
    r"_users(?P<users>All|\d{1,9})_mem(?P<memory>All|\d{1,9})_test(?P<tests>\d{1,9})_(?P<at>\d{8}_\d{6})"
)


@dataclass(frozen=True)
class RunName:
    cross: bool
    domain: str
    sources: str | None
    """The memory's domains, as written by :func:`sources_name`; ``None`` if it is the questions' domain."""
    task: MemoryCDTask
    method: str
    model: str
    users: int | None
    memory: int | None
    tests: int
    """Number of a user's last reviews that are predicted."""
    at: str
    """Time of the run, as ``YYYYmmdd_HHMMSS``."""

    def __str__(self) -> str:
        domain = f"{self.domain}_{self.sources}" if self.cross else self.domain
        model = re.sub(r"[^A-Za-z0-9._-]+", "-", self.model.replace("/", "_"))[:LONGEST_MODEL]
        users, memory = ("All" if most is None else most for most in (self.users, self.memory))
        return (
            f"{self.setting}_{domain}_{TASKS[self.task]}_{self.method}_{model}"
            f"_users{users}_mem{memory}_test{self.tests}_{self.at}"
        )

    @property
    def setting(self) -> str:
        return "cross" if self.cross else "single"

    @property
    def protocol(self) -> str:
        return f"{self.task.value}-{self.setting}"

    @classmethod
    def parsed(cls, name: str) -> RunName | None:
        found = _NAME.fullmatch(name)
        if found is None or (found["setting"] == "cross") != (found["sources"] is not None):
            return None
        return cls(
            cross=found["setting"] == "cross",
            domain=found["domain"],
            sources=found["sources"],
            task=next(task for task, called in TASKS.items() if called == found["task"]),
            method=found["method"],
            model=found["model"],
            users=_limit(found["users"]),
            memory=_limit(found["memory"]),
            tests=int(found["tests"]),
            at=found["at"],
        )


def sources_name(sources: tuple[str, ...]) -> str:
    """Return the name of the memory's domains: ``srcAll`` for all, else ``src`` and their short names, sorted."""
    return "srcAll" if set(sources) == set(DOMAINS) else "src" + "".join(SHORT[each] for each in sorted(sources))


def _limit(text: str) -> int | None:
    return None if text == "All" else int(text)


FORMAT = "memorycd"
FAILED = "llm_error"
"""Parse state of a failed answer; memeval's addition to the released code's states."""


class _Target(ForeignRecord):
    parent_asin: Id | None = None
    timestamp: float | None = None
    candidate_asins: list[Id] | None = Field(default=None, max_length=100_000)


class _Metrics(ForeignRecord):
    error: float | None = Field(default=None, ge=0, le=HIGHEST - LOWEST)
    rouge: Share | None = Field(default=None, alias="rougeL_f")
    ndcg: float | None = Field(default=None, alias="ndcg@5", ge=0, le=2)

    @property
    def credit(self) -> float | None:
        if self.error is not None:
            return 1 - self.error / (HIGHEST - LOWEST)
        return self.rouge if self.ndcg is None else min(1.0, self.ndcg)


class _PredictionRow(ForeignRecord):
    user_id: Id
    target_item: _Target
    llm_response: Answer
    ground_truth: float | Annotated[str, StringConstraints(max_length=LONGEST_TEXT)]
    metrics: _Metrics | None = None
    parse_state: Name | None = None
    error: Text | None = None

    @property
    def pair(self) -> tuple[str, str]:
        return self.user_id, self.target_item.parent_asin or ""

    @property
    def failure(self) -> str | None:
        if self.parse_state == FAILED:
            return self.error or "failed without an error message"
        return NO_ANSWER if self.llm_response is None else None


class _Results(ForeignRecord):
    method: Name | None = None
    llm_model: Name | None = None
    num_test: Count | None = None
    max_memory_items: Count | None = None


class _Summary(ForeignRecord):
    timestamp: Name | None = None
    results: _Results = _Results()


def read(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    data = benchmark_session.dataset
    if not isinstance(data, MemoryCDDataset):
        refuse("not MemoryCD data.", file.path)
    name = RunName.parsed(file.path.stem.removeprefix("predictions_"))
    if name is not None and name.protocol != benchmark_session.protocol:
        refuse(
            f"the file name says protocol '{name.protocol}', but the chosen one is '{benchmark_session.protocol}'.",
            file.path,
            f"Grade it with --protocol {name.protocol}.",
        )
    rows = [(where, fitted(_PredictionRow, value, where)) for where, value in file.rows()]
    for where, row in rows:
        _check(row, data.task, where)
    summary = _summary(file)
    settings = _settings(name, summary)
    system = file.system or " ".join(filter(None, (settings.method, settings.llm_model))) or file.path.stem
    limits = {"num_test": settings.num_test, "max_memory_items": settings.max_memory_items}
    return imported_answers(
        file,
        FORMAT,
        system,
        (
            ImportedAnswer(question_id, "" if row.failure else row.llm_response or "", error=row.failure)
            for question_id, row in _matched(rows, data, None if name is None else name.domain)
        ),
        made_by="MemoryCD's runner",
        made_at=summary.timestamp,
        reader=settings.llm_model,
        limits={name: value for name, value in limits.items() if value is not None},
        claims=_claims([row for _where, row in rows]),
    )


def _check(row: _PredictionRow, task: MemoryCDTask, where: str) -> None:
    fits = {
        MemoryCDTask.RATING: not isinstance(row.ground_truth, str),
        MemoryCDTask.RANKING: row.target_item.candidate_asins is not None,
    }
    if not fits.get(task, isinstance(row.ground_truth, str) and row.target_item.candidate_asins is None):
        refuse(f"not a prediction of a {task.value}.", where, "Choose the matching --protocol.")


def _summary(file: AnswerFile) -> _Summary:
    stem = file.path.stem.removeprefix("predictions_")
    name = f"summary_{stem}.json"
    summary = file.beside(name) if stem != file.path.stem else None
    return _Summary() if summary is None else fitted(_Summary, summary, file.path.with_name(name))


def _settings(name: RunName | None, summary: _Summary) -> _Results:
    if name is None or summary.results != _Results():
        return summary.results
    return _Results(method=name.method, llm_model=name.model, num_test=name.tests, max_memory_items=name.memory)


def _claims(rows: Sequence[_PredictionRow]) -> tuple[Claim, ...]:
    credits = [row.metrics.credit for row in rows if row.metrics is not None]
    known = [credit for credit in credits if credit is not None]
    return (Claim(score=sum(known) / len(known), items=len(known)),) if known and len(known) == len(rows) else ()


def _matched(
    rows: Sequence[tuple[str, _PredictionRow]], data: MemoryCDDataset, domain: str | None
) -> Iterator[tuple[str, _PredictionRow]]:
    """Yield the rows with their question ids.

    If a user reviewed a product twice, rows match by order, or by time if some rows are missing. A row that matches no
    question gets an id that no question has. ``domain``: the domain of all rows; ``None`` if unknown.
    """
    known = _items_by_pair(data, domain)
    by_pair: dict[tuple[str, str], list[tuple[str, _PredictionRow]]] = defaultdict(list)
    for where, row in rows:
        by_pair[row.pair].append((where, row))
    for pair, pair_rows in by_pair.items():
        candidates = known.get(pair, [])
        if not candidates:
            yield from ((":".join(("?", *pair)), row) for _where, row in pair_rows)
            continue
        if len(pair_rows) > len(candidates):
            where, row = pair_rows[len(candidates)]
            refuse(f"second prediction for user '{row.user_id}' and this product.", where, "Keep one of them.")
        if len(pair_rows) == len(candidates):
            yield from zip((item for item, _time in candidates), (row for _where, row in pair_rows), strict=True)
            continue
        matched: set[str] = set()
        for where, row in pair_rows:
            (item,) = fitting if len(fitting := _same_time(row, candidates)) == 1 else (None,)
            if item is None or item in matched:
                refuse(
                    f"the user reviewed this product {len(candidates)} times, so the match is ambiguous.",
                    where,
                    "Keep all predictions of a user together.",
                )
            matched.add(item)
            yield item, row


def _items_by_pair(data: MemoryCDDataset, domain: str | None) -> dict[tuple[str, str], list[tuple[str, float]]]:
    items: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
    keys = (key for key in data.answer_keys() if domain in (None, key.category))
    for scenario_id, scenario_keys in groupby(keys, key=lambda key: key.scenario_id):
        tests = data.parted(scenario_id).tests
        for key in scenario_keys:
            test = tests[test_index(key)]
            items[key.cluster, test.item].append((key.item_id, test.time))
    return items


def test_index(key: ItemKey) -> int:
    """Return an item's index among the user's tests, from 0; the item id ends with that number, from 1."""
    return int(key.item_id.rpartition(":")[2]) - 1


def _same_time(row: _PredictionRow, candidates: Sequence[tuple[str, float]]) -> list[str]:
    time: Any = row.target_item.timestamp
    if time is not None and abs(time) < MILLISECONDS_FROM:
        time *= 1000
    return [item for item, when in candidates if when == time]
