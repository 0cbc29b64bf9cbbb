"""The reports of the authors' test program, read and written: one file of the searches, one of the conversations.

Field names: tenurehq/precisionMemBench, ``test-results``. Code reads them, because a row's id is made of two fields,
the second of which tells which list counts, and because cases that are never sent are left out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from math import ceil, fsum
from pathlib import Path
from typing import Any

from pydantic import Field

from memeval.archive.runs import RunFolder
from memeval.benchmarks.formats.reading import (
    NO_ANSWER,
    Amount,
    AnswerFile,
    Count,
    ForeignRecord,
    Id,
    ImportedAnswer,
    ImportedAnswers,
    Name,
    fitted,
    imported_answers,
    once,
    placed,
)
from memeval.benchmarks.formats.writing import require_session, write_json
from memeval.benchmarks.precisionmembench.dataset import SEARCHES, TURNS, PrecisionDataset, turn_id
from memeval.benchmarks.precisionmembench.keys import BeliefSearchKey, Result, completed
from memeval.benchmarks.session import BenchmarkSession
from memeval.grading.base import last_attempts
from memeval.grading.recall import Hits, TextIndex
from memeval.records.errors import BadInput
from memeval.records.response import Response

CONVERSATIONS = "Session-level noise isolation"
"""The only category in the report of the conversations."""

STRUCTURAL = frozenset(
    {
        "Budget eviction and capacity",
        "Cross-user isolation",
        "Persona prelude content",
        "Ranking stability",
        "Scope disambiguation",
        "Supersession chain exclusion",
        "Type routing and open questions",
    }
)
"""Categories in which a pass without a hit is called structural; in others it is called trivially empty."""


@dataclass(frozen=True)
class Asked:
    item_id: str
    scenario_id: str
    category: str
    key: BeliefSearchKey
    head: Mapping[str, Any]
    questions: tuple[str, ...]
    wanted: tuple[frozenset[str], frozenset[str]]
    """The pinned beliefs and the open questions that the case expects."""


@dataclass(frozen=True)
class ReportRow:
    asked: Asked
    result: Result
    milliseconds: float | None = None

    @property
    def kind(self) -> str | None:
        if not self.result.passed:
            return None
        if self.result.precision:
            return "activeRetrieval"
        return "structural" if self.asked.category in STRUCTURAL else "triviallyEmpty"


def searches(dataset: PrecisionDataset) -> list[Asked]:
    return [
        Asked(
            item_id=case.case_id,
            scenario_id=SEARCHES,
            category=case.category,
            key=dataset.store.key(case.expect, case.scope, case.user, case.limit),
            head={"caseId": case.case_id, "category": case.category, "description": case.description},
            questions=dataset.store.questions(case.user, case.scope),
            wanted=(frozenset(case.expect.pinned.include), frozenset(case.expect.questions.include)),
        )
        for case in dataset.fixtures.cases
    ]


def turns(dataset: PrecisionDataset) -> list[Asked]:
    return [
        Asked(
            item_id=name,
            scenario_id=TURNS,
            category=CONVERSATIONS,
            key=store.turn_key(turn),
            head={
                "caseId": name.rpartition(":")[0],
                "category": CONVERSATIONS,
                "turnIndex": turn.number,
                "label": turn.label,
            },
            questions=(),
            wanted=(frozenset(), frozenset()),
        )
        for name, turn, store in dataset.turns()
    ]


def row(asked: Asked, returned: Iterable[str], milliseconds: float | None = None) -> ReportRow:
    """Return the row of a search.

    Args:
        returned: the returned beliefs, by ordinal of the scenario.
        milliseconds: time of the search.
    """
    return ReportRow(asked, Result(asked.key, completed(asked.key, returned)), milliseconds)


def totals(rows: Sequence[ReportRow]) -> dict[str, Any]:
    """Return the field ``retrieval`` of a report. Means leave out absent values and are rounded to 4 decimals."""
    times = sorted(each.milliseconds for each in rows if each.milliseconds is not None)
    kinds = [each.kind for each in rows]
    passed = sum(kind is not None for kind in kinds)
    of_turns = any(each.result.key.of_turn for each in rows)
    cases = {each.asked.head["caseId"] for each in rows}
    return {
        "meanLatencyMs": rounded(fsum(times) / len(times), 2) if times else None,
        "p50LatencyMs": _percentile(times, 0.5),
        "p95LatencyMs": _percentile(times, 0.95),
        "caseCount": len(cases),
        **_means(rows),
        "totalPassed": passed,
        "totalCases": len(rows),
        "passRate": rounded(passed / len(rows)) if rows else None,
        "activeRetrievalPasses": kinds.count("activeRetrieval"),
        "passTypes": {kind: kinds.count(kind) for kind in ("activeRetrieval", "structural", "triviallyEmpty")},
        "categories": [
            _category(name, [each for each in rows if each.asked.category == name])
            for name, _ in Counter(each.asked.category for each in rows).most_common()
        ],
        **({"turnCount": len(rows)} if of_turns else {}),
    }


def case_row(row: ReportRow, names: Mapping[str, str]) -> dict[str, Any]:
    """Return one element of the field ``cases`` of a report. ``names``: the authors' id of each belief, by ordinal."""
    result, asked = row.result, row.asked
    pinned, relevant = ([names[each] for each in part] for part in (result.key.pinned, result.relevant))
    measured = {"retrievalPrecision": result.precision, "retrievalRecall": result.recall}
    judged = {"passed": result.passed, "failures": failures(row, names), "retrievalLatencyMs": row.milliseconds}
    if result.key.of_turn:
        noise = [names[each] for each in result.surfaced]
        lists = {"retrievedBeliefIds": relevant, "pinnedBeliefIds": pinned, "noiseBeliefIds": noise}
        return {**asked.head, **lists, "driftScore": result.drift or 0.0, **judged, **measured}
    lists = {"pinnedBeliefs": pinned, "relevantBeliefs": relevant, "retrievedQuestions": list(asked.questions)}
    wanted_pinned, wanted_questions = asked.wanted
    shares = {
        "pinnedCoverage": _share(wanted_pinned.intersection(pinned), wanted_pinned),
        "questionPrecision": _share(wanted_questions.intersection(asked.questions), asked.questions)
        if wanted_questions
        else None,
        "questionRecall": _share(wanted_questions.intersection(asked.questions), wanted_questions),
    }
    return {**asked.head, **lists, **measured, **shares, **judged}


