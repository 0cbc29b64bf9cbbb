"""Anthropic's Messages API: text, tools and their results."""

import json
from collections.abc import Iterator
from typing import Any

from memeval.gateway.serving.completion import Exchange, completion_of, event, pieces
from memeval.gateway.serving.fields import Fields, Refusal, joined, text_of, text_part
from memeval.records.call import Call

STOPS = {"length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
"""Anthropic's names for the reasons that end a reply; all others are ``end_turn``."""

CHOICES = {"auto": "auto", "any": "required", "none": "none"}

ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}


def error(status: int, sentence: str) -> dict[str, Any]:
    kind = ERRORS.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": sentence}}


class Messages(Exchange):
    """``/v1/messages``."""

    def __init__(self, fields: Fields) -> None:
        self.streamed = fields.maybe("stream", bool) or False
        self.body = {"model": fields.need("model", str), "max_tokens": fields.need("max_tokens", int)}
        system = text_of(fields, "system")
        self.body["messages"] = [{"role": "system", "content": system}] if system else []
        for message in fields.each("messages"):
            self.body["messages"] += _messages(message)
        if not self.body["messages"] or self.body["messages"][-1]["role"] in ("system", "assistant"):
            raise Refusal(
                400, "The last message must be the user's: memeval's endpoint does not support a started reply."
            )
        self.body |= fields.carry("temperature", "top_k", "top_p")
        if stops := fields.maybe("stop_sequences", list):
            self.body["stop"] = stops
        if tools := fields.each("tools"):
            self.body["tools"] = [_function(tool) for tool in tools]
        self._choose(fields.inside("tool_choice"))
        fields.only("thinking", {"type": "disabled"})
        fields.ignore("cache_control", "metadata", "service_tier")
        fields.end()

    def whole(self, call: Call) -> dict[str, Any]:
        made = completion_of(call)
        blocks: list[dict[str, Any]] = [{"type": "text", "text": made.text}] if made.text else []
        blocks += [
            {"type": "tool_use", "id": tool.id, "name": tool.name, "input": tool.parsed()} for tool in made.tools
        ]
        return {
            "id": f"msg_{made.id}",
            "type": "message",
            "role": "assistant",
            "model": made.model,
            "content": blocks,
            "stop_reason": "tool_use" if made.tools else STOPS.get(made.finish, "end_turn"),
            "stop_sequence": None,
            "usage": {"input_tokens": made.prompt_tokens, "output_tokens": made.completion_tokens},
        }

    def events(self, call: Call) -> Iterator[str]:
        message = self.whole(call)
        usage = message["usage"]
        started = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 0}}
        yield _event("message_start", message=started)
        for place, block in enumerate(message["content"]):
            if block["type"] == "text":
                yield _event("content_block_start", index=place, content_block={**block, "text": ""})
                deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
            else:
                yield _event("content_block_start", index=place, content_block={**block, "input": {}})
                written = json.dumps(block["input"])
                deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(written)]
            for delta in deltas:
                yield _event("content_block_delta", index=place, delta=delta)
            yield _event("content_block_stop", index=place)
        ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        yield _event("message_delta", delta=ended, usage={"output_tokens": usage["output_tokens"]})
        yield _event("message_stop")

    def _choose(self, choice: Fields) -> None:
        kind = choice.maybe("type", str)
        if kind == "tool":
            self.body["tool_choice"] = {"type": "function", "function": {"name": choice.need("name", str)}}
        elif kind in CHOICES:
            self.body["tool_choice"] = CHOICES[kind]
        elif kind is not None:
            raise Refusal(400, "'tool_choice.type' must be one of auto, any, none, tool.")
        if choice.maybe("disable_parallel_tool_use", bool):
            self.body["parallel_tool_calls"] = False
        choice.end()


def _event(kind: str, **fields: Any) -> str:
    return event({"type": kind, **fields}, kind)


def _function(tool: Fields) -> dict[str, Any]:
    kind = tool.maybe("type", str)
    if kind not in (None, "custom"):
        raise Refusal(400, f"{tool.where('type')} is '{kind[:100]}': memeval's endpoint supports your own tools only.")
    function = {"name": tool.need("name", str), **tool.carry("description", "strict")}
    function["parameters"] = tool.need("input_schema", dict)
    tool.ignore("cache_control")
    tool.end()
    return {"type": "function", "function": function}


def _messages(message: Fields) -> list[dict[str, Any]]:
    """Return a message in the canonical form: each tool result is a separate message before the text."""
    role = message.need("role", str)
    if role not in ("user", "assistant"):
        raise Refusal(400, f"{message.where('role')} is neither user nor assistant.")
    content = message.any("content")
    if isinstance(content, str):
        message.end()
        return [{"role": role, "content": content}]
    if not isinstance(content, list) or not content:
        raise Refusal(400, f"{message.where('content')} is missing, or is neither text nor a list of blocks.")
    message.end()
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for value, block in zip(content, message.elements("content", content), strict=True):
        kind = value.get("type")
        if kind == "tool_use" and role == "assistant":
            calls.append(_call(block))
        elif kind == "tool_result" and role == "user":
            results.append(_result(block))
        else:
            texts.append(text_part(block))
    if role == "assistant":
        return [{"role": role, "content": joined(texts) if texts else None, **({"tool_calls": calls} if calls else {})}]
    return [*results, {"role": role, "content": joined(texts)}] if texts else results


def _call(block: Fields) -> dict[str, Any]:
    block.ignore("type", "cache_control", "caller")
    arguments = json.dumps(block.need("input", dict), ensure_ascii=False)
    call = {"id": block.need("id", str), "type": "function"}
    made = {**call, "function": {"name": block.need("name", str), "arguments": arguments}}
    block.end()
    return made


def _result(block: Fields) -> dict[str, Any]:
    """Return a tool result; the canonical form has no ``is_error``."""
    block.ignore("type", "cache_control", "is_error")
    made = {"role": "tool", "tool_call_id": block.need("tool_use_id", str), "content": text_of(block, "content") or ""}
    block.end()
    return made
