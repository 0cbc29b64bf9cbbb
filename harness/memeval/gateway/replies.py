"""Strict parsing of model replies."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from memeval.gateway.prices import price_of
from memeval.records.call import Api, Call

_LONGEST_NAME = 200
_MOST_TOKENS = 10**9


class UnusableReply(Exception):
    """A body is not a completion; the text gives the reason."""


@dataclass(frozen=True)
class ModelReply:
    """The metadata of a usable reply."""

    model: str | None
    """The model's name in the reply."""
    fingerprint: str | None
    """The provider's fingerprint of the model."""
    prompt_tokens: int | None
    """Tokens of the request, as the provider counted them."""
    completion_tokens: int | None
    """Tokens of the reply, as the provider counted them; 0 for embeddings."""
    cached_tokens: int
    """Tokens of the request that the provider billed at its lower price for cached tokens."""

    @property
    def tokens(self) -> int | None:
        """All tokens; ``None`` if the provider did not count them."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens

    def price(self, model: str) -> float | None:
        """Return the cost in US dollars if ``model`` was requested; ``None`` if unknown."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return price_of(model, self.prompt_tokens, self.completion_tokens, self.cached_tokens)


def read(text: str, api: Api) -> ModelReply:
    """Return the metadata of a reply.

    Args:
        text: the raw body.
        api: the API that was called.

    Raises:
        UnusableReply: the body has no completion or embeddings.
    """
    data = _object(text)
    if api is Api.CHAT:
        _message(data)
    elif not isinstance(data.get("data"), list) or not data["data"]:
        raise UnusableReply("The reply has no embeddings.")
    usage = _inside(data, "usage")
    prompt = _count(usage.get("prompt_tokens"))
    return ModelReply(
        model=_name(data.get("model")),
        fingerprint=_name(data.get("system_fingerprint")),
        prompt_tokens=prompt,
        completion_tokens=_count(usage.get("completion_tokens")) if api is Api.CHAT else 0,
        cached_tokens=min(_count(_inside(usage, "prompt_tokens_details").get("cached_tokens")) or 0, prompt or 0),
    )


def text_of(call: Call) -> str | None:
    """Return the text of a chat reply: empty if the reply has no text, ``None`` if the call failed."""
    if call.error is not None or call.reply is None:
        return None
    try:
        content = _message(_object(call.reply)).get("content")
    except UnusableReply:
        return None
    return _encodable(content) if isinstance(content, str) else ""


def _object(text: str) -> dict[str, Any]:
    if not text.strip():
        raise UnusableReply("The reply is empty.")
    if text.lstrip().startswith("<"):
        raise UnusableReply("The reply is a web page, not JSON.")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise UnusableReply("The reply is not JSON, or is truncated.") from None
    if not isinstance(data, dict):
        raise UnusableReply("The reply is not a JSON object.")
    return data


def _message(data: dict[str, Any]) -> dict[str, Any]:
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        raise UnusableReply("The reply has no choices.")
    message = choices[0].get("message") if isinstance(choices[0], dict) else None
    if not isinstance(message, dict) or not isinstance(message.get("content"), str | list | None):
        raise UnusableReply("The reply's first choice has no message.")
    return message


def _inside(data: dict[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int | None:
    counts = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
    return value if counts else None


def _name(value: Any) -> str | None:
    return _encodable(value)[:_LONGEST_NAME] if isinstance(value, str) and value else None


def _encodable(text: str) -> str:
    """Return text that UTF-8 can encode: JSON strings may contain unpaired surrogates."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
