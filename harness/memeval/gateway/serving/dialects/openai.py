"""OpenAI's chat completions and embeddings: the canonical form, except for streaming and ignored fields."""

import base64
import math
import struct
from collections.abc import Iterator
from typing import Any

from memeval.gateway.reply_words import joined
from memeval.gateway.serving.completion import Exchange, calls_of, choices_of, data_of, event, pieces
from memeval.gateway.serving.fields import Fields, Refusal, text_of
from memeval.records.call import Api, Call

ROLES = ("system", "developer", "user", "assistant", "tool")

CARRIED = (
    *("frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens", "n"),
    *("parallel_tool_calls", "prediction", "presence_penalty", "reasoning_effort", "response_format", "seed", "stop"),
    *("temperature", "tool_choice", "top_logprobs", "top_p", "verbosity"),
    *("chat_template_kwargs", "min_p", "repetition_penalty", "top_k"),
)
"""Fields that are sent unchanged; the last line is for self-hosted servers. Fields that allow a provider to use
another model, or to search elsewhere, are not included."""

IGNORED = (
    *("metadata", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "service_tier", "store", "user"),
)
"""Fields that do not affect the reply."""


def error(status: int, sentence: str) -> dict[str, Any]:
    kinds = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 429: "requests"}
    kind = kinds.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": sentence, "type": kind, "param": None, "code": None}}


class OpenAIChat(Exchange):
    """``/v1/chat/completions``."""

    def __init__(self, fields: Fields) -> None:
        self.streamed = fields.maybe("stream", bool) or False
        options = fields.inside("stream_options")
        self._with_usage = options.maybe("include_usage", bool) or False
        messages = [_message(message) for message in fields.each("messages")]
        if not messages:
            raise Refusal(400, "'messages' is missing or empty.")
        self.body = {"model": fields.need("model", str), "messages": messages, **fields.carry(*CARRIED)}
        if tools := fields.maybe("tools", list):
            self.body["tools"] = checked_tools(tools)
        fields.only("modalities", ["text"])
        fields.ignore(*IGNORED)
        fields.end()

    def whole(self, call: Call) -> dict[str, Any]:
        return data_of(call)

    def events(self, call: Call) -> Iterator[str]:
        data = data_of(call)
        chunk = {
            "id": data.get("id"),
            "object": "chat.completion.chunk",
            "created": data.get("created"),
            "model": data.get("model"),
            "system_fingerprint": data.get("system_fingerprint"),
        }
        if self._with_usage:
            chunk["usage"] = None
        for place, (choice, message) in enumerate(choices_of(data)):
            deltas = list(_deltas(message))
            for number, delta in enumerate(deltas, 1):
                ends = choice.get("finish_reason") if number == len(deltas) else None
                logprobs = choice.get("logprobs") if number == 1 else None
                part = {"index": place, "delta": delta, "logprobs": logprobs, "finish_reason": ends}
                yield event({**chunk, "choices": [part]})
        if self._with_usage:
            yield event({**chunk, "choices": [], "usage": data.get("usage")})
        yield "data: [DONE]\n\n"


class Embeddings(Exchange):
    """``/v1/embeddings``. Always requested as numbers, so one record serves both encodings."""

    api = Api.EMBEDDINGS

    def __init__(self, fields: Fields) -> None:
        self.body = {
            "model": fields.need("model", str),
            "input": embedded(fields),
            **fields.carry("dimensions"),
        }
        self._packed = fields.any("encoding_format") == "base64"
        fields.ignore("user")
        fields.end()

    def whole(self, call: Call) -> dict[str, Any]:
        data = data_of(call)
        rows = [
            {"object": "embedding", "index": place, "embedding": _packed(vector) if self._packed else vector}
            for place, vector in enumerate(vectors_of(call))
        ]
        usage = data.get("usage") if isinstance(data.get("usage"), dict) else None
        return {"object": "list", "data": rows, "model": call.model or call.request.model, "usage": usage}


def checked_tools(tools: list[Any]) -> list[Any]:
    for tool in tools:
        if not isinstance(tool, dict) or tool.get("type") != "function" or not isinstance(tool.get("function"), dict):
            raise Refusal(
                400, "'tools' contains a tool that is not a function. memeval's endpoint supports functions only."
            )
    return tools


def embedded(fields: Fields) -> Any:
    value = fields.any("input")
    if isinstance(value, str) and value:
        return value
    if isinstance(value, list) and value and all(isinstance(each, str | int | list) for each in value):
        return value
    raise Refusal(400, f"{fields.where('input')} is missing, or is neither text nor a list of texts.")


def vectors_of(call: Call) -> list[list[float]]:
    """Return the embeddings of a recorded reply, in order."""
    rows = data_of(call).get("data")
    try:
        vectors = [_vector(row["embedding"]) for row in sorted(rows, key=lambda row: row.get("index", 0))]  # type: ignore[arg-type]
    except (TypeError, KeyError, ValueError, AttributeError, OverflowError, struct.error):
        vectors = []
    if not vectors:
        raise Refusal(502, "The model's endpoint sent a reply without embeddings.")
    return vectors


def _vector(value: Any) -> list[float]:
    if isinstance(value, str):
        data = base64.b64decode(value, validate=True)
        value = struct.unpack(f"<{len(data) // 4}f", data)
    vector = [float(number) for number in value]
    if not all(map(math.isfinite, vector)):
        raise ValueError
    return vector


def _packed(vector: list[float]) -> str:
    try:
        return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode("ascii")
    except (OverflowError, struct.error):
        raise Refusal(502, "The model's endpoint sent numbers that do not fit into 32-bit floats.") from None


def _message(message: Fields) -> dict[str, Any]:
    role = message.need("role", str)
    if role not in ROLES:
        raise Refusal(400, f"{message.where('role')} must be one of {', '.join(ROLES)}.")
    made = {"role": role, "content": text_of(message, "content")}
    made |= message.carry("name", "tool_call_id", "refusal", "reasoning_content")
    if calls := message.maybe("tool_calls", list):
        made["tool_calls"] = checked_tools(calls)
    message.only("annotations", [])
    message.end()
    return made


def _deltas(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Split a message into deltas: first the role and other fields, then text and calls, and an empty one last."""
    calls = calls_of(message)
    rest = {name: value for name, value in message.items() if name not in ("role", "content", "tool_calls")}
    yield {"role": "assistant", "content": None if calls else "", **rest}
    text = joined(message.get("content"))
    for piece in pieces(text):
        yield {"content": piece}
    for place, call in enumerate(calls):
        yield {"tool_calls": [{"index": place, **call}]}
    yield {}
