"""Shared code of the graders of one question with one response."""

from __future__ import annotations

from collections.abc import Sequence

from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response


def only(item: ItemKey, responses: Sequence[Response], grader: str) -> Response:
    """Return an item's one response.

    Raises:
        ValueError: the item is not one question with one response.
    """
    if len(item.question_ids) != 1 or len(responses) != 1:
        raise ValueError(f"{item.item_id}: {grader} grades one response to one question, not {len(responses)}")
    return responses[0]


def row(item: ItemKey, grader: str, state: GradeState, **rest: object) -> Grade:
    """Return an item's grade; the fields of the item come from its key."""
    return Grade(
        item_id=item.item_id,
        category=item.category,
        cluster=item.cluster,
        slices=item.slices,
        grader=grader,
        state=state,
        **rest,  # type: ignore[arg-type]
    )
