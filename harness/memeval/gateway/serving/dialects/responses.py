"""OpenAI's responses: text and functions. Every request stands by itself: memeval keeps no conversation."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

from memeval.gateway.serving.completion import Completion, completion_of, pieces
from memeval.gateway.serving.dialects.base import Exchange, event
from memeval.gateway.serving.fields import Fields, Refusal, text_of
from memeval.records.call import Call

ROLES = ("system", "developer", "user", "assistant")

IGNORED = (
    *("metadata", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "service_tier", "store"),
    *("stream_options", "user"),
)
"""What has no bearing on the reply."""


class Responses(Exchange):
    """``/v1/responses``."""

    def __init__(self, asked: Fields) -> None:
        self.streamed = asked.maybe("stream", bool) or False
        self._echo = {
            "instructions": asked.maybe("instructions", str),
            "tools": asked.any("tools") or [],
            "tool_choice": asked.any("tool_choice") or "auto",
        }
        self.body = {"model": asked.need("model", str), "messages": self._messages(asked)}
        self.body |= asked.carry("parallel_tool_calls", "temperature", "top_p")
        if (limit := asked.maybe("max_output_tokens", int)) is not None:
            self.body["max_completion_tokens"] = limit
        if self._echo["tools"]:
            self.body["tools"] = _functions(self._echo["tools"])
            self.body["tool_choice"] = _choice(self._echo["tool_choice"])
        self.body |= _format(asked.inside("text"))
        reasoning = asked.inside("reasoning")
        if effort := reasoning.maybe("effort", str):
            self.body["reasoning_effort"] = effort
        reasoning.ignore("summary", "generate_summary")
        reasoning.end()
        asked.only("background", False)
        asked.only("include", [])
        asked.only("truncation", "disabled")
        asked.ignore(*IGNORED)
        asked.end()

    def whole(self, call: Call) -> dict[str, Any]:
        return self._response(completion_of(call))

    def events(self, call: Call) -> Iterator[str]:
        done = self._response(completion_of(call))
        started = {**done, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
        sequence = [{"type": "response.created", "response": started}]
        sequence += [{"type": "response.in_progress", "response": started}]
        for place, item in enumerate(done["output"]):
            sequence += _item_events(item, place)
        sequence += [{"type": f"response.{done['status']}", "response": done}]
        for number, each in enumerate(sequence):
            yield event({**each, "sequence_number": number}, str(each["type"]))

    def _messages(self, asked: Fields) -> list[dict[str, Any]]:
        instructions = self._echo["instructions"]
        messages: list[dict[str, Any]] = [{"role": "system", "content": instructions}] if instructions else []
        given = asked.any("input")
        if isinstance(given, str) and given:
            return [*messages, {"role": "user", "content": given}]
        if not isinstance(given, list) or not given:
            raise Refusal(400, "'input' is missing, or is no text and no list of items.")
        for place, item in enumerate(given):
            _add(messages, Fields(item, f"input[{place}]"))
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
                "id": f"fc_{made.id}_{place}",
                "type": "function_call",
                "status": status,
                "call_id": tool.id,
                "name": tool.name,
                "arguments": tool.arguments,
            }
            for place, tool in enumerate(made.tools)
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
    """Add an item of the input to the messages; the calls of one reply belong to one message."""
    kind = item.maybe("type", str) or "message"
    item.ignore("id", "status")
    if kind == "message":
        role = item.need("role", str)
        if role not in ROLES:
            raise Refusal(400, f"{item.where('role')} is none of {', '.join(ROLES)}.")
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
            400, f"{item.where('type')} is '{kind[:100]}': memeval's endpoint carries messages and function calls only."
        )
    item.end()


def _functions(tools: Any) -> list[dict[str, Any]]:
    made = []
    for tool in Fields({"tools": tools}).each("tools"):
        if (kind := tool.need("type", str)) != "function":
            raise Refusal(400, f"{tool.where('type')} is '{kind[:100]}': memeval's endpoint carries functions only.")
        function = {"name": tool.need("name", str), **tool.carry("description", "parameters", "strict")}
        tool.end()
        made.append({"type": "function", "function": function})
    return made


def _choice(choice: Any) -> Any:
    if choice in ("auto", "none", "required"):
        return choice
    named = Fields(choice, "tool_choice")
    if (kind := named.need("type", str)) != "function":
        raise Refusal(400, f"'tool_choice.type' is '{kind[:100]}': memeval's endpoint carries functions only.")
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
        raise Refusal(400, "'text.format.type' is none of text, json_object, json_schema.")
    form.end()
    text.end()
    return made


def _item_events(item: dict[str, Any], place: int) -> list[dict[str, Any]]:
    at = {"output_index": place}
    here = {**at, "item_id": item["id"]}
    if item["type"] == "function_call":
        empty = {**item, "status": "in_progress", "arguments": ""}
        kind, part, text = "response.function_call_arguments", None, item["arguments"]
        inner = [{"type": f"{kind}.delta", **here, "delta": piece} for piece in pieces(text)]
        inner.append({"type": f"{kind}.done", **here, "name": item["name"], "arguments": text})
    else:
        empty = {**item, "status": "in_progress", "content": []}
        part = item["content"][0]
        kind, here = "response.output_text", {**here, "content_index": 0}
        inner = [{"type": "response.content_part.added", **here, "part": {**part, "text": ""}}]
        inner += [{"type": f"{kind}.delta", **here, "delta": piece, "logprobs": []} for piece in pieces(part["text"])]
        inner.append({"type": f"{kind}.done", **here, "text": part["text"], "logprobs": []})
        inner.append({"type": "response.content_part.done", **here, "part": part})
    added = {"type": "response.output_item.added", **at, "item": empty}
    return [added, *inner, {"type": "response.output_item.done", **at, "item": item}]
