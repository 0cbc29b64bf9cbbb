"""The server itself: tokens, limits, ordinals, and what becomes of faults."""

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from memeval.gateway.budget import Budget
from memeval.gateway.serving import ModelEndpoint, model_endpoint
from memeval.records.call import Api, ModelRequest, Phase
from tests.gateway.serving.helpers import KEY, Open, Rig, send
from tests.support.audits import make_call

CHAT = "/v1/chat/completions"


def chat(text: str = "Drone CI?", model: str = "small", **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": text}], **more}


def raw(opened: Rig, data: bytes) -> bytes:
    """Send bytes as they are; return all that comes back until the server closes."""
    parts = urlsplit(opened.endpoint.environment["ANTHROPIC_BASE_URL"])
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as line:
        line.sendall(data)
        return b"".join(iter(lambda: line.recv(1 << 16), b""))


def test_five_equal_requests_stay_five_rows(rig: Open) -> None:
    opened = rig()
    with ThreadPoolExecutor(5) as pool:
        replies = list(pool.map(lambda _: opened.post(CHAT, chat()), range(5)))
    assert [reply.status for reply in replies] == [200] * 5
    assert sorted(call.ordinal or 0 for call in opened.calls) == [0, 1, 2, 3, 4]
    assert len({call.key for call in opened.calls}) == 5
    assert len({call.request.key for call in opened.calls}) == 1


def test_waiting_time_is_separate_from_service_time(rig: Open) -> None:
    served = rig(latency=0.3)
    assert served.post(CHAT, chat("The client is loaded for the first call.")).status == 200
    before = served.endpoint.waited()
    assert served.post(CHAT, chat()).status == 200
    assert served.endpoint.waited() - before < 0.3, "the endpoint's latency is not waiting time"
    held = rig(faults={"429": 1.0}, most_faults=1, retry_after=0.3)
    assert held.post(CHAT, chat()).status == 200
    assert 0.01 < held.endpoint.waited() < 5, "the pause that the endpoint asked for"


def test_service_of_calls_at_the_same_time_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 0.0
    monkeypatch.setattr(model_endpoint, "time", SimpleNamespace(monotonic=lambda: clock))
    endpoint = ModelEndpoint("http://127.0.0.1:1", lambda _counts: None)
    request = ModelRequest(endpoint="http://127.0.0.1:1", api=Api.CHAT, body={})
    with ExitStack() as first, endpoint.waiting() as last:
        for ends, seconds in ((14.0, 4.0), (14.0, 4.0), (16.0, 1.0), (17.0, 5.0)):
            first.enter_context(endpoint.waiting()).append(make_call(request, seconds=seconds))
            clock = ends
            first.close()
        assert endpoint.waited() == 10, "nothing was served before"
        clock = 30.0
        last.append(make_call(request, seconds=2.0))
    assert endpoint.waited() == 10 + 11


def test_concurrent_endpoints_count_separately(rig: Open) -> None:
    opened = rig(latency=0.02)
    other = opened.server.endpoint()
    other.enter("scenario-2")
    other.in_phase(Phase.ASK)
    with ThreadPoolExecutor(8) as pool:
        endpoints = [opened.endpoint, other] * 6
        assert {
            reply.status for reply in pool.map(lambda endpoint: opened.post(CHAT, chat(), endpoint), endpoints)
        } == {200}
    for scenario, phase in (("scenario-1", Phase.INGEST), ("scenario-2", Phase.ASK)):
        mine = [call for call in opened.calls if call.scenario_id == scenario]
        assert sorted(call.ordinal or 0 for call in mine) == list(range(6))
        assert {call.phase for call in mine} == {phase}


def test_every_pass_has_its_own_counts(rig: Open) -> None:
    opened = rig(scenario_calls=2)
    for _ in range(2):
        opened.endpoint.enter("scenario-1")
        assert [opened.post(CHAT, chat()).status for _ in range(2)] == [200, 200]
    first, second = opened.calls[:2], opened.calls[2:]
    assert [call.key for call in first] == [call.key for call in second]


def test_a_loop_is_ended_by_the_limit_of_calls(rig: Open) -> None:
    opened = rig(scenario_calls=3)
    replies = [opened.post(CHAT, chat(f"Number {number}")) for number in range(5)]
    assert [reply.status for reply in replies] == [200, 200, 200, 429, 429]
    assert "The limit of 3 model calls" in replies[-1].json["error"]["message"]
    assert len(opened.calls) == opened.upstream.requests == 3
    assert [line for line in opened.logged if "3 model calls" in line[1]]


def test_requests_for_undeclared_models_are_recorded_up_to_a_limit_and_never_sent(rig: Open) -> None:
    opened = rig()
    replies = [opened.post(CHAT, chat("Secret.", model="gpt-4o")) for _ in range(25)]
    assert {reply.status for reply in replies} == {403}
    assert "'gpt-4o' is not declared by the submission. It declares: small, large, vectors." in replies[0].text
    assert len(opened.calls) == 20
    assert {(call.tries, call.reply, call.request.model) for call in opened.calls} == {(0, None, "gpt-4o")}
    assert [call.ordinal for call in opened.calls] == list(range(20))
    assert all(call.error and call.run_id and call.scenario_id == "scenario-1" for call in opened.calls)
    assert opened.upstream.requests == 0
    opened.endpoint.enter("scenario-2")
    assert opened.logged[-1] == (
        "endpoint",
        "5 further requests for undeclared models were refused and not recorded.",
        "scenario-1",
    )


def test_a_submission_that_declares_nothing_gets_nothing(rig: Open) -> None:
    opened = rig(declared=())
    assert "It declares none" in opened.post(CHAT, chat()).json["error"]["message"]
    assert send(opened.endpoint, "GET", "/v1/models", headers={"x-api-key": opened.endpoint.token}).json["data"] == []


@pytest.mark.parametrize("presented", ["", "Bearer ", "Bearer memeval-0", f"Bearer {KEY}", "Basic abc"])
def test_every_path_needs_the_token(rig: Open, presented: str) -> None:
    opened = rig()
    for path in (CHAT, "/v1/messages", "/api/chat", "/v1/models", "/", "/memeval-0/api/chat"):
        reply = send(opened.endpoint, "POST", path, chat(), {"Authorization": presented})
        assert reply.status == 401
    assert opened.upstream.requests == 0


def test_a_token_is_good_for_its_own_server_only(rig: Open) -> None:
    first, second = rig(), rig()
    foreign = {"Authorization": f"Bearer {second.endpoint.token}"}
    assert send(first.endpoint, "POST", CHAT, chat(), foreign).status == 401


def test_a_body_that_is_too_large_is_refused(rig: Open) -> None:
    opened = rig()
    assert opened.post(CHAT, chat("x" * 10_000_001)).status == 413
    assert opened.post(CHAT, chat("x" * 9_000_000)).status == 200
    assert len(opened.calls) == 1


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b'"x"', b"null", b"\xff\xfe", b"[" * 100_000, b'{"model": NaN}', b"9" * 5000),
        b'{"model": "small", "messages": [{"role": "user", "content": "x"}], "seed": 1e999}',
        b'{"model": "small", "messages": [{"role": "user", "content": "\\ud800"}]}',
        *(
            b'{"model": "small", "messages": [{"role": "user", "content": "x"}], "stop": ' + b"[" * n + b"]" * n + b"}"
            for n in (199, 254, 900)
        ),
    ],
)
def test_a_body_that_is_not_plain_json_is_refused(rig: Open, body: bytes) -> None:
    opened = rig()
    assert opened.post(CHAT, body).status == 400
    assert not opened.calls


