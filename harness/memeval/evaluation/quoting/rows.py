"""Where in the rows of a run there is text from outside: each row with that text changed, and nothing else of it."""

from __future__ import annotations

from typing import Protocol

from pydantic import JsonValue

from memeval.records.call import Call, ModelRequest
from memeval.records.grade import Grade
from memeval.records.log import LogLine
from memeval.records.response import Context, Response
from memeval.records.traffic import Traffic


class Change(Protocol):
    """Gives the text that takes the place of another."""

    def __call__(self, text: str, *, keep: frozenset[str] = frozenset()) -> str:
        """Return the text for a text; ``keep`` are strings that stay in JSON as they are."""


def response_with(row: Response, change: Change) -> Response:
    """Return a response with its answer, its error and what it says of retrieved items changed."""
    items = row.items and tuple(
        item.model_copy(
            update={"text": _maybe(item.text, change), "source_ids": tuple(map(change, item.source_ids))},
        )
        for item in row.items
    )
    return row.model_copy(update={"answer": change(row.answer), "error": _maybe(row.error, change), "items": items})


def context_with(row: Context, change: Change) -> Context:
    """Return a context with the text that is no turn's changed."""
    parts = tuple(part.model_copy(update={"text": _maybe(part.text, change)}) for part in row.parts)
    return row.model_copy(update={"parts": parts})


def grade_with(row: Grade, change: Change) -> Grade:
    """Return a grade with its reason changed."""
    return row.model_copy(update={"reason": _maybe(row.reason, change)})


def call_with(row: Call, change: Change, request: ModelRequest | None = None) -> Call:
    """Return a call with what was asked, replied and said of a failure changed; names of models stay.

    Args:
        row: the call.
        change: see above.
        request: what was asked; ``None`` for that of the call, changed.
    """
    if request is None:
        body = {name: value if name == "model" else _inside(value, change) for name, value in row.request.body.items()}
        request = ModelRequest(endpoint=row.request.endpoint, api=row.request.api, body=body)
    keep = frozenset(name for name in (row.request.model, row.model, row.fingerprint) if name)
    reply = None if row.reply is None else change(row.reply, keep=keep)
    return row.model_copy(update={"request": request, "reply": reply, "error": _maybe(row.error, change)})


def line_with(row: LogLine, change: Change) -> LogLine:
    """Return a line of a log with its detail changed."""
    return row.model_copy(update={"detail": _maybe(row.detail, change)})


def traffic_with(row: Traffic, change: Change) -> Traffic:
    """Return an exchange with its path and what is said of a failure changed."""
    return row.model_copy(update={"path": change(row.path), "error": _maybe(row.error, change)})


def _maybe(text: str | None, change: Change) -> str | None:
    return None if text is None else change(text)


def _inside(value: JsonValue, change: Change) -> JsonValue:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_inside(each, change) for each in value]
    if isinstance(value, dict):
        return {change(name): _inside(each, change) for name, each in value.items()}
    return value
