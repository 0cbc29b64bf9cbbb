"""Reads and writes the report files of the authors' test program.

A report holds either the searches or the conversations. Field names: tenurehq/precisionMemBench, ``test-results``. Code
reads it, because a row's id is made of two fields, the second of which tells which list counts, and because cases that
are never sent are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from memeval.archive.runs import RunFolder
from memeval.benchmarks.formats.answers import UNKNOWN_VERSION, ImportedAnswer, ImportedAnswers, slug_of
from memeval.benchmarks.formats.reading import (
    NO_ANSWER,
    Amount,
    AnswerFile,
    Count,
    ForeignRecord,
    Id,
    Name,
    fitted,
    once,
    placed,
)
from memeval.benchmarks.formats.writing import require_session, write_json
from memeval.benchmarks.precisionmembench.dataset import PrecisionDataset, turn_id
from memeval.benchmarks.precisionmembench.formats import REPORT
from memeval.benchmarks.precisionmembench.reports import (
    Asked,
    ReportRow,
    case_row,
    rounded,
    row,
    searches,
    totals,
    turns,
)
from memeval.benchmarks.session import BenchmarkSession
from memeval.grading.base import last_attempts
from memeval.grading.recall import Hits, TextIndex
from memeval.records.errors import BadInput
from memeval.records.imported import Imported
from memeval.records.response import Response

SECOND = "session-"
"""Prefix of the file with the conversations."""


class _CaseRow(ForeignRecord):
    """The result of one case, or of one turn of a conversation."""

    case_id: Id = Field(alias="caseId")
    number: Count | None = Field(default=None, alias="turnIndex")
    of_case: list[Id] | None = Field(default=None, alias="relevantBeliefs", max_length=1000)
    of_turn: list[Id] | None = Field(default=None, alias="retrievedBeliefIds", max_length=1000)
    milliseconds: Amount | None = Field(default=None, alias="retrievalLatencyMs")


class _Provenance(ForeignRecord):
    """The origin of the results."""

    version: Name | None = None
    date: Name | None = Field(default=None, alias="runDate")


class _Report(ForeignRecord):
    provider: Name
    cases: list[Any] = Field(min_length=1, max_length=1000)
    provenance: _Provenance = _Provenance()


def read(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    """Read a report; see :data:`memeval.exchange.formats.Reader`. Cases that are never sent are left out."""
    report = fitted(_Report, file.json(), file.path)
    answers = [_answer(value, where) for where, value in placed(report.cases, f"{file.path}: cases")]
    once((str(file.path), answer.question_id) for answer in answers)
    unsent = {case.case_id for case in dataset_of(benchmark_session).fixtures.cases if not case.is_sent}
    name = file.system or report.provider
    return ImportedAnswers(
        system=name,
        version=report.provenance.version or UNKNOWN_VERSION,
        slug=slug_of(name, REPORT.name),
        answers=tuple(answer for answer in answers if answer.question_id not in unsent),
        imported=Imported(
            format=REPORT.name,
            file=file.path.name,
            digest=file.digest,
            made_by="the test program of precisionMemBench",
            made_at=report.provenance.date,
        ),
    )


def _answer(value: Any, where: str) -> ImportedAnswer:
    case = fitted(_CaseRow, value, where)
    name, field = ("of_case", "relevantBeliefs") if case.number is None else ("of_turn", "retrievedBeliefIds")
    names = case.of_case if case.number is None else case.of_turn
    if name not in case.model_fields_set:
        raise BadInput(f"'{field}' is missing.", where=where, remedy="Name a report of precisionMemBench.")
    return ImportedAnswer(
        case.case_id if case.number is None else turn_id(case.case_id, case.number),
        "",
        sources=None if names is None else tuple(names),
        error=NO_ANSWER if names is None else None,
        seconds=None if case.milliseconds is None else case.milliseconds / 1000,
    )


def write(run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
    """Write the report of the searches, and next to it that of the conversations: ``session-<name>``.

    Failed and missing searches are omitted. Cases that are never sent have an empty result and no time.

    Raises:
        BadInput: the benchmark's data is not available.
    """
    session = require_session(run, benchmark_session)
    dataset, responses = dataset_of(session), last_attempts(run.responses())
    unsent = {case.case_id for case in dataset.fixtures.cases if not case.is_sent}
    files = []
    for path, every in ((to, searches(dataset)), (to.with_name(SECOND + to.name), turns(dataset))):
        rows = list(_rows(dataset, every, responses, unsent))
        names = {ordinal: name for name, ordinal in dataset.ordinals(every[0].scenario_id).items()}
        cases = [case_row(each, names) for each in rows]
        files.append(
            write_json(path, {"provider": run.run.system.slug, "retrieval": totals(rows), "cases": cases}, indent=2)
        )
    return files


def _rows(
    dataset: PrecisionDataset, every: Sequence[Asked], responses: Mapping[str, Response], unsent: set[str]
) -> Iterator[ReportRow]:
    index = TextIndex(dataset.scenario(every[0].scenario_id))
    for asked in every:
        response = responses.get(asked.item_id)
        if response is None or response.outcome.is_error:
            if asked.item_id in unsent:
                yield row(asked, ())
            continue
        hits = Hits(index, index.asked[asked.item_id], asked.key, response.items or ())
        timings = response.timings
        seconds = timings.ask_seconds if timings.search_seconds is None else timings.search_seconds
        milliseconds = None if seconds is None else rounded(1000 * seconds, 2)
        yield row(asked, (name for name in hits.names if name in index.texts), milliseconds)


def dataset_of(benchmark_session: BenchmarkSession) -> PrecisionDataset:
    """Return the data of a session of this benchmark."""
    dataset = benchmark_session.dataset
    if not isinstance(dataset, PrecisionDataset):
        raise TypeError(f"{benchmark_session.benchmark.info.id} is another benchmark")
    return dataset
