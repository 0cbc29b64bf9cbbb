"""Every way in which an endpoint fails: what the user is told, what is tried again, and what stays right."""

import asyncio
import datetime
import ipaddress
import socket
import ssl
import time
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from memeval.gateway.budget import price_of
from memeval.gateway.client import OWNERS
from memeval.gateway.endpoints import Endpoint
from memeval.gateway.gateway import Gateway
from memeval.gateway.record import CallRecord
from memeval.gateway.replies import text_of
from memeval.gateway.stops import BudgetSpent, GatewayStopped
from memeval.records.call import Call, Caller, Phase
from memeval.records.errors import ExitCode
from tests.gateway.asking import KEY, MODEL, ask, ask_all, new_gateway, pass_on, question
from tests.support.model_server import ModelServer, reasoning_only

PATIENT: dict[str, Any] = {"timeout_seconds": 120}
"""A reply that is late on a slow machine is no fault, and is not asked for again."""
STORM = {"429": 0.1, "500": 0.1, "dropped": 0.1, "garbage": 0.1, "empty": 0.1, "slow": 0.1}


def test_a_storm_of_faults_changes_no_reply_and_answers_nothing_twice(tmp_path: Path) -> None:
    with ModelServer(latency=0.005) as calm, new_gateway(tmp_path / "calm.jsonl") as gateway:
        expected = [text_of(call) for call in ask_all(gateway, calm, range(200))]
    record = CallRecord(tmp_path / "storm.jsonl")
    with (
        ModelServer(latency=0.005, faults=STORM, slow_seconds=0.3) as server,
        new_gateway(record, **PATIENT) as gateway,
    ):
        calls = ask_all(gateway, server, range(200))
    assert [text_of(call) for call in calls] == expected
    assert (set(server.faulted), len(server.answered)) == (set(STORM), 200)
    assert set(server.answered.values()) == {1}
    assert {row.key for row in CallRecord(tmp_path / "storm.jsonl").rows()} == {call.key for call in calls}
    assert sum(call.tries for call in calls) == server.requests


@pytest.mark.parametrize("fault", ["torn", "cut", "html", "no-choices", "empty", "garbage", "dropped"])
def test_an_unusable_reply_is_retried(fault: str) -> None:
    with ModelServer(faults={fault: 1.0}, most_faults=2) as server, new_gateway() as gateway:
        call = ask(gateway, server)
    assert (call.error, call.tries) == (None, 3)
    assert text_of(call) in ("yes", "no")


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("html", "web page"),
        ("empty", "empty"),
        ("cut", "truncated"),
        ("garbage", "not JSON"),
        ("no-choices", "no choices"),
        ("torn", "broke before the reply was complete"),
        ("dropped", "broke before the reply was complete"),
        ("500", "status 500"),
        ("429", "Rate limit reached"),
        ("huge", "larger than 2,000,000 bytes"),
    ],
)
def test_a_permanent_fault_fails_with_the_reason(fault: str, said: str) -> None:
    with ModelServer(most_faults=None, retry_after=None) as server, new_gateway(tries=2) as gateway:
        ask(gateway, server, 99)
        server.faults = {fault: 1.0}
        call = ask(gateway, server)
    assert call.error is not None and said in call.error
    assert (call.tries, server.requests) == (2, 3)
    assert text_of(call) is None
    assert (call.cost_usd is None) is (fault != "no-choices"), "the cost is unknown if nothing was counted"


@pytest.mark.parametrize("model", [MODEL, "my-own-model"])
def test_a_failed_call_has_the_tokens_and_the_cost_of_all_tries_that_were_counted(model: str) -> None:
    with ModelServer() as server, new_gateway(tries=3) as gateway:
        asked = question(server.url, model=model), Endpoint(server.url, KEY), Caller.JUDGE, Phase.JUDGE
        server.faults, server.most_faults = {"filtered": 1.0}, None
        failed = gateway.call(*asked)
        spent = gateway.spent_usd
        server.faults = {}
        good = gateway.call(*asked)
    assert failed.error is not None and failed.tries == 3
    assert failed.tokens is not None and failed.prompt_tokens == 3 * (good.prompt_tokens or 0)
    assert failed.is_unpriced is (spent is None) is (model != MODEL)
    assert spent == failed.cost_usd == price_of(model, failed.prompt_tokens, failed.tokens - failed.prompt_tokens)


