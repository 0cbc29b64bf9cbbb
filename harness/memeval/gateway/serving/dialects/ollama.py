"""Ollama's chat, generate and embed. Its tool calls have no ids, so memeval numbers them and matches results."""

import json
from collections.abc import Iterator
from typing import Any

from memeval.gateway.serving.completion import Completion, Exchange, completion_of, pieces
from memeval.gateway.serving.dialects.openai import checked_tools, embedded, vectors_of
from memeval.gateway.serving.fields import Fields, Refusal
from memeval.records.call import Api, Call

OPTIONS = {
    "frequency_penalty": "frequency_penalty",
    "min_p": "min_p",
    "presence_penalty": "presence_penalty",
    "repeat_penalty": "repetition_penalty",
    "seed": "seed",
    "stop": "stop",
    "temperature": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
}
"""Canonical names of Ollama's options."""

IGNORED_OPTIONS = (
    *("f16_kv", "low_vram", "main_gpu", "num_batch", "num_ctx", "num_gpu", "num_keep", "num_thread", "numa"),
    *("use_mlock", "use_mmap"),
)
"""Options about how a machine runs a model; they are ignored."""


def error(_status: int, sentence: str) -> dict[str, Any]:
    return {"error": sentence}


class OllamaChat(Exchange):
    """``/api/chat``: streamed by default."""

    stream_type = "application/x-ndjson"

    def __init__(self, fields: Fields) -> None:
        self.streamed = fields.maybe("stream", bool) is not False
        self.body = {"model": fields.need("model", str), "messages": self._messages(fields)}
        if tools := fields.maybe("tools", list):
            self.body["tools"] = checked_tools(tools)
        self.body |= _format(fields.any("format")) | _options(fields.inside("options"))
        fields.only("think", False)
        fields.only("logprobs", False)
        fields.ignore("keep_alive")
        fields.end()

    def whole(self, call: Call) -> dict[str, Any]:
        made = completion_of(call)
        return self._reply(made, made.text, tools=True) | _ended(made)

    def events(self, call: Call) -> Iterator[str]:
        made = completion_of(call)
        for piece in pieces(made.text):
            yield json.dumps(self._reply(made, piece) | {"done": False}) + "\n"
        yield json.dumps(self._reply(made, "", tools=True) | _ended(made)) + "\n"

    def _messages(self, fields: Fields) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        waiting: list[tuple[str, str]] = []
        made = 0
        for message in fields.each("messages"):
            role = message.need("role", str)
            if role not in ("system", "user", "assistant", "tool"):
                raise Refusal(400, f"{message.where('role')} must be one of system, user, assistant, tool.")
            one: dict[str, Any] = {"role": role, "content": message.maybe("content", str) or ""}
            calls = []
            for call in message.each("tool_calls"):
                function = call.inside("function")
                name, arguments = function.need("name", str), json.dumps(function.maybe("arguments", dict) or {})
                made += 1
                waiting.append((name, f"call_{made}"))
                described = {"name": name, "arguments": arguments}
                calls.append({"id": f"call_{made}", "type": "function", "function": described})
            if calls:
                one["tool_calls"] = calls
            if role == "tool":
                one["tool_call_id"] = _matched(waiting, message)
            message.only("images", [])
            message.ignore("thinking", "tool_name", "name")
            message.end()
            messages.append(one)
        if not messages:
            raise Refusal(400, "'messages' is missing or empty.")
        return messages

    def _reply(self, made: Completion, text: str, tools: bool = False) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if tools and made.tools:
            message["tool_calls"] = [
                {"function": {"name": tool.name, "arguments": tool.parsed()}} for tool in made.tools
            ]
        return {"model": made.model, "created_at": made.at, "message": message}


class Generate(OllamaChat):
    """``/api/generate``: one prompt, without a template of its own."""

    def _messages(self, fields: Fields) -> list[dict[str, Any]]:
        system, prompt = fields.maybe("system", str), fields.need("prompt", str)
        fields.only("images", [])
        fields.only("raw", False)
        for name in ("context", "suffix", "template"):
            fields.only(name, "", [])
        before = [{"role": "system", "content": system}] if system else []
        return [*before, {"role": "user", "content": prompt}]

    def _reply(self, made: Completion, text: str, tools: bool = False) -> dict[str, Any]:
        return {"model": made.model, "created_at": made.at, "response": text}


class Embed(Exchange):
    """``/api/embed``."""

    api = Api.EMBEDDINGS

    def __init__(self, fields: Fields) -> None:
        self.body = {"model": fields.need("model", str), "input": self._input(fields), **fields.carry("dimensions")}
        fields.ignore("keep_alive", "options", "truncate")
        fields.end()

    def _input(self, fields: Fields) -> Any:
        return embedded(fields)

    def whole(self, call: Call) -> dict[str, Any]:
        model = call.model or call.request.model
        return {"model": model, "embeddings": vectors_of(call), "prompt_eval_count": call.prompt_tokens or 0}


class OldEmbeddings(Embed):
    """``/api/embeddings``, the older form, with one text."""

    def _input(self, fields: Fields) -> Any:
        return fields.need("prompt", str)

    def whole(self, call: Call) -> dict[str, Any]:
        return {"embedding": vectors_of(call)[0]}


def _matched(waiting: list[tuple[str, str]], message: Fields) -> str:
    """Return the id of the call for a tool's result: the first open call of its name, else the first open call."""
    name = message.maybe("tool_name", str)
    if not waiting:
        raise Refusal(400, f"{message.where('role')} is tool, but no tool was called before.")
    place = next((place for place, (called, _id) in enumerate(waiting) if called == name), 0)
    return waiting.pop(place)[1]


def _format(form: Any) -> dict[str, Any]:
    if form in (None, ""):
        return {}
    if form == "json":
        return {"response_format": {"type": "json_object"}}
    if not isinstance(form, dict):
        raise Refusal(400, "'format' is neither \"json\" nor a JSON schema.")
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": form}}}


def _options(options: Fields) -> dict[str, Any]:
    made = {OPTIONS[name]: value for name, value in options.carry(*OPTIONS).items()}
    if (limit := options.maybe("num_predict", int)) is not None and limit >= 0:
        made["max_tokens"] = limit
    options.ignore(*IGNORED_OPTIONS)
    options.end()
    return made


def _ended(made: Completion) -> dict[str, Any]:
    return {
        "done": True,
        "done_reason": "length" if made.finish == "length" else "stop",
        "total_duration": 0,
        "load_duration": 0,
        "prompt_eval_count": made.prompt_tokens,
        "prompt_eval_duration": 0,
        "eval_count": made.completion_tokens,
        "eval_duration": 0,
    }
