"""Anthropic's messages over plain HTTP, as its documentation describes them."""

import json
from typing import Any

import pytest

from tests.gateway.serving.helpers import Open, send

TOOL = {"name": "weather", "description": "Tells it.", "input_schema": {"type": "object"}}
LONG = "Jim uses Drone CI, and " * 20


def asked(content: Any = "Drone CI?", **more: Any) -> dict[str, Any]:
    return {"model": "small", "max_tokens": 50, "messages": [{"role": "user", "content": content}], **more}


def test_a_message_is_answered_in_its_own_form(rig: Open) -> None:
    opened = rig(answer=lambda _body: "Yes.")
    body = asked(
        [{"type": "text", "text": "Drone", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "CI?"}],
        system="Be brief.",
        stop_sequences=["END"],
        metadata={"user_id": "me"},
    )
    headers = {"x-api-key": opened.endpoint.token, "anthropic-version": "2023-06-01"}
    reply = send(opened.endpoint, "POST", "/v1/messages", body, headers).json
    assert reply["type"] == "message" and reply["role"] == "assistant"
    assert reply["content"] == [{"type": "text", "text": "Yes."}]
    assert reply["stop_reason"] == "end_turn"
    assert reply["usage"]["input_tokens"] > 0
    assert opened.calls[0].request.body == {
        "model": "small",
        "max_tokens": 50,
        "stop": ["END"],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Drone"}, {"type": "text", "text": "CI?"}]},
        ],
    }


def test_a_streamed_message_is_the_whole_one_in_its_events(rig: Open) -> None:
    opened = rig(answer=lambda _body: LONG)
    reply = opened.post("/v1/messages", asked(stream=True))
    assert reply.headers["Content-Type"].startswith("text/event-stream")
    kinds = [event["type"] for event in reply.events]
    assert kinds[:2] == ["message_start", "content_block_start"]
    assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    deltas = [event["delta"]["text"] for event in reply.events if event["type"] == "content_block_delta"]
    assert "".join(deltas) == LONG and len(deltas) > 5
    assert [line[7:] for line in reply.text.splitlines() if line.startswith("event: ")] == kinds
    assert reply.events[-2]["usage"]["output_tokens"] == opened.calls[0].completion_tokens
    assert "stream" not in opened.upstream.bodies[0]


def test_tools_are_called_and_their_results_taken(rig: Open) -> None:
    opened = rig()
    body = asked(tools=[TOOL], tool_choice={"type": "any", "disable_parallel_tool_use": True})
    reply = opened.post("/v1/messages", body).json
    assert reply["stop_reason"] == "tool_use"
    (use,) = reply["content"]
    assert use == {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "Ü"}}
    sent = opened.upstream.bodies[0]
    assert (sent["tool_choice"], sent["parallel_tool_calls"]) == ("required", False)
    function = {"name": "weather", "description": "Tells it.", "parameters": {"type": "object"}}
    assert sent["tools"] == [{"type": "function", "function": function}]
    result = {"type": "tool_result", "tool_use_id": use["id"], "content": [{"type": "text", "text": "rain"}]}
    told = [
        *body["messages"],
        {"role": "assistant", "content": [{"type": "text", "text": "Let me see."}, use]},
        {"role": "user", "content": [result, {"type": "text", "text": "So?"}]},
    ]
    assert opened.post("/v1/messages", asked() | {"messages": told}).status == 200
    assert opened.upstream.bodies[1]["messages"][1:] == [
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Ü"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
        {"role": "user", "content": "So?"},
    ]


def test_a_tool_call_is_streamed_as_json_in_pieces(rig: Open) -> None:
    opened = rig()
    opened.upstream.arguments = json.dumps({"city": "x" * 200})
    events = opened.post("/v1/messages", asked(tools=[TOOL], stream=True)).events
    written = [event["delta"]["partial_json"] for event in events if event["type"] == "content_block_delta"]
    assert len(written) > 1
    assert json.loads("".join(written)) == {"city": "x" * 200}


def test_invalid_tool_arguments_are_an_error(rig: Open) -> None:
    opened = rig()
    opened.upstream.arguments = "[1, 2"
    reply = opened.post("/v1/messages", asked(tools=[TOOL]))
    assert reply.status == 502
    assert "not a JSON object" in reply.json["error"]["message"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"max_tokens": None}, "'max_tokens' is missing"),
        ({"messages": []}, "The last message"),
        ({"messages": [{"role": "assistant", "content": "{"}]}, "does not support a started reply"),
        ({"messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]}, "is 'image'"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_use"}]}]}, "is 'tool_use'"),
        ({"messages": [{"role": "system", "content": "x"}]}, "neither user nor assistant"),
        ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "your own tools"),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "'thinking' has a value"),
        ({"mcp_servers": []}, "'mcp_servers' is not supported"),
        ({"max_tokens": True}, "not an integer"),
    ],
)
def test_unsupported_fields_are_refused_in_anthropics_form(rig: Open, changed: dict[str, Any], said: str) -> None:
    opened = rig()
    reply = opened.post("/v1/messages", asked() | changed)
    assert reply.status == 400
    assert (reply.json["type"], reply.json["error"]["type"]) == ("error", "invalid_request_error")
    assert said in reply.json["error"]["message"]
    assert not opened.calls


def test_an_undeclared_model_is_refused_in_its_own_form(rig: Open) -> None:
    reply = rig().post("/v1/messages", asked() | {"model": "claude"})
    assert (reply.status, reply.json["error"]["type"]) == (403, "permission_error")