def test_a_system_may_get_a_reply_of_ten_megabytes() -> None:
    with ModelServer(faults={"huge": 1.0}) as server, new_gateway() as gateway:
        call = pass_on(gateway, server)
    assert len(text_of(call) or "") == 10_000_000


def test_an_empty_answer_is_an_answer() -> None:
    with ModelServer(faults={"blank": 1.0}, most_faults=None) as server, new_gateway() as gateway:
        call = ask(gateway, server)
    assert (call.error, text_of(call), call.tries) == (None, "", 1)


def test_a_request_that_is_refused_fails_at_once_and_alone() -> None:
    with ModelServer(faults={"400": 1.0}, most_faults=1) as server, new_gateway() as gateway:
        refused = ask(gateway, server, 1)
        assert refused.error is not None and "Invalid 'messages'." in refused.error
        assert refused.tries == 1
        assert ask(gateway, server, 1).error is None, "a failed call is never taken from the record"


UNVERIFIED = {"error": {"message": "Your organization must be verified. Request: req_0123abc.", "code": "unverified"}}


@pytest.mark.parametrize(("caller", "owner"), list(OWNERS.items()))
def test_equal_refusals_in_a_row_stop_the_run_with_endpoint_and_reason(
    tmp_path: Path, caller: Caller, owner: str
) -> None:
    record, own = CallRecord(tmp_path / "shared.jsonl"), CallRecord(tmp_path / "own.jsonl")
    with ModelServer() as server, new_gateway(record, concurrency=1) as gateway:
        gateway.open_run("run", own)
        paid = [call.key for call in ask_all(gateway, server, range(3))]
        server.refusal = (400, UNVERIFIED)
        with pytest.raises(GatewayStopped) as raised:
            for number in range(10, 30):
                if caller is Caller.SYSTEM:
                    pass_on(gateway, server, number)
                else:
                    gateway.call(question(server.url, number), Endpoint(server.url, KEY), caller, Phase.JUDGE)
    assert server.requests == 3 + 5
    said = str(raised.value)
    assert said.startswith(
        f"{owner} {server.url} refused 5 requests in a row (400): Your organization must be verified."
    )
    assert ("--retry-errors to resume." in said) is (caller is not Caller.JUDGE)
    assert raised.value.exit_code is ExitCode.BAD_INPUT
    assert [row.key for row in record.rows()] == paid


def test_refusals_that_arrive_after_the_stop_are_not_recorded_as_failures(tmp_path: Path) -> None:
    own = CallRecord(tmp_path / "own.jsonl")
    with ModelServer(latency=0.05, refusal=(400, UNVERIFIED)) as server, new_gateway(concurrency=20) as gateway:
        gateway.open_run("run", own)
        with pytest.raises(GatewayStopped):
            ask_all(gateway, server, range(20))
    assert len(list(own.rows())) <= 4


def test_the_number_of_refusals_is_a_setting_and_0_never_stops() -> None:
    with ModelServer(refusal=(400, UNVERIFIED)) as server:
        with (
            new_gateway(concurrency=1, refusals=2) as gateway,
            pytest.raises(GatewayStopped, match="refused 2 requests"),
        ):
            ask_all(gateway, server, range(20))
        assert server.requests == 2
        with new_gateway(concurrency=1, refusals=0) as gateway:
            assert all(call.error for call in ask_all(gateway, server, range(20)))