RESPONSES = "/v1/responses"


@pytest.mark.parametrize(
    ("path", "changed", "said"),
    [
        (CHAT, {"messages": None}, "'messages' is missing or empty"),
        (CHAT, {"messages": ["x"]}, "'messages[0]' is not a JSON object"),
        (CHAT, {"model": 7}, "'model' is not text"),
        (CHAT, {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}, "text only"),
        (CHAT, {"messages": [{"role": "critic", "content": "x"}]}, "must be one of system"),
        (CHAT, {"tools": [{"type": "custom", "custom": {"name": "x"}}]}, "functions only"),
        (CHAT, {"models": ["large"]}, "'models' is not supported"),
        (CHAT, {"web_search_options": {}}, "'web_search_options' is not supported"),
        (CHAT, {"modalities": ["audio"]}, "'modalities' has a value"),
        (RESPONSES, {"input": None}, "'input' is missing"),
        (RESPONSES, {"input": [{"type": "reasoning", "summary": []}]}, "messages and function calls only"),
        (RESPONSES, {"previous_response_id": "resp_1"}, "'previous_response_id' is not supported"),
        (RESPONSES, {"background": True}, "'background' has a value"),
        (RESPONSES, {"tools": [{"type": "web_search"}]}, "functions only"),
        (RESPONSES, {"text": {"format": {"type": "grammar"}}}, "must be one of text"),
        (RESPONSES, {"tools": [{"type": "function", "name": "f"}], "tool_choice": {"type": "mcp"}}, "functions only"),
    ],
)
def test_unsupported_fields_are_refused(rig: Open, path: str, changed: dict[str, Any], said: str) -> None:
    opened = rig()
    reply = opened.post(path, (chat() if path == CHAT else {"model": "small", "input": "x"}) | changed)
    assert (reply.status, reply.json["error"]["type"]) == (400, "invalid_request_error")
    assert said in reply.json["error"]["message"]
    assert not opened.calls


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens", "n"])
@pytest.mark.parametrize("value", [50.0, "50", -1, True, 10**400, [5]])
def test_a_limit_that_a_budget_cannot_read_is_refused(rig: Open, name: str, value: object) -> None:
    opened = rig(gateway={"budget": Budget({(None, "usd"): 1.0})})
    refused = opened.post(CHAT, {**chat(), name: value})
    assert refused.status == 400
    assert f"'{name}' is not an integer" in refused.text
    assert opened.upstream.requests == 0