def failures(row: ReportRow, names: Mapping[str, str]) -> list[str]:
    """Return the sentences of the authors' code about a result that it does not accept."""
    key, relevant = row.result.key, row.result.relevant
    shown = {*key.pinned, *relevant}
    missing = [each for each in key.expected if each not in shown]
    unexpected = [each for each in relevant if each not in key.expected] if key.exact else []
    forbidden = [each for each in key.forbidden if each in shown and each not in key.noise]
    where = f"turn {row.asked.head['turnIndex']}: " if key.of_turn else ""
    extra = "unexpected relevant belief" if key.of_turn else "unexpected belief in relevantBeliefs"
    return [
        *(f"{where}forbidden belief surfaced: {names[each]}" for each in forbidden),
        *(f"{where}{extra}: {names[each]}" for each in unexpected),
        *(f"{where}missing expected belief: {names[each]}" for each in missing),
        *(f"{where}noise belief surfaced: {names[each]}" for each in row.result.surfaced),
    ]


def rounded(value: float, digits: int = 4) -> float:
    """Return a value rounded half up, as ``Math.round`` does."""
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def _category(name: str, rows: Sequence[ReportRow]) -> dict[str, Any]:
    passed = sum(each.result.passed for each in rows)
    counts = {"category": name, "caseCount": len(rows), "passed": passed, "failed": len(rows) - passed}
    return counts | _means(rows)


def _means(rows: Sequence[ReportRow]) -> dict[str, float | None]:
    return {
        "meanPrecision": _mean(each.result.precision for each in rows),
        "meanRecall": _mean(each.result.recall for each in rows),
    }


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return rounded(fsum(known) / len(known)) if known else None


def _share(part: Iterable[str], whole: Iterable[str]) -> float | None:
    size = len(list(whole))
    return len(list(part)) / size if size else None


def _percentile(times: Sequence[float], share: float) -> float | None:
    """Return the value of rank ``ceil(share · n)``."""
    return times[ceil(share * len(times)) - 1] if times else None


FORMAT = "precisionmembench"

SECOND = "session-"


class _CaseRow(ForeignRecord):
    case_id: Id = Field(alias="caseId")
    number: Count | None = Field(default=None, alias="turnIndex")
    of_case: list[Id] | None = Field(default=None, alias="relevantBeliefs", max_length=1000)
    of_turn: list[Id] | None = Field(default=None, alias="retrievedBeliefIds", max_length=1000)
    milliseconds: Amount | None = Field(default=None, alias="retrievalLatencyMs")


class _Provenance(ForeignRecord):
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
    return imported_answers(
        file,
        FORMAT,
        file.system or report.provider,
        (answer for answer in answers if answer.question_id not in unsent),
        version=report.provenance.version,
        made_by="the test program of precisionMemBench",
        made_at=report.provenance.date,
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

    Failed and missing searches are omitted. Cases that are never sent have an empty result and no time. Raises
    ``BadInput``: the benchmark's data is not available.
    """
    session = require_session(run, benchmark_session)
    dataset, responses = dataset_of(session), last_attempts(run.responses())
    unsent = {case.case_id for case in dataset.fixtures.cases if not case.is_sent}
    files = []
    for path, every in ((to, searches(dataset)), (to.with_name(SECOND + to.name), turns(dataset))):
        rows = list(_rows(dataset, every, responses, unsent))
        names = {ordinal: name for name, ordinal in dataset.ordinals(every[0].scenario_id).items()}
        cases = [case_row(each, names) for each in rows]
        files.append(write_json(path, {"provider": run.run.system.slug, "retrieval": totals(rows), "cases": cases}))
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
    dataset = benchmark_session.dataset
    if not isinstance(dataset, PrecisionDataset):
        raise TypeError(f"{benchmark_session.benchmark.info.id} is another benchmark")
    return dataset
