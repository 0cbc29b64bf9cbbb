"""From the outcomes of an item's questions to the item's state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memeval.records.grade import GradeState
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
