"""The rows of a run, and their copies with other text; all other fields stay unchanged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Protocol, TypeVar

from pydantic import JsonValue

from memeval.archive.runs import REQUIRED
from memeval.records.base import Stored
from memeval.records.call import Call, ModelRequest, Prompt, Traffic
from memeval.records.grade import Grade
from memeval.records.journal import LogLine
from memeval.records.response import Context, Response, RetrievedItem

T = TypeVar("T", bound=Stored)


@dataclass(frozen=True)
class Rows:
    """The rows of a run, in sealed order."""

    responses: list[Response]
    contexts: list[Context]
    grades: list[Grade]
    judgments: list[Call] = field(default_factory=list)
    """The judge's calls by key, with failed calls."""
    calls: list[Call] = field(default_factory=list)
    """The reader's and the system's calls."""
    prompts: list[Prompt] = field(default_factory=list)
    """The prompts of judge and reader."""
    traffic: list[Traffic] = field(default_factory=list)
    """The exchanges with hosts, by scenario, in order of completion."""

    def files(self) -> dict[str, Sequence[Stored]]:
        """Return the rows by file name; files for network calls are left out if empty."""
        files = {f"{each.name}.jsonl": getattr(self, each.name) for each in fields(self)}
        return {name: rows for name, rows in files.items() if rows or name in REQUIRED}


class Change(Protocol):
    def __call__(self, text: str, *, keep: frozenset[str] = frozenset()) -> str:
        """Return the replacement; ``keep`` are JSON strings that stay unchanged."""


def response_with(row: Response, change: Change) -> Response:
    items = row.items and tuple(_item_with(item, change) for item in row.items)
    answer, error = change(row.answer), _optional(row.error, change)
    if answer == row.answer and error == row.error and items == row.items:
        return row
    return row.model_copy(update={"answer": answer, "error": error, "items": items})


def _item_with(item: RetrievedItem, change: Change) -> RetrievedItem:
    text, source_ids = _optional(item.text, change), tuple(map(change, item.source_ids))
    if text == item.text and source_ids == item.source_ids:  # most items name a turn, and a copy takes longest
        return item
    return item.model_copy(update={"text": text, "source_ids": source_ids})


def context_with(row: Context, change: Change) -> Context:
    """Return a context with changed text, except turns."""
    parts = tuple(
        part if part.text is None else part.model_copy(update={"text": change(part.text)}) for part in row.parts
    )
    return row.model_copy(update={"parts": parts})


def text_changed(*names: str) -> Callable[[T, Change], T]:
    """Return a function that copies a row with the text of some fields changed."""
    return lambda row, change: row.model_copy(update={name: _optional(getattr(row, name), change) for name in names})


grade_with: Callable[[Grade, Change], Grade] = text_changed("reason")
line_with: Callable[[LogLine, Change], LogLine] = text_changed("detail")
traffic_with: Callable[[Traffic, Change], Traffic] = text_changed("path", "error")


def call_with(row: Call, change: Change, request: ModelRequest | None = None) -> Call:
    """Return a call with changed request, reply and error; model names and the end of the reply stay.

    ``request``: the new request; ``None`` changes the call's.
    """
    if request is None:
        body = {name: value if name == "model" else _nested(value, change) for name, value in row.request.body.items()}
        request = ModelRequest(endpoint=row.request.endpoint, api=row.request.api, body=body)
    keep = frozenset(name for name in (row.request.model, row.model, row.fingerprint, row.ended_early, "stop") if name)
    reply = None if row.reply is None else change(row.reply, keep=keep)
    return row.model_copy(update={"request": request, "reply": reply, "error": _optional(row.error, change)})


def _optional(text: str | None, change: Change) -> str | None:
    return None if text is None else change(text)


def _nested(value: JsonValue, change: Change) -> JsonValue:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_nested(each, change) for each in value]
    if isinstance(value, dict):
        return {change(name): _nested(each, change) for name, each in value.items()}
    return value
