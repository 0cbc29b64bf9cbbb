"""From responses and keys to grades: a pure function, whoever calls it and whenever."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from memeval.evaluation.plan import BenchmarkSession
from memeval.judging.base import Case, Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade
from memeval.records.response import Response
from memeval.records.scenario import Scenario

CORRECTED = "corrected"
"""The rule under which errata count: wrong keys replaced, contested items left out."""


def last_attempts(responses: Iterable[Response]) -> dict[str, Response]:
    """Return the response that counts for each question: the last attempt at it."""
    last: dict[str, Response] = {}
    for response in responses:
        held = last.get(response.question_id)
        if held is None or response.attempt > held.attempt:
            last[response.question_id] = response
    return last


def is_done(item: ItemKey, last: dict[str, Response]) -> bool:
    """Return whether every question of an item has a response."""
    return all(question_id in last for question_id in item.question_ids)


def grade_items(
    benchmark_session: BenchmarkSession, items: Iterable[ItemKey], responses: Iterable[Response], judge: Judge
) -> list[Grade]:
    """Grade the items that have all their responses.

    Args:
        benchmark_session: the benchmark with its data.
        items: the planned items, in plan order.
        responses: all responses of the run.
        judge: who is asked for verdicts.

    Returns:
        One grade an item, in plan order.
    """
    last = last_attempts(responses)
    return [
        _graded(benchmark_session, item, scenario, [last[question] for question in item.question_ids], judge)
        for item, scenario in _with_scenarios(benchmark_session, (item for item in items if is_done(item, last)))
    ]


def _graded(
    benchmark_session: BenchmarkSession, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge
) -> Grade:
    """Grade an item, and once more by the corrected key where the errata name it."""
    grader, corrections = benchmark_session.graders[item.category], benchmark_session.corrections()
    grade = grader.grade(item, scenario, responses, judge)
    if item.item_id not in corrections:
        return grade
    corrected = corrections[item.item_id]
    worth = None
    if corrected is not None:
        other = grader.grade(corrected, scenario, responses, judge)
        worth = other.credit if other.credit is not None else other.verdict is True
    return grade.model_copy(update={"alternates": {**grade.alternates, CORRECTED: worth}})


def _with_scenarios(
    benchmark_session: BenchmarkSession, items: Iterable[ItemKey]
) -> Iterator[tuple[ItemKey, Scenario]]:
    """Yield items with their scenarios, and open a scenario once for items in a row that stand in it."""
    held: Scenario | None = None
    for item in items:
        if held is None or held.scenario_id != item.scenario_id:
            held = benchmark_session.scenarios[item.scenario_id]
        yield item, held


def cases_of(
    benchmark_session: BenchmarkSession, items: Iterable[ItemKey], responses: Iterable[Response]
) -> list[Case]:
    """Return what :func:`grade_items` will bring before a judge, in plan order.

    The histories, which no model judge is shown, are left out: all cases are in memory at once.
    """
    last = last_attempts(responses)
    corrections = benchmark_session.corrections()
    return [
        replace(case, scenario=case.scenario.only(frozenset()))
        for item, scenario in _with_scenarios(benchmark_session, (item for item in items if is_done(item, last)))
        for key in (item, corrections.get(item.item_id))
        if key is not None
        for case in benchmark_session.graders[item.category].cases(
            key, scenario, [last[question] for question in item.question_ids]
        )
    ]
