"""OpenAI's Responses API: text and functions. Every request is independent: memeval stores no conversation."""

import datetime
from collections.abc import Iterator
from typing import Any

from memeval.gateway.serving.completion import Completion, Exchange, completion_of, event, pieces
from memeval.gateway.serving.fields import Fields, Refusal, text_of
from memeval.records.call import Call

ROLES = ("system", "developer", "user", "assistant")

IGNORED = (
    *("metadata", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "service_tier", "store"),
    *("stream_options", "user"),
)
"""Fields that do not affect the reply."""


class Responses(Exchange):
    """``/v1/responses``."""

    def __init__(self, fields: Fields) -> None:
        self.streamed = fields.maybe("stream", bool) or False
        self._echo = {
            "instructions": fields.maybe("instructions", str),
            "tools": fields.any("tools") or [],
            "tool_choice": fields.any("tool_choice") or "auto",
        }
        self.body = {"model": fields.need("model", str), "messages": self._messages(fields)}
        self.body |= fields.carry("parallel_tool_calls", "temperature", "top_p")
        if (limit := fields.maybe("max_output_tokens", int)) is not None:
            self.body["max_completion_tokens"] = limit
        if self._echo["tools"]:
            self.body["tools"] = _functions(self._echo["tools"])
            self.body["tool_choice"] = _choice(self._echo["tool_choice"])
        self.body |= _format(fields.inside("text"))
        reasoning = fields.inside("reasoning")
        if effort := reasoning.maybe("effort", str):
            self.body["reasoning_effort"] = effort
        reasoning.ignore("summary", "generate_summary")
        reasoning.end()
        fields.only("background", False)
        fields.only("include", [])
        fields.only("truncation", "disabled")
        fields.ignore(*IGNORED)
        fields.end()

    def whole(self, call: Call) -> dict[str, Any]:
        return self._response(completion_of(call))

    def events(self, call: Call) -> Iterator[str]:
        done = self._response(completion_of(call))
        started = {**done, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
        sequence = [{"type": "response.created", "response": started}]
        sequence += [{"type": "response.in_progress", "response": started}]
        for index, item in enumerate(done["output"]):
            sequence += _item_events(item, index)
        sequence += [{"type": f"response.{done['status']}", "response": done}]
        for number, each in enumerate(sequence):
            yield event({**each, "sequence_number": number}, str(each["type"]))

    def _messages(self, fields: Fields) -> list[dict[str, Any]]:
        instructions = self._echo["instructions"]
        messages: list[dict[str, Any]] = [{"role": "system", "content": instructions}] if instructions else []
        value = fields.any("input")
        if isinstance(value, str) and value:
            return [*messages, {"role": "user", "content": value}]
        if not isinstance(value, list) or not value:
            raise Refusal(400, "'input' is missing, or is neither text nor a list of items.")
        for item in fields.elements("input", value):
            _add(messages, item)
        return messages

    def _response(self, made: Completion) -> dict[str, Any]:
        output: list[dict[str, Any]] = []
        reasons = {"length": "max_output_tokens", "content_filter": "content_filter"}
        reason = reasons.get(made.finish)
        status = "incomplete" if reason else "completed"
        if made.text or not made.tools:
            part = {"type": "output_text", "text": made.text, "annotations": [], "logprobs": []}
            output.append(
                {"id": f"msg_{made.id}", "type": "message", "status": status, "role": "assistant", "content": [part]}
            )
        output += [
            {
                "id": f"fc_{made.id}_{index}",
                "type": "function_call",
                "status": status,
                "call_id": tool.id,
                "name": tool.name,
                "arguments": tool.arguments,
            }
            for index, tool in enumerate(made.tools)
        ]
        return {
            "id": f"resp_{made.id}",
            "object": "response",
            "created_at": int(datetime.datetime.fromisoformat(made.at).timestamp()),
            "status": status,
            "error": None,
            "incomplete_details": {"reason": reason} if reason else None,
            "model": made.model,
            "output": output,
            "parallel_tool_calls": self.body.get("parallel_tool_calls", True),
            "temperature": self.body.get("temperature"),
            "top_p": self.body.get("top_p"),
            "metadata": {},
            **self._echo,
            "usage": {
                "input_tokens": made.prompt_tokens,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": made.completion_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": made.prompt_tokens + made.completion_tokens,
            },
        }


def _add(messages: list[dict[str, Any]], item: Fields) -> None:
    """Add an input item to the messages; the function calls of one reply go into one message."""
    kind = item.maybe("type", str) or "message"
    item.ignore("id", "status")
    if kind == "message":
        role = item.need("role", str)
        if role not in ROLES:
            raise Refusal(400, f"{item.where('role')} must be one of {', '.join(ROLES)}.")
        content = text_of(item, "content", ("input_text", "output_text", "text"))
        messages.append({"role": role, "content": content})
    elif kind == "function_call":
        function = {"name": item.need("name", str), "arguments": item.need("arguments", str)}
        call = {"id": item.need("call_id", str), "type": "function", "function": function}
        if not messages or messages[-1]["role"] != "assistant":
            messages.append({"role": "assistant", "content": None})
        messages[-1].setdefault("tool_calls", []).append(call)
    elif kind == "function_call_output":
        name = item.need("call_id", str)
        output = text_of(item, "output", ("input_text", "output_text", "text"))
        messages.append({"role": "tool", "tool_call_id": name, "content": output})
    else:
        raise Refusal(
            400,
            f"{item.where('type')} is '{kind[:100]}': memeval's endpoint supports messages and function calls only.",
        )
    item.end()


def _functions(tools: Any) -> list[dict[str, Any]]:
    made = []
    for tool in Fields({"tools": tools}).each("tools"):
        if (kind := tool.need("type", str)) != "function":
            raise Refusal(400, f"{tool.where('type')} is '{kind[:100]}': memeval's endpoint supports functions only.")
        function = {"name": tool.need("name", str), **tool.carry("description", "parameters", "strict")}
        tool.end()
        made.append({"type": "function", "function": function})
    return made


def _choice(choice: Any) -> Any:
    if choice in ("auto", "none", "required"):
        return choice
    named = Fields(choice, "tool_choice")
    if (kind := named.need("type", str)) != "function":
        raise Refusal(400, f"'tool_choice.type' is '{kind[:100]}': memeval's endpoint supports functions only.")
    function = {"name": named.need("name", str)}
    named.end()
    return {"type": "function", "function": function}


def _format(text: Fields) -> dict[str, Any]:
    made = text.carry("verbosity")
    form = text.inside("format")
    kind = form.maybe("type", str)
    if kind == "json_schema":
        schema = form.carry("name", "description", "schema", "strict")
        made["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif kind == "json_object":
        made["response_format"] = {"type": "json_object"}
    elif kind not in (None, "text"):
        raise Refusal(400, "'text.format.type' must be one of text, json_object, json_schema.")
    form.end()
    text.end()
    return made


def _item_events(item: dict[str, Any], index: int) -> list[dict[str, Any]]:
    output = {"output_index": index}
    position = {**output, "item_id": item["id"]}
    if item["type"] == "function_call":
        empty = {**item, "status": "in_progress", "arguments": ""}
        kind, part, text = "response.function_call_arguments", None, item["arguments"]
        inner = [{"type": f"{kind}.delta", **position, "delta": piece} for piece in pieces(text)]
        inner.append({"type": f"{kind}.done", **position, "name": item["name"], "arguments": text})
    else:
        empty = {**item, "status": "in_progress", "content": []}
        part = item["content"][0]
        kind, position = "response.output_text", {**position, "content_index": 0}
        inner = [{"type": "response.content_part.added", **position, "part": {**part, "text": ""}}]
        inner += [
            {"type": f"{kind}.delta", **position, "delta": piece, "logprobs": []} for piece in pieces(part["text"])
        ]
        inner.append({"type": f"{kind}.done", **position, "text": part["text"], "logprobs": []})
        inner.append({"type": "response.content_part.done", **position, "part": part})
    added = {"type": "response.output_item.added", **output, "item": empty}
    return [added, *inner, {"type": "response.output_item.done", **output, "item": item}]
