"""What a dialect is: a request turned into the canonical form, and the canonical reply turned back."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from memeval.gateway.serving.fields import Fields
from memeval.records.call import Api, Call


class Exchange(ABC):
    """One request of a system in its dialect, and how its reply is said.

    The constructor reads the request.

    Raises:
        Refusal: the request cannot be carried over whole.
    """

    api: ClassVar[Api] = Api.CHAT
    """The canonical form it is brought into."""
    stream_type: ClassVar[str] = "text/event-stream"
    """The content type of a streamed reply."""

    body: dict[str, Any]
    """The canonical body: that of the OpenAI API, not streamed."""
    streamed: bool = False
    """Whether the reply is asked for in events."""

    @abstractmethod
    def __init__(self, asked: Fields) -> None: ...

    @abstractmethod
    def whole(self, call: Call) -> dict[str, Any]:
        """Return the reply in one piece.

        Raises:
            Refusal: the model's reply cannot be said in this dialect.
        """

    def events(self, call: Call) -> Iterator[str]:
        """Give the reply as the text of events."""
        raise NotImplementedError


def event(data: dict[str, Any], name: str | None = None) -> str:
    """Return a server-sent event."""
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"