@pytest.mark.parametrize("code", ["content_filter", "context_length_exceeded"])
def test_refusals_of_one_request_for_its_text_stop_nothing(code: str) -> None:
    refusal = {"error": {"message": "The prompt was refused.", "code": code}}
    with ModelServer(refusal=(400, refusal)) as server, new_gateway(concurrency=1) as gateway:
        assert all(call.error for call in ask_all(gateway, server, range(20)))


def test_different_or_interrupted_refusals_stop_nothing() -> None:
    def each_its_own(body: dict[str, Any]) -> dict[str, Any]:
        return {"message": f"The prompt is too long: {body['messages'][0]['content']}"}

    def every_other(body: dict[str, Any]) -> dict[str, Any] | None:
        return None if server.requests % 5 == 0 else {"message": "Refused."}

    with ModelServer(refuses=each_its_own) as server, new_gateway(concurrency=1) as gateway:
        assert all(call.error for call in ask_all(gateway, server, range(20)))
        server.refuses = every_other
        assert sum(call.error is None for call in ask_all(gateway, server, range(100, 140))) == 8


def test_a_system_may_learn_from_a_refusal_of_calls_that_were_in_flight_together() -> None:
    def plain_only(body: dict[str, Any]) -> dict[str, Any] | None:
        return {"message": "'response_format' is not supported."} if "response_format" in body else None

    async def learn(gateway: Gateway, server: ModelServer, number: int) -> Call:
        endpoint, fancy = (
            Endpoint(server.url, KEY),
            question(server.url, number, response_format={"type": "json_object"}),
        )
        refused = await gateway.pass_on(fancy, endpoint, Phase.ASK, f"s{number}", 0)
        assert refused.error is not None
        return await gateway.pass_on(question(server.url, number), endpoint, Phase.ASK, f"s{number}", 0)

    async def together(gateway: Gateway, server: ModelServer) -> list[Call]:
        return await asyncio.gather(*(learn(gateway, server, number) for number in range(20)))

    with ModelServer(latency=0.1, refuses=plain_only) as server, new_gateway(concurrency=20) as gateway:
        assert all(call.error is None for call in gateway.run(together(gateway, server)))


@pytest.mark.parametrize("caller", [Caller.JUDGE, Caller.READER])
def test_a_setting_that_the_model_refuses_stops_at_once(caller: Caller) -> None:
    with ModelServer(refuses=reasoning_only) as server, new_gateway() as gateway:
        request = question(server.url, model="o3")
        with pytest.raises(GatewayStopped) as raised:
            gateway.call(request, Endpoint(server.url, KEY), caller, Phase.JUDGE)
    assert server.requests == 1
    assert "refused the settings of 'o3' (400): Unsupported parameter: 'max_tokens' is not supported" in str(
        raised.value
    )
    assert "name the file in MEMEVAL_MODEL_SETTINGS" in str(raised.value)


def test_a_slow_reply_is_cancelled_and_retried() -> None:
    with ModelServer(faults={"slow": 1.0}, slow_seconds=5, most_faults=1) as server:
        with new_gateway(timeout_seconds=0.2) as gateway:
            call = ask(gateway, server)
        assert call.tries == 2
        assert set(server.answered.values()) == {1}


@pytest.mark.parametrize(
    ("fault", "stop", "code", "said"),
    [
        (
            "key",
            GatewayStopped,
            ExitCode.BAD_INPUT,
            "the judge's endpoint {url} refused the key (401): Incorrect API key provided: [secret].",
        ),
        (
            "quota",
            BudgetSpent,
            ExitCode.BUDGET,
            "reports that the quota is used up (429): You exceeded your current quota",
        ),
        ("model", GatewayStopped, ExitCode.BAD_INPUT, f"has no model '{MODEL}' (404): The model does not exist"),
    ],
)
def test_an_error_that_no_retry_can_change_stops_all_calls(
    fault: str, stop: type[GatewayStopped], code: ExitCode, said: str
) -> None:
    with (
        ModelServer(latency=0.01, faults={fault: 1.0}, most_faults=None) as server,
        new_gateway(concurrency=4) as gateway,
    ):
        with pytest.raises(stop) as raised:
            ask_all(gateway, server, range(50))
        assert raised.value.exit_code is code
        assert said.format(url=server.url) in str(raised.value)
        assert "Progress is saved. Run the same command to resume, without --fresh." in str(raised.value)
        assert KEY not in str(raised.value)
        assert server.url in str(raised.value)
        sent = server.requests
        assert sent <= 4
        with pytest.raises(stop):
            ask(gateway, server, 77)
    assert server.requests == sent


