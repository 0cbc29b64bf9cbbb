"""Ollama's API over plain HTTP, as its documentation describes it; its clients send no key, only a path."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.gateway.serving.helpers import Answer, Open, Rig, send

LONG = "Jim uses Drone CI, and " * 20
SAID = [{"role": "user", "content": "Drone CI?"}]
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def post(opened: Rig, path: str, body: Any) -> Answer:
    prefix = urlsplit(opened.endpoint.environment["OLLAMA_HOST"]).path
    return send(opened.endpoint, "POST", prefix + path, body, {})


def test_a_chat_is_streamed_in_lines_by_default(rig: Open) -> None:
    opened = rig(answer=lambda _body: LONG)
    streamed = post(opened, "/api/chat", {"model": "small", "messages": SAID})
    whole = post(opened, "/api/chat", {"model": "small", "messages": SAID, "stream": False}).json
    assert streamed.headers["Content-Type"].startswith("application/x-ndjson")
    assert "".join(line["message"]["content"] for line in streamed.lines) == whole["message"]["content"] == LONG
    assert [line["done"] for line in streamed.lines][-2:] == [False, True]
    assert len(streamed.lines) > 5
    assert whole["done_reason"] == "stop" and whole["eval_count"] == opened.calls[0].completion_tokens
    assert [call.ordinal for call in opened.calls] == [0, 1]


def test_options_take_their_canonical_names(rig: Open) -> None:
    opened = rig()
    options = {"temperature": 0, "num_predict": 9, "repeat_penalty": 1.1, "num_ctx": 4096, "num_gpu": 1}
    body = {"model": "small", "messages": SAID, "options": options, "format": {"type": "object"}, "keep_alive": "5m"}
    assert post(opened, "/api/chat", body).status == 200
    assert opened.calls[0].request.body == {
        "model": "small",
        "messages": SAID,
        "temperature": 0,
        "max_tokens": 9,
        "repetition_penalty": 1.1,
        "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": {"type": "object"}}},
    }


def test_tool_calls_get_the_ids_that_they_lack(rig: Open) -> None:
    opened = rig()
    reply = post(opened, "/api/chat", {"model": "small", "messages": SAID, "tools": [TOOL], "stream": False}).json
    assert reply["message"]["tool_calls"] == [{"function": {"name": "weather", "arguments": {"city": "Ü"}}}]
    calls: list[Any] = [{"function": {"name": name, "arguments": {}}} for name in ("weather", "clock")]
    told = [
        *SAID,
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_name": "clock", "content": "noon"},
        {"role": "tool", "tool_name": "weather", "content": "rain"},
    ]
    assert post(opened, "/api/chat", {"model": "small", "messages": told}).status == 200
    sent = opened.upstream.bodies[1]["messages"]
    assert [call["id"] for call in sent[1]["tool_calls"]] == ["call_1", "call_2"]
    assert [message["tool_call_id"] for message in sent[2:]] == ["call_2", "call_1"]


def test_a_prompt_is_a_chat_of_one_message(rig: Open) -> None:
    opened = rig(answer=lambda _body: LONG)
    body = {"model": "small", "prompt": "Drone CI?", "system": "Be brief."}
    lines = post(opened, "/api/generate", body).lines
    assert "".join(line["response"] for line in lines) == LONG
    assert lines[-1]["done"] is True
    assert opened.calls[0].request.body["messages"] == [{"role": "system", "content": "Be brief."}, *SAID]


def test_texts_are_embedded_in_both_forms(rig: Open) -> None:
    opened = rig()
    reply = post(opened, "/api/embed", {"model": "vectors", "input": ["a", "b"], "truncate": True}).json
    old = post(opened, "/api/embeddings", {"model": "vectors", "prompt": "b"}).json
    assert (len(reply["embeddings"]), reply["embeddings"][1]) == (2, old["embedding"])


def test_the_list_of_models_has_the_declared_ones(rig: Open) -> None:
    opened = rig()
    path = urlsplit(opened.endpoint.environment["OLLAMA_HOST"]).path + "/api/tags"
    models = send(opened.endpoint, "GET", path, headers={}).json["models"]
    assert [model["name"] for model in models] == ["small", "large", "vectors"]


@pytest.mark.parametrize(
    ("path", "changed", "status", "said"),
    [
        ("/api/chat", {"model": "llama"}, 403, "'llama' is not declared"),
        ("/api/chat", {"messages": [{"role": "user", "content": "x", "images": ["aGk="]}]}, 400, "images' has a value"),
        ("/api/chat", {"messages": [{"role": "tool", "content": "x"}]}, 400, "no tool was called before"),
        ("/api/chat", {"think": True}, 400, "'think' has a value"),
        ("/api/chat", {"options": {"mirostat": 1}}, 400, "'options.mirostat' is not supported"),
        ("/api/chat", {"format": 7}, 400, "neither"),
        ("/api/generate", {"messages": None, "prompt": "x", "raw": True}, 400, "'raw' has a value"),
        ("/api/pull", {}, 404, "has no such path"),
    ],
)
def test_unsupported_fields_are_refused_in_ollamas_form(
    rig: Open, path: str, changed: dict[str, Any], status: int, said: str
) -> None:
    reply = post(rig(), path, {"model": "small", "messages": SAID} | changed)
    assert reply.status == status
    assert said in reply.json["error"]
