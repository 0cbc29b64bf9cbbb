"""Whatever a system sends and whatever a model replies, the endpoint has an answer that is no fault of its own."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memeval.gateway.serving.dialects import EXCHANGES
from memeval.gateway.serving.fields import Fields, Refusal
from memeval.records.call import Api, ModelRequest
from tests.gateway.serving.helpers import Open
from tests.support.audits import make_call

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8)
ANY = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw an object with any of these fields, each mostly as it should be."""
    return st.fixed_dictionaries({}, optional={name: value | ANY for name, value in fields.items()})


def words(*them: str) -> st.SearchStrategy[str]:
    return st.sampled_from(them)


TEXT = st.text(max_size=8)
FUNCTION = some(name=TEXT, arguments=TEXT | st.just({}), parameters=st.just({}), description=TEXT)
TOOL = some(
    type=words("function", "custom"),
    function=FUNCTION,
    name=TEXT,
    input_schema=st.just({}),
    parameters=st.just({}),
    id=TEXT,
)
PART = some(
    type=words("text", "input_text", "output_text", "image_url", "tool_use", "tool_result"),
    text=TEXT,
    id=TEXT,
    name=TEXT,
    input=st.just({}),
    tool_use_id=TEXT,
    content=TEXT,
)
MESSAGE = some(
    role=words("system", "user", "assistant", "tool", "developer"),
    content=TEXT | st.lists(PART, max_size=3),
    tool_calls=st.lists(TOOL, max_size=2),
    type=words("message", "function_call", "function_call_output"),
    call_id=TEXT,
    name=TEXT,
    arguments=TEXT,
    output=TEXT,
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "model": words("small", "gpt-9"),
    "messages": st.lists(MESSAGE, max_size=3),
    "input": TEXT | st.lists(TEXT | MESSAGE, max_size=3),
    "prompt": TEXT,
    "max_tokens": st.integers(),
    "stream": st.booleans(),
    "stream_options": some(include_usage=st.booleans()),
    "tools": st.lists(TOOL, max_size=2),
    "tool_choice": words("auto", "none") | TOOL,
    "options": some(num_predict=st.integers(), temperature=st.floats()),
    "format": words("json"),
    "text": some(format=some(type=words("json_schema", "text"))),
    "encoding_format": words("base64", "float"),
    "system": TEXT | st.lists(PART, max_size=2),
    "temperature": st.floats(),
}
REPLY = some(
    choices=st.lists(
        some(
            message=some(
                content=TEXT | st.lists(PART, max_size=2), tool_calls=st.lists(TOOL, max_size=2), refusal=TEXT
            ),
            finish_reason=words("stop", "length", "tool_calls"),
        ),
        max_size=2,
    ),
    data=st.lists(some(embedding=st.lists(st.floats(), max_size=3) | words("AAAAAA==", "AAAA"), index=st.integers())),
    usage=some(prompt_tokens=st.integers()),
)
ASKED: dict[str, Any] = {
    "/v1/responses": {"model": "small", "input": "x"},
    "/v1/embeddings": {"model": "small", "input": "x", "encoding_format": "base64"},
    "/api/embed": {"model": "small", "input": "x"},
    "/api/embeddings": {"model": "small", "prompt": "x"},
    "/api/generate": {"model": "small", "prompt": "x"},
}
CHAT: dict[str, Any] = {"model": "small", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}


@st.composite
def requests(draw: st.DrawFn) -> tuple[str, Any]:
    """Draw a path and a body: one that is right but for a few fields, or anything."""
    path = draw(st.sampled_from(sorted(EXCHANGES)))
    body = draw(ANY) if draw(st.integers(0, 9)) == 0 else right(path)
    if isinstance(body, dict):
        for name in draw(st.lists(st.sampled_from(sorted(FIELDS)), max_size=2)):
            body[name] = draw(FIELDS[name] | ANY)
    return path, body


def right(path: str) -> dict[str, Any]:
    """Return a body that a path takes."""
    return {**CHAT, "max_tokens": None} if path == "/api/chat" else dict(ASKED.get(path, CHAT))


def test_any_body_gets_a_reply_without_a_server_error(rig: Open) -> None:
    opened = rig(scenario_calls=10**6)

    @settings(suppress_health_check=list(HealthCheck))
    @given(requests())
    def check(request: tuple[str, Any]) -> None:
        path, body = request
        reply = opened.post(path, json.dumps(body).encode())
        assert reply.status in (200, 400, 403, 502), reply
        assert reply.text
        assert not [line for line in opened.logged if "failed" in line[1]]

    check()
    assert [call for call in opened.calls if call.error is None], "some were right, and went through"


@pytest.mark.parametrize("path", sorted(EXCHANGES))
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(reply=REPLY | ANY, streamed=st.booleans())
def test_any_model_reply_is_converted_or_refused(path: str, reply: Any, streamed: bool) -> None:
    kind = EXCHANGES[path]
    asked = right(path)
    exchange = kind(Fields({**asked, "stream": streamed} if kind.api is Api.CHAT else asked))
    request = ModelRequest(endpoint="http://127.0.0.1/v1", api=kind.api, body=exchange.body)
    call = make_call(request, json.dumps(reply))
    try:
        said = "".join(exchange.events(call)) if exchange.streamed else json.dumps(exchange.whole(call))
    except Refusal as refusal:
        assert refusal.status == 502
    else:
        said.encode("ascii")