def test_other_methods_and_paths_are_refused(rig: Open) -> None:
    opened = rig()
    token = {"Authorization": f"Bearer {opened.endpoint.token}"}
    assert send(opened.endpoint, "GET", CHAT, headers=token).status == 405
    assert send(opened.endpoint, "POST", "/v1/files", {}, token).status == 404
    for path in ("../v1/models", "%2e%2e/models", "/models", "models/", "models/../chat/completions"):
        assert send(opened.endpoint, "GET", f"/v1/{path}", headers=token).status == 404, path
    assert send(opened.endpoint, "GET", "//v1/models", headers=token).status == 404


def test_an_absolute_url_is_not_followed(rig: Open) -> None:
    opened, other = rig(), rig()
    head = f"Host: elsewhere\r\nAuthorization: Bearer {opened.endpoint.token}\r\nConnection: close\r\n\r\n"
    for line in (f"GET {other.upstream.url}/seen HTTP/1.1", f"CONNECT 127.0.0.1:{other.upstream.port} HTTP/1.1"):
        reply = raw(opened, f"{line}\r\n{head}".encode())
        assert b" 404 " in reply.split(b"\r\n")[0] or b" 400 " in reply.split(b"\r\n")[0]
    assert other.upstream.requests == opened.upstream.requests == 0


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    ],
)
def test_a_request_that_is_not_http_is_closed(rig: Open, data: bytes) -> None:
    opened = rig()
    assert b" 500 " not in raw(opened, data)
    assert opened.post(CHAT, chat()).status == 200


def test_a_truncated_or_corrupt_body_is_a_client_error(rig: Open) -> None:
    opened = rig()
    head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {opened.endpoint.token}\r\n"
    parts = urlsplit(opened.endpoint.environment["ANTHROPIC_BASE_URL"])
    with socket.create_connection((parts.hostname, parts.port)) as line:
        line.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
    assert b" 400 " in raw(opened, f"{head}Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello".encode())
    assert b" 400 " in raw(opened, f"{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n".encode())
    assert opened.post(CHAT, chat()).status == 200
    assert not opened.logged


@pytest.mark.parametrize("fault", ["500", "html", "garbage", "empty", "cut", "torn", "dropped", "no-choices", "400"])
def test_a_fault_of_the_model_endpoint_becomes_a_message(rig: Open, fault: str) -> None:
    opened = rig(most_faults=None)
    assert opened.post(CHAT, chat()).status == 200
    opened.upstream.faults = {fault: 1.0}
    reply = opened.post(CHAT, chat())
    assert reply.status == 502
    assert reply.json["error"]["message"].startswith("The model gave no usable reply. ")
    assert KEY not in reply.text
    assert reply.headers["x-should-retry"] == "false"
    good, failed = opened.calls
    assert good.error is None
    assert failed.error is not None
    assert [good.ordinal, failed.ordinal] == [0, 1]


def test_a_stopped_run_is_reported_without_its_reason(rig: Open) -> None:
    opened = rig(faults={"key": 1.0})
    for _ in range(2):
        reply = opened.post(CHAT, chat())
        assert reply.status == 503
        assert reply.json["error"]["message"] == "memeval stopped this run: no further model call is possible."
    opened = rig(gateway={"budget": Budget({(None, "tokens"): 10})})
    assert opened.post(CHAT, chat()).status == 503
    opened = rig(gateway={"replay": []})
    assert opened.post(CHAT, chat()).status == 503


def test_no_header_of_the_model_endpoint_reaches_the_system(rig: Open) -> None:
    reply = rig().post(CHAT, chat())
    assert {name.lower() for name in reply.headers} <= {"content-type", "content-length", "date", "server"}


def test_a_reply_to_a_disconnected_system_is_still_recorded(rig: Open) -> None:
    opened = rig(latency=0.3)
    parts = urlsplit(opened.endpoint.environment["ANTHROPIC_BASE_URL"])
    body = b'{"model": "small", "messages": [{"role": "user", "content": "x"}]}'
    head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nx-api-key: {opened.endpoint.token}\r\n"
    with socket.create_connection((parts.hostname, parts.port)) as line:
        line.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        opened.upstream.wait_for(1)
        opened.endpoint.enter("scenario-2")
    opened.post(CHAT, chat())
    assert [call.scenario_id for call in opened.calls] == ["scenario-1", "scenario-2"]


def test_calls_made_while_a_system_loads_belong_to_no_scenario(rig: Open) -> None:
    opened = rig()
    assert opened.post(CHAT, chat(), opened.server.endpoint()).status == 200
    assert opened.calls[0].scenario_id is None
