"""From responses and keys to grades: a pure function, whoever calls it and whenever."""

from __future__ import annotations

from collections.abc import Iterable

from memeval.evaluation.plan import Exam
from memeval.judging.base import Case, Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade
from memeval.records.response import Response


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


def grade_items(exam: Exam, items: Iterable[ItemKey], responses: Iterable[Response], judge: Judge) -> list[Grade]:
    """Grade the items that have all their responses.

    Args:
        exam: the benchmark with its data.
        items: the planned items, in plan order.
        responses: all responses of the run.
        judge: who is asked for verdicts.

    Returns:
        One grade an item, in plan order.
    """
    last = last_attempts(responses)
    graders = {category.name: category.grader for category in exam.benchmark.categories}
    return [
        graders[item.category].grade(
            item, exam.scenarios[item.scenario_id], [last[question] for question in item.question_ids], judge
        )
        for item in items
        if is_done(item, last)
    ]


def cases_of(exam: Exam, items: Iterable[ItemKey], responses: Iterable[Response]) -> list[Case]:
    """Return what :func:`grade_items` will bring before a judge, in plan order."""
    last = last_attempts(responses)
    graders = {category.name: category.grader for category in exam.benchmark.categories}
    return [
        case
        for item in items
        if is_done(item, last)
        for case in graders[item.category].cases(
            item, exam.scenarios[item.scenario_id], [last[question] for question in item.question_ids]
        )
    ]