@pytest.mark.parametrize(
    ("status", "body", "stop"),
    [
        (400, {"error": {"message": "Model Not Exist", "type": "invalid_request_error"}}, "has no model"),
        (404, {"error": "model 'm' not found, try pulling it first"}, "has no model"),
        (404, {"object": "error", "message": "The model `m` does not exist."}, "has no model"),
        (403, {"error": {"code": "model_not_found", "message": "Project has no access to model `m`"}}, "has no model"),
        (404, {"error": {"message": f"models/{MODEL} is not found for API version v1beta"}}, "has no model"),
        (404, {"error": {"type": "not_found_error", "message": f"model: {MODEL}"}}, "has no model"),
        (404, {"detail": "Not Found"}, "most end in /v1"),
        (403, {"error": {"message": "Country not supported"}}, r"refused access \(403\): Country not supported"),
        (402, {"error": {"message": "Insufficient Balance"}}, "quota is used up"),
        (400, {"error": {"message": "Your credit balance is too low to access the API."}}, "quota is used up"),
        (308, {}, "most end in /v1"),
    ],
)
def test_every_dialect_of_refusal_is_understood(status: int, body: dict[str, object], stop: str) -> None:
    server = ModelServer(refusal=(status, body))
    with server, new_gateway() as gateway, pytest.raises(GatewayStopped, match=stop):
        ask(gateway, server)
    assert server.requests == 1


@pytest.mark.parametrize("body", [[], "text", {"error": [1]}, {"error": {"message": {"a": 1}, "code": 7}}, None])
def test_any_refusal_has_a_message(body: object) -> None:
    with ModelServer(refusal=(422, body)) as server, new_gateway() as gateway:
        call = ask(gateway, server)
    assert call.error is not None and call.error.startswith(f"The endpoint {server.url} replied with status 422")


@pytest.mark.parametrize("words", ["model ", "unknown ", "no such "])
def test_a_long_refusal_is_parsed_fast(words: str) -> None:
    refusal = {"error": {"message": words * 200_000}}
    with ModelServer(refusal=(400, refusal)) as server, new_gateway() as gateway:
        began = time.monotonic()
        call = ask(gateway, server)
    assert time.monotonic() - began < 5
    assert call.error is not None and len(call.error) < 500


def test_without_a_key_the_remedy_is_to_set_one() -> None:
    with (
        ModelServer(key=KEY) as server,
        new_gateway() as gateway,
        pytest.raises(GatewayStopped, match="Set OPENAI_API_KEY; it is not set"),
    ):
        ask(gateway, server, key=None)
    assert "authorization" not in server.headers[0]


@pytest.mark.parametrize(
    ("before", "together", "said"),
    [
        (0, 20, "Nothing listens at the endpoint http://127.0.0.1"),
        (3, 1, "failed several times in a row"),
        (3, 4, "failed several times in a row"),
    ],
    ids=["from the start", "later, at a single call", "later, at calls in flight together"],
)
def test_an_endpoint_that_is_down_stops_the_run_and_loses_no_call(
    tmp_path: Path, before: int, together: int, said: str
) -> None:
    record, own = CallRecord(tmp_path / "shared.jsonl"), CallRecord(tmp_path / "own.jsonl")
    server = ModelServer(port=_closed_port())
    with new_gateway(record, tries=3) as gateway:
        gateway.open_run("run", own)
        if before:
            with server:
                ask_all(gateway, server, range(before))
        with pytest.raises(GatewayStopped, match=said):
            ask_all(gateway, server, range(10, 10 + together))
    assert (len(list(record.rows())), list(own.rows())) == (before, [])


