"""MemoryCD's predictions: one JSON object a line, matched to items by user and product.

Field names: AgentMemoryWorld/MemoryCD, ``eval_core.py``. A file is of one domain; those of several can be put one
behind another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from pydantic import Field

from memeval.benchmarks.memorycd.dataset import MemoryCDDataset
from memeval.benchmarks.memorycd.users import MILLISECONDS_FROM
from memeval.evaluation.exchange.answers import UNTOLD, ImportedAnswer, ImportedAnswers, slug_of
from memeval.evaluation.exchange.memorycd_names import RunName
from memeval.evaluation.exchange.reading import AnswerFile, Count, ForeignRecord, Id, Name, Text, fitted, refuse
from memeval.evaluation.plan import BenchmarkSession
from memeval.grading.memorycd_parsing import HIGHEST, LOWEST
from memeval.keys import ItemKey, MemoryCDTask
from memeval.records.base import Share
from memeval.records.imported import Claim, Imported

FORMAT = "memorycd"
FAILED = "llm_error"
"""How an answer is marked that a failure stands in place of; the released code knows no such mark."""


class _Target(ForeignRecord):
    """What was asked about."""

    parent_asin: Id | None = None
    timestamp: float | None = None
    candidate_asins: list[Id] | None = Field(default=None, max_length=100_000)


class _Metrics(ForeignRecord):
    """What the released code measured, as far as it is the headline of a task."""

    error: float | None = Field(default=None, ge=0, le=HIGHEST - LOWEST)
    rouge: Share | None = Field(default=None, alias="rougeL_f")
    ndcg: float | None = Field(default=None, alias="ndcg@5", ge=0, le=2)

    @property
    def worth(self) -> float | None:
        """The credit it comes to; ``None`` where it is not told."""
        if self.error is not None:
            return 1 - self.error / (HIGHEST - LOWEST)
        return self.rouge if self.ndcg is None else min(1.0, self.ndcg)


class _PredictionRow(ForeignRecord):
    """One prediction."""

    user_id: Id
    target_item: _Target
    llm_response: Text
    ground_truth: float | Text
    metrics: _Metrics | None = None
    parse_state: Name | None = None
    error: Text | None = None

    @property
    def pair(self) -> tuple[str, str]:
        """The user and the product."""
        return self.user_id, self.target_item.parent_asin or ""

    @property
    def failure(self) -> str | None:
        """Why there is no answer, where the file says that there is none."""
        return None if self.parse_state != FAILED else self.error or "failed, without a word"


class _Results(ForeignRecord):
    """What a summary says of how the predictions were made."""

    method: Name | None = None
    llm_model: Name | None = None
    num_test: Count | None = None
    max_memory_items: Count | None = None


class _Summary(ForeignRecord):
    """The file beside the predictions."""

    timestamp: Name | None = None
    results: _Results = _Results()


def read(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    """Read predictions; see :data:`memeval.evaluation.exchange.formats.Reader`."""
    data = benchmark_session.dataset
    if not isinstance(data, MemoryCDDataset):
        refuse("this is no data of MemoryCD's.", file.path)
    name = RunName.parsed(file.path.stem.removeprefix("predictions_"))
    if name is not None and name.protocol != benchmark_session.protocol:
        refuse(
            f"its name says protocol '{name.protocol}', but it would be graded by '{benchmark_session.protocol}'.",
            file.path,
            f"Grade it with --protocol {name.protocol}.",
        )
    rows = [(where, fitted(_PredictionRow, value, where)) for where, value in file.rows()]
    for where, row in rows:
        _check(row, data.task, where)
    summary = _summary(file)
    told = _told(name, summary)
    system = file.system or " ".join(filter(None, (told.method, told.llm_model))) or file.path.stem
    limits = {"num_test": told.num_test, "max_memory_items": told.max_memory_items}
    return ImportedAnswers(
        system=system,
        version=UNTOLD,
        slug=slug_of(system, FORMAT),
        answers=tuple(
            ImportedAnswer(question_id, "" if row.failure else row.llm_response, error=row.failure)
            for question_id, row in _matched(rows, data, None if name is None else name.domain)
        ),
        imported=Imported(
            format=FORMAT,
            file=file.path.name,
            digest=file.digest,
            made_by="MemoryCD's runner",
            made_at=summary.timestamp,
            reader=told.llm_model,
            limits={name: value for name, value in limits.items() if value is not None},
            claims=_claims([row for _where, row in rows]),
        ),
    )


def _check(row: _PredictionRow, task: MemoryCDTask, where: str) -> None:
    """Refuse a row of another task, as far as rows show theirs."""
    fits = {
        MemoryCDTask.RATING: not isinstance(row.ground_truth, str),
        MemoryCDTask.RANKING: row.target_item.candidate_asins is not None,
    }
    if not fits.get(task, isinstance(row.ground_truth, str) and row.target_item.candidate_asins is None):
        refuse(f"this is no prediction of a {task.value}.", where, "Name the --protocol that it is of.")


def _summary(file: AnswerFile) -> _Summary:
    """Return what the summary beside a file says; nothing where there is none."""
    stem = file.path.stem.removeprefix("predictions_")
    name = f"summary_{stem}.json"
    told = file.beside(name) if stem != file.path.stem else None
    return _Summary() if told is None else fitted(_Summary, told, file.path.with_name(name))


def _told(name: RunName | None, summary: _Summary) -> _Results:
    """Return how the predictions were made: by the summary, else by the name."""
    if name is None or summary.results != _Results():
        return summary.results
    return _Results(method=name.method, llm_model=name.model, num_test=name.tests, max_memory_items=name.memory)


def _claims(rows: Sequence[_PredictionRow]) -> tuple[Claim, ...]:
    """Return what the measures of a file come to; none where not every row has one."""
    worths = [row.metrics.worth for row in rows if row.metrics is not None]
    known = [worth for worth in worths if worth is not None]
    return (Claim(score=sum(known) / len(known), items=len(known)),) if known and len(known) == len(rows) else ()


def _matched(
    rows: Sequence[tuple[str, _PredictionRow]], data: MemoryCDDataset, domain: str | None
) -> Iterator[tuple[str, _PredictionRow]]:
    """Yield the rows, each with the question that it is about.

    A user may have reviewed a product twice: then it is told by the order, or, where not all are there, by the time.
    What is no question gets an id that no question has.

    Args:
        rows: the rows, each with where it stands.
        data: the benchmark's data.
        domain: the domain that all of them are of; ``None`` where that is not told.
    """
    known = _asked(data, domain)
    by_pair: dict[tuple[str, str], list[tuple[str, _PredictionRow]]] = defaultdict(list)
    for where, row in rows:
        by_pair[row.pair].append((where, row))
    for pair, told in by_pair.items():
        here = known.get(pair, [])
        if not here:
            yield from ((":".join(("?", *pair)), row) for _where, row in told)
            continue
        if len(told) > len(here):
            where, row = told[len(here)]
            refuse(f"the user '{row.user_id}' and this product are there a second time.", where, "Leave one of them.")
        if len(told) == len(here):
            yield from zip((item for item, _time in here), (row for _where, row in told), strict=True)
            continue
        seen: set[str] = set()
        for where, row in told:
            (item,) = fitting if len(fitting := _at(row, here)) == 1 else (None,)
            if item is None or item in seen:
                refuse(
                    f"the user reviewed this product {len(here)} times, and which of them this is cannot be told.",
                    where,
                    "Keep all predictions of a user together.",
                )
            seen.add(item)
            yield item, row


def _asked(data: MemoryCDDataset, domain: str | None) -> dict[tuple[str, str], list[tuple[str, float]]]:
    """Return the items, each with its time, by user and product."""
    found: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
    keys = (key for key in data.keys() if domain in (None, key.category))  # noqa: SIM118 - no dictionary
    for scenario_id, own in groupby(keys, key=lambda key: key.scenario_id):
        tests = data.parted(scenario_id).tests
        for key in own:
            test = tests[place_of(key)]
            found[key.cluster, test.item].append((key.item_id, test.time))
    return found


def place_of(key: ItemKey) -> int:
    """Return which of a user's tests an item is, counted from 0; its id ends with that number, counted from 1."""
    return int(key.item_id.rpartition(":")[2]) - 1


def _at(row: _PredictionRow, here: Sequence[tuple[str, float]]) -> list[str]:
    """Return those of some items that have a row's time."""
    time: Any = row.target_item.timestamp
    if time is not None and abs(time) < MILLISECONDS_FROM:
        time *= 1000
    return [item for item, when in here if when == time]
