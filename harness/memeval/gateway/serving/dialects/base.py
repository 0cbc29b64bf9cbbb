"""The base class of dialects, which convert a request into the canonical form, and the reply back."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from memeval.gateway.serving.fields import Fields
from memeval.records.call import Api, Call


class Exchange(ABC):
    """One request of a system in its dialect, and the form of its reply.

    The constructor parses the request.

    Raises:
        Refusal: a part of the request is not supported.
    """

    api: ClassVar[Api] = Api.CHAT
    """The API of the canonical request."""
    stream_type: ClassVar[str] = "text/event-stream"
    """The content type of a streamed reply."""

    body: dict[str, Any]
    """The canonical body, as for the OpenAI API, not streamed."""
    streamed: bool = False
    """Whether the system requests a streamed reply."""

    @abstractmethod
    def __init__(self, fields: Fields) -> None: ...

    @abstractmethod
    def whole(self, call: Call) -> dict[str, Any]:
        """Return the whole reply."""

    def events(self, call: Call) -> Iterator[str]:
        """Yield the reply as the text of events."""
        raise NotImplementedError


def event(data: dict[str, Any], name: str | None = None) -> str:
    """Return a server-sent event."""
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"
