"""From responses to the row of an item: its one response, its state, and its grade."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Outcome, Response

_STATES = {
    Outcome.EMPTY: GradeState.EMPTY,
    Outcome.TIMEOUT: GradeState.TIMEOUT,
    Outcome.NOT_READY: GradeState.NOT_READY,
    Outcome.ADAPTER_ERROR: GradeState.ADAPTER_ERROR,
    Outcome.READER_ERROR: GradeState.READER_ERROR,
}

_REASONS = {
    Outcome.EMPTY: "The answer is blank.",
    Outcome.TIMEOUT: "The system took longer than the limit.",
    Outcome.NOT_READY: "The system did not finish indexing in time.",
    Outcome.ADAPTER_ERROR: "The system failed.",
    Outcome.READER_ERROR: "The reader failed.",
}


def first_failure(responses: Sequence[Response]) -> tuple[GradeState, str] | None:
    """Return the state and reason for the first outcome other than ``ok``; ``None`` if all are ``ok``."""
    for response in responses:
        if response.outcome is not Outcome.OK:
            return _STATES[response.outcome], _REASONS[response.outcome]
    return None


def last_attempts(responses: Iterable[Response]) -> dict[str, Response]:
    """Return the last attempt of each question, by question id."""
    last: dict[str, Response] = {}
    for response in responses:
        previous = last.get(response.question_id)
        if previous is None or response.attempt > previous.attempt:
            last[response.question_id] = response
    return last


def only(item: ItemKey, responses: Sequence[Response], grader: str) -> Response:
    """Return an item's one response. Raises ``ValueError`` if the item is not one question with one response."""
    if len(item.question_ids) != 1 or len(responses) != 1:
        raise ValueError(f"{item.item_id}: {grader} grades one response to one question, not {len(responses)}")
    return responses[0]


def row(item: ItemKey, grader: str, state: GradeState, **rest: object) -> Grade:
    return Grade(
        item_id=item.item_id,
        category=item.category,
        cluster=item.cluster,
        slices=item.slices,
        grader=grader,
        state=state,
        **rest,  # type: ignore[arg-type]
    )
