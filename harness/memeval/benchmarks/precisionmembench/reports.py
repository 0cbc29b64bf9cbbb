"""The reports of the authors' test program: one file of the searches, one of the conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from math import ceil, fsum
from typing import Any

from memeval.benchmarks.precisionmembench.dataset import SEARCHES, TURNS, PrecisionDataset
from memeval.benchmarks.precisionmembench.keys import BeliefSearchKey
from memeval.benchmarks.precisionmembench.rules import Result, completed

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
    """One search of a report, with its key."""

    item_id: str
    """The item; the name of the case if it is not sent to systems."""
    scenario_id: str
    category: str
    """Its category in the report."""
    key: BeliefSearchKey
    head: Mapping[str, Any]
    """The fields of its row that do not depend on the result."""
    questions: tuple[str, ...]
    """The open questions shown with the result, by the authors' id."""
    wanted: tuple[frozenset[str], frozenset[str]]
    """The pinned beliefs and the open questions that the case expects."""


@dataclass(frozen=True)
class ReportRow:
    """The result of one search in a report."""

    asked: Asked
    result: Result
    milliseconds: float | None = None
    """Time of the search; ``None`` if it was not measured."""

    @property
    def kind(self) -> str | None:
        """The kind of pass; ``None`` if the authors' code does not accept the result."""
        if not self.result.passed:
            return None
        if self.result.precision:
            return "activeRetrieval"
        return "structural" if self.asked.category in STRUCTURAL else "triviallyEmpty"


def searches(dataset: PrecisionDataset) -> list[Asked]:
    """Return all cases of the report of the searches, including those that are not sent."""
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
    """Return all turns of the report of the conversations."""
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
    """Return one element of the field ``cases`` of a report.

    Args:
        names: the authors' id of each belief, by ordinal.
    """
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
