"""The base class of API formats, and strict parsing of recorded replies for conversion into them."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from memeval.gateway.reply_words import message_text, reply_words
from memeval.gateway.serving.fields import Fields, Refusal
from memeval.records.call import Api, Call

PIECE = 64
"""Characters of text per event of a streamed reply."""


@dataclass(frozen=True)
class ToolCall:
    id: str
    name: str
    arguments: str

    def parsed(self) -> dict[str, Any]:
        try:
            value = json.loads(self.arguments or "{}")
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise Refusal(502, f"The model called '{self.name[:100]}' with arguments that are not a JSON object.")
        return value


@dataclass(frozen=True)
class Completion:
    id: str
    """The reply's id, the same on every replay."""
    at: str
    """UTC time of the request, ISO 8601."""
    model: str
    text: str
    tools: tuple[ToolCall, ...]
    finish: str
    """Reason for the end: ``stop``, ``length``, ``tool_calls``, ``content_filter``."""
    prompt_tokens: int
    """0 if the provider does not count, since APIs require a number; the record has ``null``."""
    completion_tokens: int


def data_of(call: Call) -> dict[str, Any]:
    try:
        data = json.loads(call.reply or "")
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise Refusal(502, "The model's endpoint sent a reply that is not a JSON object.")
    return data


def choices_of(data: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the choices of a chat completion, each with its message."""
    choices = data.get("choices")
    if not isinstance(choices, list):
        choices = []
    pairs = [
        (choice, choice["message"])
        for choice in choices
        if isinstance(choice, dict) and isinstance(choice.get("message"), dict)
    ]
    if not pairs or len(pairs) < len(choices):
        raise Refusal(502, "The model's endpoint sent a reply without a message.")
    return pairs


def calls_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    calls = message.get("tool_calls")
    return [
        call
        for call in (calls if isinstance(calls, list) else [])
        if isinstance(call, dict) and isinstance(call.get("function"), dict)
    ]


def completion_of(call: Call) -> Completion:
    """Parse the recorded reply to a chat request."""
    data = data_of(call)
    choice, message = choices_of(data)[0]
    tools = tuple(
        ToolCall(str(each.get("id") or f"call_{place}"), str(each["function"].get("name")), _arguments(each))
        for place, each in enumerate(calls_of(message))
    )
    return Completion(
        id=call.key.removeprefix("sha256:")[:24],
        at=call.at,
        model=call.model or call.request.model,
        text=message_text(message),
        tools=tools,
        finish=reply_words().ends.usual(choice.get("finish_reason")),
        prompt_tokens=call.prompt_tokens or 0,
        completion_tokens=call.completion_tokens or 0,
    )


def pieces(text: str) -> Iterator[str]:
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))


def _arguments(call: dict[str, Any]) -> str:
    arguments = call["function"].get("arguments")
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})


class Exchange(ABC):
    """One request of a system in its dialect, and the form of its reply.

    The constructor parses the request.

    Raises Refusal: a part of the request is not supported.
    """

    api: ClassVar[Api] = Api.CHAT
    stream_type: ClassVar[str] = "text/event-stream"

    body: dict[str, Any]
    """The canonical body, as for the OpenAI API, not streamed."""
    streamed: bool = False

    @abstractmethod
    def __init__(self, fields: Fields) -> None: ...

    @abstractmethod
    def whole(self, call: Call) -> dict[str, Any]:
        """Return the whole reply."""

    def events(self, call: Call) -> Iterator[str]:
        raise NotImplementedError


def event(data: dict[str, Any], name: str | None = None) -> str:
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"