@pytest.mark.parametrize(("fault", "before"), [("500", 1), ("dropped", 1), ("500", 0)])
def test_calls_that_fail_last_have_failed_alone_where_the_endpoint_is_up(fault: str, before: int) -> None:
    with ModelServer() as server, new_gateway(tries=2) as gateway:
        ask_all(gateway, server, range(before))
        server.faults, server.most_faults = {fault: 1.0}, None
        assert all(call.error for call in ask_all(gateway, server, range(1, 3 - before)))
        gateway.check()


def test_a_call_that_fails_alone_while_others_succeed_stops_nothing() -> None:
    with ModelServer(latency=0.01) as server, new_gateway(tries=2) as gateway:
        server.faults, server.most_faults = {"500": 0.2}, None
        calls = ask_all(gateway, server, range(120))
    failed = [call for call in calls if call.error]
    assert 0 < len(failed) < 20
    assert all(call.tries == 2 for call in failed)


def test_a_system_cannot_stop_its_run_with_a_request_that_is_refused() -> None:
    with ModelServer(most_faults=None) as server, new_gateway(tries=2) as gateway:
        pass_on(gateway, server, 1)
        server.faults = {"model": 1.0}
        refused = pass_on(gateway, server, 2)
        assert refused.error is not None and "has no model" in refused.error
        with pytest.raises(GatewayStopped, match="has no model"):
            ask(gateway, server)


def test_an_untrusted_certificate_stops_at_once(tmp_path: Path) -> None:
    with ModelServer(tls=_self_signed(tmp_path)) as server, new_gateway() as gateway:
        with pytest.raises(GatewayStopped, match=r"no secure connection to https://127.0.0.1.*self.signed") as raised:
            ask(gateway, server)
        assert "certificate" in str(raised.value)
    assert server.requests == 0


@pytest.mark.parametrize(
    ("part", "instead", "said"),
    [
        ("http:", "https:", "no secure connection"),
        ("/v1", "", "most end in /v1"),
        ("127.0.0.1", "no-such-host.invalid", r"no-such-host\.invalid"),
    ],
)
def test_a_wrong_base_url_is_reported(part: str, instead: str, said: str) -> None:
    with ModelServer() as server, new_gateway(tries=2) as gateway:
        url = server.url.replace(part, instead)
        with pytest.raises(GatewayStopped, match=said):
            gateway.call(question(url), Endpoint(url, KEY), Caller.JUDGE, Phase.JUDGE)


def test_after_a_server_restart_only_missing_calls_are_made(tmp_path: Path) -> None:
    server = ModelServer(latency=0.02)
    record = CallRecord(tmp_path / "calls.jsonl")
    with server, new_gateway(record, concurrency=8, tries=2) as gateway:
        server.answer = lambda body: _stop_after(server, 30)
        with pytest.raises(GatewayStopped):
            ask_all(gateway, server, range(100))
    kept = {call.key for call in CallRecord(tmp_path / "calls.jsonl").rows()}
    assert 20 < len(kept) < 100
    asked = server.requests
    with server, new_gateway(tmp_path / "calls.jsonl") as gateway:
        server.answer = lambda body: "yes"
        calls = ask_all(gateway, server, range(100))
        assert gateway.cached == len(kept)
    assert all(call.error is None for call in calls)
    assert server.requests - asked == 100 - len(kept)


def _stop_after(server: ModelServer, requests: int) -> str:
    if server.requests >= requests:
        server.stop()
    return "yes"


def _closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _self_signed(folder: Path) -> ssl.SSLContext:
    """Return what serves 127.0.0.1 with a certificate that no authority has signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "server.pem"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context
